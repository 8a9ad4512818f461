// SPDX-License-Identifier: MIT
// "Did you mean ...?" for keys, regions and choices in files that people write by hand.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace plush::tools {

/// Least number of insertions, deletions, replacements and swaps of neighbouring letters that turn
/// `a` into `b` (optimal string alignment), upper and lower case taken as equal. O(|a| |b|).
size_t EditDistance(std::string_view a, std::string_view b);

/// The candidate with the least edit distance to `name`, the first of several; empty without
/// candidates.
std::string_view NearestName(std::string_view name, std::span<const std::string_view> candidates);

/// "unknown KIND 'NAME'; did you mean 'NEAREST'?", or without the question where there are no
/// candidates. A name of more than 64 letters is cut in the text.
std::string UnknownNameMessage(std::string_view kind, std::string_view name,
                               std::span<const std::string_view> candidates);

}  // namespace plush::tools
