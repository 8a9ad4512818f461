# plush_add_asset() with names that contain spaces, as a script of ctest:
#
#   cmake -DPLUSH_EXECUTABLE=... -DADD_ASSET=PlushAddAsset.cmake -DWORK_DIR=... -P add_asset.cmake
#
# Bakes by each generator that is here, and checks that a second build bakes nothing and that a
# changed source is baked again.

cmake_minimum_required(VERSION 3.24)

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    string(JOIN " " command ${ARGV})
    message(FATAL_ERROR "${command}\n${output}\nended with ${result}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

set(tetrahedron "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
set(generators "")
find_program(NINJA ninja)
find_program(MAKE make)
if(NINJA)
  list(APPEND generators "Ninja")
endif()
if(MAKE)
  list(APPEND generators "Unix Makefiles")
endif()

foreach(generator IN LISTS generators)
  set(game "${WORK_DIR}/${generator} game")
  file(REMOVE_RECURSE ${game})
  file(WRITE "${game}/CMakeLists.txt" "
cmake_minimum_required(VERSION 3.24)
project(game LANGUAGES NONE)
include(\"${ADD_ASSET}\")
add_custom_target(game ALL)
plush_add_asset(TARGET game SOURCE \"my head.obj\" NAME \"monkey head\" OPTIONS --tets 20)
plush_add_asset(TARGET game SOURCE \"my head.obj\" NAME monkey_head OPTIONS --tets 20)
plush_add_asset(TARGET game SOURCE \"my head.obj\" OUTPUT_DIRECTORY \"more assets\")
plush_add_assets(game \"all heads.json\" OUTPUT_DIRECTORY \"all heads\" OPTIONS --jobs 1)
")
  file(WRITE "${game}/my head.obj" ${tetrahedron})
  file(WRITE "${game}/all heads.json" "{\"inputs\": \"*.obj\"}")
  run(${CMAKE_COMMAND} -G ${generator} -DPLUSH_EXECUTABLE=${PLUSH_EXECUTABLE} -S ${game}
    -B ${game}/build)
  run(${CMAKE_COMMAND} --build ${game}/build)
  foreach(asset IN ITEMS "monkey head" monkey_head "more assets/my head" "all heads/my head")
    if(NOT EXISTS "${game}/build/${asset}.plush")
      message(FATAL_ERROR "${generator}: there is no ${asset}.plush")
    endif()
  endforeach()

  set(asset "${game}/build/monkey head.plush")
  file(TIMESTAMP ${asset} first "%s.%f")
  run(${CMAKE_COMMAND} --build ${game}/build)
  file(TIMESTAMP ${asset} second "%s.%f")
  if(NOT first STREQUAL second)
    message(FATAL_ERROR "${generator}: the asset was baked again although nothing had changed")
  endif()
  execute_process(COMMAND ${CMAKE_COMMAND} -E sleep 1.1)  # some file systems count seconds
  file(APPEND "${game}/my head.obj" "# changed\n")
  run(${CMAKE_COMMAND} --build ${game}/build)
  file(TIMESTAMP ${asset} third "%s.%f")
  if(third STREQUAL second)
    message(FATAL_ERROR "${generator}: the source changed and the asset was not baked again")
  endif()
endforeach()
