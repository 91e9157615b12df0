#!/bin/sh
# The rules of check.sh on a small tree: what it must refuse, what it must allow, and that its list may only shrink.
# Usage: rules.sh
set -eu
check=$(cd "$(dirname "$0")" && pwd)/check.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
mkdir -p "$folder/cli" "$folder/include/yoke"
: > "$folder/list"

# include FILE HEADER: a tree of this one include, judged.
judge() {
  rm -rf "$folder/src"
  mkdir -p "$folder/src/base" "$(dirname "$folder/$1")"
  printf '#include %s\n' "$2" > "$folder/$1"
  "$check" "$folder" "$folder/list" > "$folder/out" 2>&1
  code=$?
  rm "$folder/$1"
  return $code
}
refused() { ! judge "$1" "$2" || { echo "$1 may include $2, and should not"; exit 1; }; }
allowed() { judge "$1" "$2" || { echo "$1 may not include $2, and should:"; cat "$folder/out"; exit 1; }; }

allowed src/linalg/a.h '"base/text.h"'
refused src/base/a.h '"linalg/sparse.h"'
refused src/model/a.c '"integrate/integrator.h"'
refused src/native/a.c '"fmi/fmi.h"'
refused src/exec/a.c '"linalg/sparse.h"'
allowed src/subsystem/a.h '"frames/port.h"'
refused src/subsystem/a.h '"model/port.h"'
refused src/subsystem/a.h '"integrate/integrator.h"'
allowed src/native/a.c '"model/multibody.h"'
allowed src/coupling/a.c '"subsystem/subsystem.h"'
refused src/coupling/a.c '"model/model.h"'
refused src/coupling/a.c '"native/native.h"'
refused src/control/a.c '"energy/leak.h"'
refused src/control/a.c '"model/model.h"'
allowed src/master/plan.c '"model/model.h"'
refused src/master/system.c '"model/model.h"'
refused src/master/system_events.c '"native/native.h"'
refused src/master/outputs.h '"integrate/integrator.h"'
allowed src/master/system.c '"coupling/graph.h"'
refused src/plot/a.c '"master/plan.h"'
allowed src/io/a.c '"analysis/map.h"'
refused src/io/a.c '<yoke/run.h>'
refused src/analysis/a.h '<yoke/converge.h>'
refused src/master/a.h '<yoke/run.h>'
refused src/model/a.h '<yoke/model.h>'
allowed src/io/a.c '<yoke/status.h>'
allowed src/api/a.c '<yoke/run.h>'
allowed src/api/a.c '"io/result_writer.h"'
allowed cli/a.c '<yoke/yoke.h>'
allowed cli/a.c '"options.h"'
refused cli/a.c '"base/text.h"'
refused include/yoke/status.h '<yoke/run.h>'
refused src/odds/a.c '"base/text.h"'

echo 'src/coupling/a.c: model/model.h' > "$folder/list"
allowed src/coupling/a.c '"model/model.h"'
refused src/coupling/a.c '"base/text.h"'
grep -q 'remove this line' "$folder/out" || { echo "a line that is no longer true is not named"; exit 1; }
echo "the rules hold"
