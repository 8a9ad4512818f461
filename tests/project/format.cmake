# Checks the formatting of every source file with clang-format 14, for which .clang-format is written
# (other versions format some lines differently).
#
#   cmake -DROOT=source tree -P format.cmake

cmake_minimum_required(VERSION 3.24)
find_program(CLANG_FORMAT NAMES clang-format-14 clang-format)
set(version "")
if(CLANG_FORMAT)
  execute_process(COMMAND ${CLANG_FORMAT} --version OUTPUT_VARIABLE version)
endif()
if(NOT version MATCHES "version 14\\.")
  message("SKIPPED: clang-format 14 is not installed (found: '${version}')")
  return()
endif()
file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/runtime/*.h ${ROOT}/runtime/*.cpp ${ROOT}/tools/*.h
  ${ROOT}/tools/*.cpp ${ROOT}/samples/*.h ${ROOT}/samples/*.cpp ${ROOT}/tests/*.h
  ${ROOT}/tests/*.cpp)
list(FILTER files EXCLUDE REGEX "^runtime/src/generated/")
execute_process(COMMAND ${CLANG_FORMAT} --dry-run -Werror ${files} WORKING_DIRECTORY ${ROOT}
  RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "run clang-format -i on the files named above")
endif()
