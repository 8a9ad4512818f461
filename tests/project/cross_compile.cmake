# Compiles the runtime for another machine, with only the compiler's headers and those of
# FlatBuffers and Highway.
#
#   cmake -DCOMPILER=g++ of that machine -DSYSTEM=Windows|Linux -DPROCESSOR=... -DGENERATOR=...
#         -DPLUSH_SOURCE_DIR=... -DFLATBUFFERS_DIR=... -DHIGHWAY_DIR=... -DWORK_DIR=...
#         -P cross_compile.cmake

cmake_minimum_required(VERSION 3.24)
find_program(CROSS_CXX ${COMPILER})
if(NOT CROSS_CXX)
  message("SKIPPED: ${COMPILER} is not installed")
  return()
endif()
file(REMOVE_RECURSE ${WORK_DIR})
file(COPY ${FLATBUFFERS_DIR}/flatbuffers ${HIGHWAY_DIR}/hwy DESTINATION ${WORK_DIR}/include)
execute_process(
  COMMAND ${CMAKE_COMMAND} --preset ci -G ${GENERATOR} -S ${PLUSH_SOURCE_DIR} -B ${WORK_DIR}/build
    -DPLUSH_BUILD_TOOLS=OFF -DPLUSH_BUILD_TESTS=OFF -DPLUSH_BUILD_SAMPLES=OFF
    -DCMAKE_SYSTEM_NAME=${SYSTEM} -DCMAKE_SYSTEM_PROCESSOR=${PROCESSOR}
    -DCMAKE_CXX_COMPILER=${CROSS_CXX} -DPLUSH_FLATBUFFERS_INCLUDE_DIR=${WORK_DIR}/include
    -DPLUSH_HIGHWAY_INCLUDE_DIR=${WORK_DIR}/include
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK_DIR}/build COMMAND_ERROR_IS_FATAL ANY)
