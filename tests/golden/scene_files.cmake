# Fails unless the scenes of PROGRAM are those of FILES, which are names, one per line.
execute_process(COMMAND ${PROGRAM} list OUTPUT_VARIABLE scenes OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
foreach(list IN ITEMS scenes FILES)
  string(REPLACE "\n" ";" ${list} "${${list}}")
  list(SORT ${list})
endforeach()
if(NOT scenes STREQUAL FILES)
  message(FATAL_ERROR "run tests/golden.sh --update\nscenes: ${scenes}\nfiles: ${FILES}")
endif()
