// SPDX-License-Identifier: MIT
#include "import/gmsh_elements.h"

#include <algorithm>
#include <array>

namespace plush::tools {
namespace {

// Ascending by number, as the reference manual of Gmsh lists them (section "MSH file format").
constexpr auto kTypes = std::to_array<GmshElementType>({
    {1, 2, 1, false},    {2, 3, 2, false},   {3, 4, 2, false},   {4, 4, 3, true},
    {5, 8, 3, false},    {6, 6, 3, false},   {7, 5, 3, false},   {8, 3, 1, false},
    {9, 6, 2, false},    {10, 9, 2, false},  {11, 10, 3, true},  {12, 27, 3, false},
    {13, 18, 3, false},  {14, 14, 3, false}, {15, 1, 0, false},  {16, 8, 2, false},
    {17, 20, 3, false},  {18, 15, 3, false}, {19, 13, 3, false}, {20, 9, 2, false},
    {21, 10, 2, false},  {22, 12, 2, false}, {23, 15, 2, false}, {24, 15, 2, false},
    {25, 21, 2, false},  {26, 4, 1, false},  {27, 5, 1, false},  {28, 6, 1, false},
    {29, 20, 3, true},   {30, 35, 3, true},  {31, 56, 3, true},  {92, 64, 3, false},
    {93, 125, 3, false},
});

}  // namespace

const GmshElementType* FindGmshElementType(int32_t number) {
  const auto it = std::lower_bound(
      kTypes.begin(), kTypes.end(), number,
      [](const GmshElementType& type, int32_t wanted) { return type.number < wanted; });
  return it != kTypes.end() && it->number == number ? &*it : nullptr;
}

}  // namespace plush::tools
