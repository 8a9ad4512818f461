# Configures the runtime against FlatBuffers headers that claim another version:
#   1. without a flatc of that version, it must stop and name both versions;
#   2. with one, it must generate the header again, in the build tree.
#
#   cmake -DPLUSH_SOURCE_DIR=... -DINCLUDE_DIR=... -DFLATC=... -DWORK_DIR=... -DCXX=...
#         -P flatbuffers_version.cmake

cmake_minimum_required(VERSION 3.24)

file(REMOVE_RECURSE ${WORK_DIR})
file(COPY ${INCLUDE_DIR}/flatbuffers DESTINATION ${WORK_DIR}/include)
file(READ ${WORK_DIR}/include/flatbuffers/base.h base)
string(REGEX REPLACE "(FLATBUFFERS_VERSION_MAJOR) [0-9]+" "\\1 99" base "${base}")
string(REGEX REPLACE "(FLATBUFFERS_VERSION_MINOR) [0-9]+" "\\1 8" base "${base}")
string(REGEX REPLACE "(FLATBUFFERS_VERSION_REVISION) [0-9]+" "\\1 7" base "${base}")
file(WRITE ${WORK_DIR}/include/flatbuffers/base.h "${base}")

# Sets `result` and `output` in the caller.
function(configure flatc)
  execute_process(
    COMMAND ${CMAKE_COMMAND} --preset runtime-only -S ${PLUSH_SOURCE_DIR} -B ${WORK_DIR}/build
      --fresh -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_CXX_FLAGS_RELEASE=-O0 -DPLUSH_FLATBUFFERS_INCLUDE_DIR=${WORK_DIR}/include
      -DPLUSH_FLATC=${flatc}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  # Messages are wrapped at the width of a terminal.
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  set(result ${result} PARENT_SCOPE)
  set(output "${output}" PARENT_SCOPE)
endfunction()

configure("")
if(result EQUAL 0)
  message(FATAL_ERROR "foreign FlatBuffers headers were accepted:\n${output}")
endif()
if(NOT output MATCHES "was made by FlatBuffers 2\\.0\\.8, but the headers in .* are of FlatBuffers 99\\.8\\.7")
  message(FATAL_ERROR "the refusal does not name both versions:\n${output}")
endif()
message("refused: ${output}")

if(NOT FLATC)
  message("SKIPPED: no flatc, so making the header anew was not tried")
  return()
endif()
file(WRITE ${WORK_DIR}/flatc "#!/bin/sh
# A flatc of the foreign version: the real one, with its version number replaced.
[ \"$1\" = --version ] && { echo 'flatc version 99.8.7'; exit 0; }
'${FLATC}' \"$@\" && sed -i -e 's/_MAJOR == [0-9]*/_MAJOR == 99/' -e 's/_MINOR == [0-9]*/_MINOR == 8/' \\
  -e 's/_REVISION == [0-9]*/_REVISION == 7/' '${WORK_DIR}/build/schemas/generated/plush_generated.h'
")
file(CHMOD ${WORK_DIR}/flatc PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
configure(${WORK_DIR}/flatc)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "the header was not made anew by a flatc of the found version:\n${output}")
endif()
# The files that read the header; the others do not see it.
set(runtime ${PLUSH_SOURCE_DIR}/runtime)
file(GLOB_RECURSE sources ${runtime}/src/*.cpp)
set(readers "")
foreach(source IN LISTS sources)
  file(STRINGS ${source} lines REGEX "plush_generated.h")
  if(lines)
    list(APPEND readers ${source})
  endif()
endforeach()
if(NOT readers)
  message(FATAL_ERROR "no file of the runtime reads the generated header")
endif()
execute_process(COMMAND ${CXX} -std=c++20 -fsyntax-only -I${runtime}/src -I${runtime}/include
  -I${WORK_DIR}/build/schemas/generated -I${WORK_DIR}/include ${readers}
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "the runtime does not compile against the header made anew:\n${output}")
endif()
