# What every target of ours is compiled with. Nothing here is global: a game that adds Plush as a
# subdirectory keeps its own flags.

function(plush_target_defaults target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON)
  if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    # Contraction would let one compiler fuse what another does not: results must be bit-equal.
    # Descriptions are made with designated initialisers: members left out have defaults.
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow
      -Wno-missing-field-initializers -ffp-contract=off)
    if(CMAKE_SIZEOF_VOID_P EQUAL 4 AND CMAKE_SYSTEM_PROCESSOR MATCHES "86")
      # The x87 unit, the default of 32-bit x86, rounds differently.
      target_compile_options(${target} PRIVATE -msse2 -mfpmath=sse)
    endif()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # Two false alarms of gcc 12: members of std::variant and std::optional that are read only
      # where they are set, and std::string's operator+ (gcc bug 105651).
      target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized -Wno-restrict)
      # gcc 12 drops the rounding of neighbouring doubles to float and back where it vectorises
      # straight-line code: results would differ from other compilers and from what files store.
      target_compile_options(${target} PRIVATE -fno-tree-slp-vectorize)
    endif()
  elseif(MSVC)
    target_compile_options(${target} PRIVATE /W4 /fp:precise)
  endif()
  if(PLUSH_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${PLUSH_SANITIZE} -fno-omit-frame-pointer)
    # Release has neither lines for reports nor, at -O3, short compile times.
    target_compile_options(${target} PRIVATE "$<$<CONFIG:Release>:-O2;-g1>")
    if(PLUSH_SANITIZE MATCHES "address|undefined")
      target_compile_options(${target} PRIVATE -fno-sanitize-recover=all)
    endif()
    target_link_options(${target} PUBLIC -fsanitize=${PLUSH_SANITIZE})
  endif()
endfunction()
