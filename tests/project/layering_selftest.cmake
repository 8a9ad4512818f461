# Plants one violation after another in an otherwise clean tree; layering.cmake must name each.
#
#   cmake -DSCRIPT=layering.cmake -DWORK_DIR=... -P layering_selftest.cmake

cmake_minimum_required(VERSION 3.24)

# Runs the check on a tree that holds `file` with one line that includes `header`.
function(check expected file header)
  file(REMOVE_RECURSE ${WORK_DIR})
  foreach(folder IN ITEMS tools/base tools/import tools/commands)
    file(MAKE_DIRECTORY ${WORK_DIR}/${folder})
  endforeach()
  file(WRITE ${WORK_DIR}/tools/import/clean.cpp
    "#include <assimp/scene.h>\n#include \"base/result.h\"\n#include <vector>\n")
  file(WRITE ${WORK_DIR}/runtime/src/world/clean.cpp
    "#include \"asset/views.h\"\n#include \"plush/world.h\"\n#include <flatbuffers/flatbuffers.h>\n")
  file(WRITE ${WORK_DIR}/${file} "#include <vector>\n  # include ${header}  // why\n")
  execute_process(COMMAND ${CMAKE_COMMAND} -DROOT=${WORK_DIR} -P ${SCRIPT}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(expected STREQUAL "clean")
    if(NOT result EQUAL 0)
      message(FATAL_ERROR "${file} with ${header} was refused:\n${output}")
    endif()
  elseif(result EQUAL 0 OR NOT output MATCHES "${file}")
    message(FATAL_ERROR "${file} with ${header} was not found:\n${output}")
  endif()
endfunction()

check(clean runtime/src/solver/a.cpp "\"elasticity/rotation.h\"")
check(clean runtime/src/base/file_map_posix.cpp "<sys/mman.h>")
check(clean tools/commands/a.cpp "<CLI/CLI.hpp>")
check(clean runtime/src/solver/a.cpp "<hwy/highway.h>")
check(broken runtime/src/base/a.cpp "\"asset/views.h\"")
check(broken runtime/src/base/a.cpp "\"plush/world.h\"")
check(broken runtime/src/base/a.cpp "\"commands/output.h\"")
check(broken runtime/src/world/a.cpp "<Eigen/Dense>")
check(broken runtime/src/world/a.cpp "<nlohmann/json.hpp>")
check(broken runtime/src/world/a.cpp "<assimp/scene.h>")
check(broken runtime/src/world/a.cpp "<iostream>")
check(broken runtime/src/world/a.cpp "<sys/mman.h>")
check(broken runtime/src/helpers/a.cpp "\"plush/types.h\"")
check(broken runtime/include/plush/asset.h "\"flatbuffers/flatbuffers.h\"")
check(broken runtime/include/plush/asset.h "\"asset/views.h\"")
check(broken runtime/include/plush/types.h "\"plush/asset.h\"")
check(broken runtime/include/plush/unknown.h "<vector>")
check(broken tools/base/a.cpp "\"import/import.h\"")
check(broken tools/import/b.cpp "<assimp/Importer.hpp>")
check(broken tools/base/a.cpp "<assimp/scene.h>")
check(broken tools/base/a.cpp "<CLI/CLI.hpp>")
check(broken tools/base/a.cpp "<tetgen.h>")
check(broken tools/rest/a.cpp "<hwy/highway.h>")
check(broken runtime/include/plush/world.h "<hwy/highway.h>")
check(broken tools/base/a.cpp "\"../runtime/src/asset/views.h\"")
message("every planted violation was found")
