// SPDX-License-Identifier: MIT
// Options that take one of a few words.
#pragma once

#include "base/nearest_name.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plush::tools {

/// Adds an option that stores the value of the word given; another word is refused with the nearest
/// one as a hint. `words` are not empty; the first is shown as the default. *value keeps what it
/// holds where the option is not given, and must outlive the parsing.
template <class T>
CLI::Option* AddChoice(CLI::App* verb, const std::string& name,
                       std::vector<std::pair<std::string, T>> words, T* value,
                       const std::string& help) {
  const std::string first = words.front().first;
  const auto store = [name, words, value](const std::string& given) {
    const auto found = std::find_if(words.begin(), words.end(),
                                    [&](const auto& word) { return word.first == given; });
    if (found == words.end()) {
      std::vector<std::string_view> known;
      for (const auto& word : words) known.push_back(word.first);
      throw CLI::ValidationError(name, UnknownNameMessage("value", given, known));
    }
    *value = found->second;
  };
  return verb->add_option_function<std::string>(name, store, help)->default_str(first);
}

}  // namespace plush::tools
