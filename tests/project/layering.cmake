# Reads every #include of runtime/, tools/, samples/ and tests/consumer/ and fails if one breaks
# these rules:
#   - modules use only modules that precede them in the two orders below;
#   - the runtime sees nothing of the tools. Of foreign headers it sees only
#       - the C++ standard library, without streams and exceptions,
#       - FlatBuffers and Highway, in private files,
#       - the operating system's, in files named *_posix.cpp and *_win32.cpp;
#   - public headers include only the standard library and each other;
#   - headers for games (plush/*.h, at most 17), the samples and the consumer's game do not include
#     headers that describe the file (plush/format/*.h);
#   - one file sees Assimp; each other foreign library is seen only by files that the table allows.
#
#   cmake -DROOT=source tree -P layering.cmake

cmake_minimum_required(VERSION 3.24)

set(runtime_order base asset elasticity materials collision intersection solver colliders touching contact body implicit
  world state)
set(tools_order base mesh solid static_mesh lattice fit enclosure simplify tetgen cage embed partition rest import bake
  validate report export simulate tune page cache batch commands)

# Module of each public header, by its path below plush/. Add new headers here.
set(public_allocator base)
set(public_jobs base)
set(public_status base)
set(public_types base)
set(public_pose base)
set(public_step base)
set(public_implicit_settings base)
set(public_splitting_settings base)
set(public_solver base)
set(public_body base)
set(public_collider base)
set(public_debug_draw base)
set(public_version base)
set(public_asset asset)
set(public_format/cdg_records asset)
set(public_collision collision)
set(public_format/factor_panels asset)
set(public_format/static_mesh asset)
set(public_format/tet_block asset)
set(public_format/system_factor solver)
set(public_format/asset_check asset)
set(public_format/layout_fingerprint asset)
set(public_world world)
set(public_plush world)

set(banned_in_runtime
  iostream fstream sstream istream ostream iomanip stdexcept exception typeinfo regex locale thread)
# Foreign library -> files of tools/ and samples/ that may include it, as a regular expression.
set(foreign "^assimp/" "^CLI/" "^nlohmann/" "^Eigen/|^unsupported/" "^CGAL/" "^metis\\.h$"
  "^xxhash\\.h$" "^tbb/|^oneapi/" "^tetgen\\.h$" "^flatbuffers/" "^hwy/" "^meshoptimizer\\.h$"
  "^draco/")
set(allowed "^tools/import/" "^tools/commands/|^samples/" "^(tools|samples)/" "^tools/" "^tools/"
  "^tools/rest/" "^tools/" "^tools/" "^$" "^tools/"
  "^tools/commands/doctor_command\\.cpp$"
  "^tools/page/packed_arrays\\.cpp$|^tools/import/gltf_compression\\.cpp$"
  "^tools/import/gltf_compression\\.cpp$")

set(problems "")
macro(problem file text)
  list(APPEND problems "${file}: ${text}")
endmacro()

# Checks that `from` does not come before `to` in `order`.
function(check_order file order from to)
  list(FIND ${order} ${from} from_index)
  list(FIND ${order} ${to} to_index)
  if(from_index EQUAL -1)
    problem(${file} "'${from}' is no module of ${order}")
  elseif(to_index EQUAL -1)
    problem(${file} "includes '${to}', which is no module of ${order}")
  elseif(to_index GREATER from_index)
    problem(${file} "module '${from}' includes from '${to}', which comes after it")
  endif()
  set(problems "${problems}" PARENT_SCOPE)
endfunction()

# Sets `out` to the module of the public header plush/NAME.h.
macro(public_module file name out)
  set(${out} "${public_${name}}")
  if(NOT ${out})
    problem(${file} "public header plush/${name}.h has no module in layering.cmake")
    set(${out} base)
  endif()
endmacro()

function(check_runtime file header)
  string(REGEX MATCH "^runtime/include/" is_public ${file})
  if(is_public)
    string(REGEX REPLACE "^runtime/include/plush/(.*)\\.h$" "\\1" name ${file})
    public_module(${file} ${name} module)
  else()
    string(REGEX REPLACE "^runtime/src/([^/]*)/.*" "\\1" module ${file})
  endif()
  string(REGEX REPLACE "/.*" "" folder ${header})
  if(file MATCHES "^runtime/include/plush/[^/]*$" AND header MATCHES "^plush/format/")
    problem(${file} "a header for games includes '${header}', which describes the file")
  elseif(header MATCHES "^plush/(.*)\\.h$")
    public_module(${file} ${CMAKE_MATCH_1} used)
    check_order(${file} runtime_order ${module} ${used})
  elseif(is_public AND NOT header MATCHES "^[a-z_0-9]+$")
    problem(${file} "public header includes '${header}'")
  elseif(header MATCHES "^flatbuffers/|^hwy/|^plush_generated\\.h$")
    # A private header of others: any private file may use it.
  elseif(header MATCHES "^[a-z_0-9]+$")
    if(header IN_LIST banned_in_runtime)
      problem(${file} "the runtime includes <${header}>")
    endif()
  elseif(folder IN_LIST runtime_order)
    check_order(${file} runtime_order ${module} ${folder})
  elseif(NOT file MATCHES "_(posix|win32)\\.cpp$")
    problem(${file} "the runtime includes '${header}'")
  endif()
  set(problems "${problems}" PARENT_SCOPE)
endfunction()

function(check_tools file header)
  string(REGEX REPLACE "^tools/([^/]*)/.*" "\\1" module ${file})
  string(REGEX REPLACE "/.*" "" folder ${header})
  if(IS_DIRECTORY ${ROOT}/tools/${folder})
    check_order(${file} tools_order ${module} ${folder})
  elseif(header MATCHES "^(\\.\\./)|(runtime/)|(^asset/)|(^world/)")
    problem(${file} "the tools include the private '${header}'")
  endif()
  set(problems "${problems}" PARENT_SCOPE)
endfunction()

set(assimp_files "")
file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/runtime/*.h ${ROOT}/runtime/*.cpp
  ${ROOT}/tools/*.h ${ROOT}/tools/*.cpp ${ROOT}/samples/*.h ${ROOT}/samples/*.cpp
  ${ROOT}/tests/consumer/*.cpp)
file(GLOB game_headers RELATIVE ${ROOT} ${ROOT}/runtime/include/plush/*.h)
list(LENGTH game_headers num_game_headers)
if(num_game_headers GREATER 17)
  problem("${game_headers}" "${num_game_headers} headers for games, more than 17")
endif()
list(FILTER files EXCLUDE REGEX "^runtime/src/generated/")
foreach(file IN LISTS files)
  file(STRINGS ${ROOT}/${file} lines REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"]")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"]*)[>\"].*" "\\1" header "${line}")
    if(file MATCHES "^runtime/")
      check_runtime(${file} ${header})
      continue()
    elseif(file MATCHES "^tools/")
      check_tools(${file} ${header})
    elseif(header MATCHES "^plush/format/")
      problem(${file} "a game includes '${header}', which describes the file")
    endif()
    foreach(library where IN ZIP_LISTS foreign allowed)
      if(header MATCHES "${library}" AND NOT file MATCHES "${where}")
        problem(${file} "includes '${header}', which is allowed only in files like '${where}'")
      endif()
    endforeach()
    if(header MATCHES "^assimp/")
      list(APPEND assimp_files ${file})
    endif()
  endforeach()
endforeach()

list(REMOVE_DUPLICATES assimp_files)
list(LENGTH assimp_files num_assimp_files)
if(num_assimp_files GREATER 1)
  problem("${assimp_files}" "Assimp is to be seen by one file")
endif()

list(LENGTH files num_files)
if(problems)
  list(JOIN problems "\n  " problems)
  message("layers broken:\n  ${problems}")
  message(FATAL_ERROR "see the rules at the head of ${CMAKE_CURRENT_LIST_FILE}")
endif()
if(num_files EQUAL 0)
  message(FATAL_ERROR "no files under ${ROOT}")
endif()
message("${num_files} files keep to their layers")
