# Fails if a program that names neither a contact method, a solver, a hull nor a mesh has the code of one, or if one that names
# them all lacks one of the names below: then they are out of date.
#
#   cmake -DNM=nm -DWITHOUT=program -DWITH=program -P unnamed_code.cmake

cmake_minimum_required(VERSION 3.24)
if(NOT NM)
  message("SKIPPED: there is no nm")
  return()
endif()
set(names
  kSnapContact kPenaltyContact kPseudoImpulseContact StopBetween MoveApart PushBySprings PlaceForSnap
  kImplicitMethod AdvanceImplicit 10NewtonStep[0-9] LineariseModelTets CheckImplicit
  kHullCode HullTangentAt MakeHull
  kTriangleCode FindOnMesh MakeRestMesh FollowMesh)
foreach(program IN ITEMS WITHOUT WITH)
  execute_process(COMMAND ${NM} ${${program}} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  if(NOT symbols MATCHES "World4Step")
    message(FATAL_ERROR "${${program}} has no symbols of the runtime")
  endif()
  foreach(name IN LISTS names)
    string(REGEX MATCHALL "[^\n]*${name}[^\n]*" found "${symbols}")
    if(program STREQUAL "WITHOUT" AND found)
      message(FATAL_ERROR "${WITHOUT} links what it does not name:\n${found}")
    elseif(program STREQUAL "WITH" AND NOT found)
      message(FATAL_ERROR "${WITH} does not have ${name}, which it names")
    endif()
  endforeach()
endforeach()
