#!/bin/sh
# The direction of includes: prints the matrix module x module and fails on an include that the design does not allow.
# Usage: check.sh SOURCE_FOLDER [LIST]
# LIST (default: violations.txt beside this file) holds the violations of today, `file: included header`, one per line. It may only
# shrink: a violation that is not in it fails, and so does a line that is no longer true.
set -eu
tree=$1
list=${2:-$(dirname "$0")/violations.txt}
[ -r "$list" ] || { echo "$list cannot be read"; exit 1; }
cd "$tree"

# file: header, with the quotes or brackets that it stands in. System headers are no business of ours.
find src cli include/yoke -name '*.[ch]' -o -name '*.def' | LC_ALL=C sort |
  xargs awk '
    match($0, /^[ \t]*#[ \t]*include[ \t]*("[^"]*"|<yoke\/[^>]*>)/) {
      header = substr($0, RSTART, RLENGTH)
      sub(/^[ \t]*#[ \t]*include[ \t]*/, "", header)
      print FILENAME, header
    }' |
  awk -v list="$list" '
    # Top to bottom; a module sees those above it, never one beside it or below.
    BEGIN {
      n_rows = split("base linalg frames exec model integrate subsystem native,fmi,user coupling control,energy master analysis,plot io api cli", rows, " ")
      for (i = 1; i <= n_rows; ++i) {
        n_beside = split(rows[i], beside, ",")
        for (k = 1; k <= n_beside; ++k) {
          module[++n_modules] = beside[k]
          row[beside[k]]      = i
        }
      }
      # What lies above and is not to be known all the same.
      never["exec"]      = "linalg frames"
      never["subsystem"] = "model integrate"
      never["coupling"]  = never["control"] = never["energy"] = "model integrate native fmi user"
      never["plot"]      = "frames exec model integrate subsystem native fmi user coupling control energy master"
      # Files of master by their noun: system.c, system_events.c, outputs.h.
      never["master/system"] = never["master/outputs"] = "model integrate native user"
      # Public headers that are part of base; the others are the api.
      public["context.h"] = public["status.h"] = public["signal.h"] = public["version.h"] = public["export.h"] = public["subsystem.h"] = "base"
      while ((getline line < list) > 0) {
        if (line !~ /^#/ && line != "") listed[line] = 1
      }
    }

    # The module of a file below the top of the tree.
    function module_of(path, parts) {
      split(path, parts, "/")
      if (parts[1] == "cli") return "cli"
      if (parts[1] == "include") return parts[3] in public ? public[parts[3]] : "api"
      return parts[2]
    }

    # The module of an included header, as written in `file`.
    function module_of_header(file, header, name) {
      name = substr(header, 2, length(header) - 2)
      if (header ~ /^</) return module_of("include/" name)
      if (name ~ /\//) return module_of("src/" name)
      return module_of(file)
    }

    function is_never(who, other) {
      return who in never && index(" " never[who] " ", " " other " ") > 0
    }

    function is_allowed(file, header, from, to, noun) {
      if (from == to) return 1
      if (from == "cli") return header ~ /^</
      noun = file
      sub(/.*\//, "", noun)
      sub(/[_.].*/, "", noun)
      return row[to] < row[from] && !is_never(from, to) && !is_never(from "/" noun, to)
    }

    {
      from = module_of($1)
      to   = module_of_header($1, $2)
      if (!(from in row)) unknown[from] = $1
      if (!(to in row)) unknown[to] = $1
      ++count[from, to]
      used[from] = used[to] = 1
      if (is_allowed($1, $2, from, to)) next
      entry = $1 ": " substr($2, 2, length($2) - 2)
      if (entry in listed) seen[entry] = 1
      else fresh[++n_fresh] = entry " (" from " may not include " to ")"
    }

    END {
      printf "%-10s", ""
      for (k = 1; k <= n_modules; ++k) if (module[k] in used) printf " %9s", module[k]
      printf "\n"
      for (i = 1; i <= n_modules; ++i) {
        if (!(module[i] in used)) continue
        printf "%-10s", module[i]
        for (k = 1; k <= n_modules; ++k) {
          if (module[k] in used) printf " %9s", (module[i], module[k]) in count ? count[module[i], module[k]] : "."
        }
        printf "\n"
      }
      for (entry in listed) ++n_listed
      printf "%d violations are listed in %s\n", n_listed, list
      for (name in unknown) {
        printf "%s: module %s has no place in the order of modules\n", unknown[name], name
        bad = 1
      }
      for (k = 1; k <= n_fresh; ++k) {
        printf "%s\n", fresh[k]
        bad = 1
      }
      for (entry in listed) {
        if (entry in seen) continue
        printf "%s: no longer so, remove this line\n", entry
        bad = 1
      }
      exit bad
    }'
