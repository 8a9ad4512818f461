# Fails if a program, stripped, takes more than a limit.
#
#   cmake -DSTRIP=strip -DPROGRAM=program -DMOST=bytes -DWORK_DIR=folder -P program_size.cmake

cmake_minimum_required(VERSION 3.24)
file(MAKE_DIRECTORY ${WORK_DIR})
execute_process(COMMAND ${STRIP} -o ${WORK_DIR}/stripped ${PROGRAM} COMMAND_ERROR_IS_FATAL ANY)
file(SIZE ${WORK_DIR}/stripped bytes)
if(bytes GREATER MOST)
  message(FATAL_ERROR "${PROGRAM} takes ${bytes} bytes, stripped; at most ${MOST} are allowed. Which functions grew: "
    "nm --size-sort --print-size. Loops that need no unrolling belong in plain_sources of runtime/CMakeLists.txt.")
endif()
message("${bytes} bytes of ${MOST}")
