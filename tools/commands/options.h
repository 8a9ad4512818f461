// SPDX-License-Identifier: MIT
// Options that look alike in all verbs, and the groups of options that several verbs share.
#pragma once

#include "base/number_range.h"
#include "base/text.h"
#include "import/import.h"
#include "tetgen/tetgen_process.h"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace plush::tools {

/// Checks for a number in `range`, which --help and messages show. CLI11 puts the option's name
/// before the message.
CLI::Validator NumberIn(const NumberRange& range);

/// The range of time limits [s].
inline constexpr NumberRange kTimeLimitRange = {0.01, 86400.0};

/// Adds options to one group of a verb's help. The targets must outlive the parsing, and keep their
/// values if the options are not given. `type` is the placeholder in --help.
class OptionGroup {
 public:
  OptionGroup(CLI::App* verb, std::string title) : verb_(verb), title_(std::move(title)) {}

  /// Shows the target's value as the default, unless T is a std::optional.
  template <class T>
  CLI::Option* Number(const char* name, T* target, const NumberRange& range, const char* type,
                      const std::string& help) {
    CLI::Option* option = verb_->add_option(name, *target, help)->check(NumberIn(range));
    if constexpr (std::is_arithmetic_v<T>) option->capture_default_str();
    return option->type_name(type)->group(title_);
  }

  /// An amount of memory: given in GiB, stored in bytes.
  CLI::Option* Memory(const char* name, uint64_t* bytes, double low_gib, const std::string& help);

  /// A file or a word. Shows a default if the target is not empty.
  CLI::Option* Text(const char* name, std::string* target, const char* type,
                    const std::string& help);

  CLI::Option* Flag(const char* name, bool* target, const std::string& help);

  /// One of `words`, ignoring case. The first is the default. Other words are refused with the
  /// nearest one as a hint. `words` must outlive the parsing.
  template <class T>
  CLI::Option* Choice(const char* name, std::span<const NamedValue<T>> words, T* target,
                      const char* type, const std::string& help) {
    const auto store = [name, words, target](const std::string& given) {
      std::vector<std::string_view> known;
      for (const NamedValue<T>& word : words) {
        if (EditDistance(word.name, given) == 0) {
          *target = word.value;
          return;
        }
        known.push_back(word.name);
      }
      throw CLI::ValidationError(name, UnknownNameMessage("value", given, known));
    };
    return verb_->add_option_function<std::string>(name, store, help)
        ->default_str(words.front().name)
        ->type_name(type)
        ->group(title_);
  }

 private:
  CLI::App* verb_;
  std::string title_;
};

/// Help text of the source mesh of `check` and `bake`.
inline constexpr char kSourceHelp[] =
    "source mesh: glTF, OBJ, PLY, STL, 3MF or what else Assimp 5.2 reads (up to 2 GiB), or tets: "
    ".node/.ele, .msh or .vtk (up to 1 GiB)";

/// Adds --unit, --up, --scale, --import-time and --import-memory. *settings must outlive the
/// parsing.
void AddImportOptions(CLI::App* verb, ImportSettings* settings);

/// Adds --ratio, --max-volume, --split-surface, --tetgen, --tetgen-time and --tetgen-memory.
/// *settings must outlive the parsing.
void AddTetGenOptions(CLI::App* verb, TetGenSettings* settings);

/// Where finished bakes are kept.
struct CacheOptions {
  std::string folder;  ///< empty: nowhere
  uint64_t max_bytes = 10ull << 30;
};

/// Adds --cache and --cache-size. *cache must outlive the parsing.
void AddCacheOptions(CLI::App* verb, CacheOptions* cache);

/// The value of --cache-size that gives cache.max_bytes.
std::string CacheSizeText(const CacheOptions& cache);

}  // namespace plush::tools
