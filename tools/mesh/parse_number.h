// SPDX-License-Identifier: MIT
// Numbers in text files, in any locale.
#pragma once

#include <charconv>
#include <cstddef>
#include <limits>
#include <string_view>

namespace plush::tools {

/// Removes the number at the beginning of `*text`, with an optional plus, from the text. A number
/// out of T's range, too small ones included, becomes infinity or T's largest integer. False if the
/// text does not begin with a number.
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
