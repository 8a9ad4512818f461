# Builds and runs the small game by one route, as a script of ctest:
#
#   cmake -DROUTE=... -DGAME_DIR=... -DPLUSH_SOURCE_DIR=... -DPLUSH_BUILD_DIR=... -DWORK_DIR=...
#         -DPLUSH_EXECUTABLE=... -DGENERATOR=... -DCXX=... -DLAUNCHER=...
#         -P consumer.cmake
#
#   find_package      against an installed prefix with both components
#   runtime_only      against a prefix of the runtime-only build; the program PLUSH_EXECUTABLE
#                     bakes the assets, as when cross-compiling
#   add_subdirectory  Plush as a folder of the game; with PLUSH_TEST_FULL its tools too

cmake_minimum_required(VERSION 3.24)

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  string(JOIN " " command ${ARGV})
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${command}\n${output}\nended with ${result}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

set(work ${WORK_DIR}/${ROUTE})
set(prefix ${work}/prefix)
set(game ${work}/game)
file(REMOVE_RECURSE ${work})
file(COPY ${GAME_DIR}/ DESTINATION ${game})  # the copy's files are touched below

set(configure ${CMAKE_COMMAND} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${CXX}
  -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} -DCMAKE_BUILD_TYPE=Release)
if(ROUTE STREQUAL "find_package")
  run(${CMAKE_COMMAND} --install ${PLUSH_BUILD_DIR} --prefix ${prefix} --component runtime)
  run(${CMAKE_COMMAND} --install ${PLUSH_BUILD_DIR} --prefix ${prefix} --component tools)
  list(APPEND configure -DCMAKE_PREFIX_PATH=${prefix} -DGAME_PLUSH_COMPONENTS=tools)
elseif(ROUTE STREQUAL "runtime_only")
  run(${configure} --preset runtime-only -S ${PLUSH_SOURCE_DIR} -B ${work}/plush)
  run(${CMAKE_COMMAND} --build ${work}/plush)
  run(${CMAKE_COMMAND} --install ${work}/plush --prefix ${prefix})
  file(GLOB_RECURSE programs ${prefix}/bin/*)
  if(programs)
    message(FATAL_ERROR "the runtime-only build installed programs: ${programs}")
  endif()
  # Asking for tools that are not there must be refused.
  execute_process(COMMAND ${configure} -DCMAKE_PREFIX_PATH=${prefix} -DGAME_PLUSH_COMPONENTS=tools
    -S ${game} -B ${work}/refused RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE output)
  if(result EQUAL 0 OR NOT output MATCHES "component tools")
    message(FATAL_ERROR "find_package found the component tools though there is none:\n${output}")
  endif()
  list(APPEND configure -DCMAKE_PREFIX_PATH=${prefix} -DPLUSH_EXECUTABLE=${PLUSH_EXECUTABLE})
elseif(ROUTE STREQUAL "add_subdirectory")
  list(APPEND configure -DPLUSH_SOURCE_DIR=${PLUSH_SOURCE_DIR})
  if(DEFINED ENV{PLUSH_TEST_FULL})
    list(APPEND configure -DPLUSH_BUILD_TOOLS=ON)
  else()  # the tools take minutes to compile
    list(APPEND configure -DPLUSH_BUILD_TOOLS=OFF -DPLUSH_EXECUTABLE=${PLUSH_EXECUTABLE})
  endif()
else()
  message(FATAL_ERROR "unknown route '${ROUTE}'")
endif()

set(build ${work}/build)
run(${configure} -S ${game} -B ${build})
run(${CMAKE_COMMAND} --build ${build} --target game)

run(${CMAKE_COMMAND} -E chdir ${build} ${build}/game crate.plush props/cube.plush)
run(${CMAKE_COMMAND} -E chdir ${build} ${build}/game crate.plush bar.plush)
message("${output}")

# The depfile: at first there is nothing to do. If a file that only the source names changes, the
# asset is baked again.
run(${CMAKE_COMMAND} --build ${build} --target game)
if(output MATCHES "Baking [a-z]*.plush")
  message(FATAL_ERROR "a second build baked again:\n${output}")
endif()
file(TOUCH ${game}/bar.ele)
run(${CMAKE_COMMAND} --build ${build} --target game)
if(NOT output MATCHES "Baking bar.plush" OR output MATCHES "Baking crate.plush")
  message(FATAL_ERROR "touching bar.ele should bake bar.plush and nothing else:\n${output}")
endif()

# The manifest's assets follow their sources, too.
file(APPEND ${game}/cube.mtl "\n# changed\n")
run(${CMAKE_COMMAND} --build ${build} --target game)
if(NOT output MATCHES "1 asset, 1 baked")
  message(FATAL_ERROR "changing cube.mtl should bake the manifest's asset:\n${output}")
endif()
