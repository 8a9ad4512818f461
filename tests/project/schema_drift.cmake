# Makes the FlatBuffers header from the schema and compares it with the committed one.
#
#   cmake -DPLUSH_SOURCE_DIR=... -DFLATC=... -DWORK_DIR=... -P schema_drift.cmake

cmake_minimum_required(VERSION 3.24)
if(NOT FLATC)
  message("SKIPPED: flatc is not installed")
  return()
endif()
set(committed ${PLUSH_SOURCE_DIR}/runtime/src/generated/plush_generated.h)
execute_process(
  COMMAND ${CMAKE_COMMAND} -DFLATC=${FLATC} -DOUTPUT_DIR=${WORK_DIR}
    -P ${PLUSH_SOURCE_DIR}/schemas/generate.cmake
  COMMAND_ERROR_IS_FATAL ANY)
file(READ ${committed} expected)
file(READ ${WORK_DIR}/plush_generated.h made)
if(NOT made STREQUAL expected)
  execute_process(COMMAND diff ${committed} ${WORK_DIR}/plush_generated.h)
  message(FATAL_ERROR "runtime/src/generated/plush_generated.h does not belong to schemas/plush.fbs: "
    "run cmake --build BUILD --target plush_schemas")
endif()
foreach(part IN ITEMS MAJOR MINOR REVISION)
  if(NOT expected MATCHES "static_assert[^;]*FLATBUFFERS_VERSION_${part} == [0-9]+")
    message(FATAL_ERROR "the committed header does not assert FLATBUFFERS_VERSION_${part}")
  endif()
endforeach()
