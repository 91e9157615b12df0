# find_package(yoke): yoke::yoke is the shared library, yoke::static the archive.
include("${CMAKE_CURRENT_LIST_DIR}/yoke-targets.cmake")
