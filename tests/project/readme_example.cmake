# Compiles the C++ of README.md as a game would; fails on any warning.
#
#   cmake -DPLUSH_SOURCE_DIR=... -DCXX=... -DWORK_DIR=... -P readme_example.cmake

cmake_minimum_required(VERSION 3.24)
file(READ ${PLUSH_SOURCE_DIR}/README.md readme)
# Lists would split at the semicolons of the code.
string(FIND "${readme}" "```cpp\n" begin)
if(begin EQUAL -1)
  message(FATAL_ERROR "README.md has no C++")
endif()
math(EXPR begin "${begin} + 7")
string(SUBSTRING "${readme}" ${begin} -1 readme)
string(FIND "${readme}" "```" end)
string(SUBSTRING "${readme}" 0 ${end} example)
file(WRITE ${WORK_DIR}/example.cpp "#include <plush/plush.h>
#include <span>
#include <vector>
bool Succeeded(const plush::Status& status);
void Draw(int frame, std::span<const plush::Vec3> positions, std::span<const plush::Vec3> normals);
bool Run(const char* path);
bool Run(const char* path) {
${example}  return true;
}
")
find_program(CLANG NAMES clang++ clang++-14)
foreach(compiler IN ITEMS ${CXX} ${CLANG})
  if(NOT compiler)
    continue()
  endif()
  execute_process(COMMAND ${compiler} -std=c++20 -Wall -Wextra -Werror -fsyntax-only
    -I ${PLUSH_SOURCE_DIR}/runtime/include ${WORK_DIR}/example.cpp COMMAND_ERROR_IS_FATAL ANY)
  message("no warning from ${compiler}")
endforeach()
