# Makes plush_generated.h from plush.fbs: the one place that knows the flags of flatc.
#
#   cmake -DFLATC=flatc -DOUTPUT_DIR=DIR -P schemas/generate.cmake
#
# --scoped-enums is for enums still to come; without it their values would leak into plush::format.
# The default C++11 code is kept: that of --cpp-std c++17 is marked experimental and adds only
# reflection that nothing here uses. flatc itself writes the assertion on its exact version.

cmake_minimum_required(VERSION 3.24)
file(MAKE_DIRECTORY ${OUTPUT_DIR})
execute_process(
  COMMAND ${FLATC} --cpp --scoped-enums -o ${OUTPUT_DIR} ${CMAKE_CURRENT_LIST_DIR}/plush.fbs
  RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "flatc failed on ${CMAKE_CURRENT_LIST_DIR}/plush.fbs: ${result}")
endif()
