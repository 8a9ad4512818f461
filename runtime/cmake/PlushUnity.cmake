# Unity builds: most of the time to compile a file goes into headers, which the files of a module
# share.

option(PLUSH_UNITY "Compile the files of a module together" ON)
mark_as_advanced(PLUSH_UNITY)

# Replaces the sources of a target by batches of at most `most` files that lie in one folder and have
# the same COMPILE_OPTIONS. Call it after the last of them is added. Unlike UNITY_BUILD of CMake, it
# keeps these options, and names files relative to `root`, a folder that the target includes from,
# so that compiler caches find them in other checkouts. Left out are files outside root, those with
# COMPILE_DEFINITIONS or SKIP_UNITY_BUILD_INCLUSION, and vector code, which reads itself once per
# instruction set.
function(plush_unity target root most)
  if(NOT PLUSH_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  get_target_property(batches ${target} BINARY_DIR)
  set(kept "")
  set(groups "")
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder} NORMALIZE OUTPUT_VARIABLE file)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${root} OUTPUT_VARIABLE name)
    foreach(property IN ITEMS COMPILE_OPTIONS COMPILE_DEFINITIONS SKIP_UNITY_BUILD_INCLUSION)
      get_source_file_property(${property} ${file} TARGET_DIRECTORY ${target} ${property})
    endforeach()
    set(vector_code "")
    if(name MATCHES "^[^.$].*\\.cpp$")
      file(STRINGS ${file} vector_code LIMIT_COUNT 1 REGEX "<hwy/foreach_target\\.h>")
    endif()
    if(NOT name MATCHES "^[^.$].*\\.cpp$" OR COMPILE_DEFINITIONS OR SKIP_UNITY_BUILD_INCLUSION OR vector_code)
      list(APPEND kept ${source})
      continue()
    endif()
    cmake_path(GET name PARENT_PATH module)
    if(NOT COMPILE_OPTIONS)
      set(COMPILE_OPTIONS "")
    endif()
    string(REGEX REPLACE "[^A-Za-z0-9]+" "_" group "${module} ${COMPILE_OPTIONS} ")
    list(APPEND groups ${group})
    list(APPEND ${group}_files ${name})
    set(${group}_options "${COMPILE_OPTIONS}")
  endforeach()
  list(REMOVE_DUPLICATES groups)
  foreach(group IN LISTS groups)
    list(LENGTH ${group}_files count)
    math(EXPR parts "(${count} + ${most} - 1) / ${most}")
    foreach(part RANGE 1 ${parts})
      # Parts of equal size.
      math(EXPR begin "${count} * (${part} - 1) / ${parts}")
      math(EXPR length "${count} * ${part} / ${parts} - ${begin}")
      list(SUBLIST ${group}_files ${begin} ${length} files)
      list(TRANSFORM files REPLACE "(.+)" "#include \"\\1\"\n")
      string(JOIN "" content ${files})
      set(batch ${batches}/${target}_unity/${group}${part}.cpp)
      file(CONFIGURE OUTPUT ${batch} CONTENT "${content}" @ONLY)
      # gcc inlines less in large files (from 10000 instructions on): leave each of these its share.
      set_source_files_properties(${batch} TARGET_DIRECTORY ${target} PROPERTIES COMPILE_OPTIONS
        "${${group}_options};$<$<CXX_COMPILER_ID:GNU>:--param=large-unit-insns=${length}0000>")
      list(APPEND kept ${batch})
    endforeach()
  endforeach()
  set_property(TARGET ${target} PROPERTY SOURCES ${kept})
endfunction()
