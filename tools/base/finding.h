// SPDX-License-Identifier: MIT
// Coded findings: what `plush check`, `bake` and `validate` report about an input.
#pragma once

#include "base/vec3.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plush::tools {

enum class Severity { kError, kWarning, kInfo };

struct FindingCode {
  std::string_view code;  ///< stable name, UPPER_SNAKE
  Severity severity;
  std::string_view meaning;  ///< one sentence
  std::string_view remedy;   ///< one sentence
};

/// All rows in alphabetical order: the only place that gives a code its severity and texts.
std::span<const FindingCode> FindingCodes();

/// The row of `code`, or null.
const FindingCode* FindFindingCode(std::string_view code);

/// A finding lists at most this many places; its count may be larger.
inline constexpr size_t kMaxPlaces = 10;

/// Where a finding applies.
struct Place {
  Vec3d position;         ///< [m], if has_position
  int64_t triangle = -1;  ///< index as imported, or -1
  int64_t element = -1;   ///< another index that the message explains, or -1
  std::string object;     ///< part, region or file section; may be empty
  bool has_position = true;
};

/// One finding. Code, severity and remedy come from the table.
struct Finding {
  std::string code;
  Severity severity = Severity::kWarning;
  uint64_t count = 1;         ///< how often
  std::string message;        ///< one line with the numbers
  std::vector<Place> places;  ///< at most kMaxPlaces
  std::string remedy;
};

/// The findings of one run, in the order of Add.
class FindingList {
 public:
  /// Adds a finding. Aborts if the table lacks `code`: a bug of ours. Drops places beyond
  /// kMaxPlaces.
  void Add(const std::string& code, uint64_t count, std::string message,
           std::vector<Place> places = {});

  const std::vector<Finding>& all() const { return findings_; }
  bool Has(const std::string& code) const;
  bool HasSeverity(Severity severity) const;
  size_t CountOf(Severity severity) const;

 private:
  std::vector<Finding> findings_;
};

/// "error", "warning" or "info".
const char* SeverityName(Severity severity);

}  // namespace plush::tools
