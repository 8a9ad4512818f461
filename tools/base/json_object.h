// SPDX-License-Identifier: MIT
// Strict reading of JSON that people write by hand: scenes and side-cars.
//
//   Result<nlohmann::json> document = ParseJson(text);
//   std::string mistake;                                  // keeps the first one
//   JsonObject body(document.value(), "body", {"count", "static"}, &mistake);
//   body.Integer("count", 1, 100, &count);                // absent: count keeps its value
//   if (!mistake.empty()) return Error{ExitCode::kUsage, file + ": " + mistake};
#pragma once

#include "base/number_range.h"
#include "base/result.h"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plush::tools {

/// ParseJson refuses arrays and objects nested deeper than this.
inline constexpr int kMaxJsonDepth = 32;

/// Parses one JSON document. Errors: kUsage (malformed text, with line and column; nesting deeper
/// than kMaxJsonDepth; a key given twice in one object).
Result<nlohmann::json> ParseJson(std::string_view text);

/// Reads the values of one JSON object. Mistakes are unknown keys, wrong types, non-finite numbers
/// and numbers out of range. The first mistake of the document is kept with its place; reading goes
/// on. Each getter returns whether it stored a value.
class JsonObject {
 public:
  /// `value` and `mistake` must outlive the reader. `path` is the object's name in messages, such
  /// as "bodies[2]", and empty for the document itself.
  JsonObject(const nlohmann::json& value, std::string path,
             std::initializer_list<std::string_view> known_keys, std::string* mistake);

  bool Has(const char* key) const;  ///< given, and not null

  bool Number(const char* key, const NumberRange& range, double* out_number) const;
  bool Number(const char* key, const NumberRange& range, float* out_number) const;
  bool Integer(const char* key, int64_t low, int64_t high, uint32_t* out_integer) const;
  bool Integer(const char* key, int64_t low, int64_t high, int* out_integer) const;
  bool Boolean(const char* key, bool* out_boolean) const;
  bool String(const char* key, std::string* out_string) const;
  /// Exactly out_numbers.size() numbers, each of magnitude at most 1e9.
  bool Vector(const char* key, std::span<double> out_numbers) const;
  /// The elements of an array, or none. More than `max_count` elements are a mistake.
  std::span<const nlohmann::json> Array(const char* key, size_t max_count) const;
  /// The value itself, or null.
  const nlohmann::json* Value(const char* key) const;

  /// "path.key", for messages and nested readers.
  std::string PathOf(std::string_view key) const;
  /// Notes a mistake at `key` (empty: at the object itself), unless one is noted already.
  void Mistake(std::string_view key, const std::string& what) const;

 private:
  /// The value if `is_type` holds. Notes a mistake for any other value but null.
  const nlohmann::json* ValueOf(const char* key, bool (nlohmann::json::*is_type)() const noexcept,
                                const char* type) const;

  const nlohmann::json& value_;
  std::string path_;
  std::string* mistake_;
};

}  // namespace plush::tools
