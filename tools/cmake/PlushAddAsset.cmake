# plush_add_asset(): bakes a source mesh as part of a game's build.
#
#   plush_add_asset(TARGET game SOURCE models/bear.glb OPTIONS --tets 300)
#
#   TARGET            executable or library that needs the asset; building it bakes first
#   SOURCE            source mesh, relative to the current source directory
#   NAME              name of the asset without extension (default: that of the source)
#   OUTPUT_DIRECTORY  folder of NAME.plush (default: the current binary directory, into which
#                     single-configuration generators also put the game)
#   OPTIONS           further options of `plush bake`, see `plush bake --help`
#
# NAME, SOURCE and OUTPUT_DIRECTORY may contain spaces.
#
# The asset is baked again if the source, a file that the source refers to (materials, buffers,
# element files), the options or the converter change: `plush bake` writes a depfile.
#
# The converter is the first of
#   - the program in the variable PLUSH_EXECUTABLE; set it if plush was built for another machine;
#   - the target plush::plush, from find_package or from the same tree;
#   - a `plush` on the PATH.

# plush_add_assets(): bakes all files that a manifest of `plush batch` names.
#
#   plush_add_assets(game models/assets.json)
#   plush_add_assets(game models/assets.json OUTPUT_DIRECTORY baked OPTIONS --cache /shared/cache)
#
#   first argument    executable or library that needs the assets; building it bakes first
#   second argument   the manifest, relative to the current source directory
#   OUTPUT_DIRECTORY  output tree, instead of the manifest's (default: the current binary directory)
#   OPTIONS           further options of `plush batch`, see `plush batch --help`
#
# The manifest is planned in every build, so that new files are found; what has not changed is not
# baked. A failed bake fails the build after all others are done. Needs the program Ninja, whatever the
# generator.

cmake_policy(VERSION 3.24)

# Sets `out_command` to the converter and `out_depends` to what an asset depends on because of it.
function(_plush_find_converter out_command out_depends)
  if(PLUSH_EXECUTABLE)
    set(command ${PLUSH_EXECUTABLE})
    set(depends ${PLUSH_EXECUTABLE})
  elseif(TARGET plush::plush)
    set(command $<TARGET_FILE:plush::plush>)
    set(depends plush::plush $<TARGET_FILE:plush::plush>)
  else()
    find_program(PLUSH_PROGRAM plush)
    mark_as_advanced(PLUSH_PROGRAM)
    if(NOT PLUSH_PROGRAM)
      message(FATAL_ERROR "plush_add_asset: no `plush` to bake with. Install the component `tools`, "
        "or build Plush with PLUSH_BUILD_TOOLS=ON, or set PLUSH_EXECUTABLE to the program.")
    endif()
    set(command ${PLUSH_PROGRAM})
    set(depends ${PLUSH_PROGRAM})
  endif()
  set(${out_command} ${command} PARENT_SCOPE)
  set(${out_depends} ${depends} PARENT_SCOPE)
endfunction()

function(plush_add_asset)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET;SOURCE;NAME;OUTPUT_DIRECTORY" "OPTIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "plush_add_asset: unknown argument '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT arg_TARGET OR NOT arg_SOURCE)
    message(FATAL_ERROR "plush_add_asset: TARGET and SOURCE are needed")
  endif()
  if(NOT TARGET ${arg_TARGET})
    message(FATAL_ERROR "plush_add_asset: there is no target '${arg_TARGET}'")
  endif()

  cmake_path(ABSOLUTE_PATH arg_SOURCE NORMALIZE)
  if(NOT arg_NAME)
    cmake_path(GET arg_SOURCE STEM LAST_ONLY arg_NAME)
  endif()
  if(NOT arg_OUTPUT_DIRECTORY)
    set(arg_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  endif()
  cmake_path(ABSOLUTE_PATH arg_OUTPUT_DIRECTORY BASE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} NORMALIZE)

  set(output ${arg_OUTPUT_DIRECTORY}/${arg_NAME}.plush)
  set(depfile ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${arg_NAME}.plush.d)
  _plush_find_converter(converter converter_depends)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${arg_OUTPUT_DIRECTORY}
    COMMAND ${converter} bake ${arg_SOURCE} -o ${output} --depfile ${depfile} --quiet ${arg_OPTIONS}
    DEPENDS ${arg_SOURCE} ${converter_depends}
    DEPFILE ${depfile}
    COMMENT "Baking ${arg_NAME}.plush"
    VERBATIM)
  # Names of targets have fewer characters than names of files; the hash keeps them distinct.
  string(REGEX REPLACE "[^A-Za-z0-9_.+-]" "_" bake_target "${arg_TARGET}-${arg_NAME}.plush")
  if(NOT bake_target STREQUAL "${arg_TARGET}-${arg_NAME}.plush")
    string(MD5 hash "${arg_NAME}")
    string(SUBSTRING ${hash} 0 8 hash)
    string(APPEND bake_target -${hash})
  endif()
  add_custom_target(${bake_target} DEPENDS ${output})
  add_dependencies(${arg_TARGET} ${bake_target})
endfunction()

function(plush_add_assets target manifest)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "OUTPUT_DIRECTORY" "OPTIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "plush_add_assets: unknown argument '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "plush_add_assets: there is no target '${target}'")
  endif()
  cmake_path(ABSOLUTE_PATH manifest NORMALIZE)
  if(NOT EXISTS ${manifest})
    message(FATAL_ERROR "plush_add_assets: there is no manifest '${manifest}'")
  endif()
  if(NOT arg_OUTPUT_DIRECTORY)
    set(arg_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  endif()
  cmake_path(ABSOLUTE_PATH arg_OUTPUT_DIRECTORY BASE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} NORMALIZE)

  _plush_find_converter(converter converter_depends)
  cmake_path(GET manifest STEM LAST_ONLY name)
  string(MD5 hash "${manifest} ${arg_OUTPUT_DIRECTORY}")
  string(SUBSTRING ${hash} 0 8 hash)
  string(REGEX REPLACE "[^A-Za-z0-9_.+-]" "_" bake_target "${target}-${name}-${hash}")
  add_custom_target(${bake_target}
    COMMAND ${converter} batch ${manifest} --output ${arg_OUTPUT_DIRECTORY} ${arg_OPTIONS}
    COMMENT "Baking the assets of ${name}"
    USES_TERMINAL VERBATIM)
  if(TARGET plush::plush AND NOT PLUSH_EXECUTABLE)
    add_dependencies(${bake_target} plush::plush)
  endif()
  add_dependencies(${target} ${bake_target})
endfunction()
