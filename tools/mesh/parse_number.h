// SPDX-License-Identifier: MIT
// Numbers in text files, in any locale.
#pragma once

#include <charconv>
#include <cstddef>
#include <limits>
#include <string_view>

namespace plush::tools {

/// Takes the number that `*text` begins with, and a plus before it, off the text. One beyond its
/// type (too small ones included) reads as infinity or, of integers, as the largest value. False
/// where there is none.
template <class T>
bool TakeNumber(std::string_view* text, T* value) {
  if (!text->empty() && text->front() == '+') text->remove_prefix(1);
  const auto parsed = std::from_chars(text->data(), text->data() + text->size(), *value);
  if (parsed.ec == std::errc::result_out_of_range) {
    *value = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                  : std::numeric_limits<T>::max();
  } else if (parsed.ec != std::errc()) {
    return false;
  }
  text->remove_prefix(static_cast<size_t>(parsed.ptr - text->data()));
  return true;
}

}  // namespace plush::tools
