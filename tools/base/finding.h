// SPDX-License-Identifier: MIT
// Coded findings: what `plush check`, `bake` and `validate` say about an input.
#pragma once

#include "base/vec3.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace plush::tools {

enum class Severity { kError, kWarning, kInfo };

/// Most places that a finding lists; its count says how many there are.
inline constexpr size_t kMaxPlaces = 10;

/// Where a finding applies.
struct Place {
  Vec3d position;         ///< [m]
  int64_t triangle = -1;  ///< triangle index as imported, or -1
  int64_t element = -1;   ///< other index that the message explains (tet, second triangle), or -1
  std::string object;     ///< part, region or file section, may be empty
  bool has_position = true;  ///< false where no position applies
};

/// One thing found. Code, severity and remedy come from the table of finding_codes.h.
struct Finding {
  std::string code;
  Severity severity = Severity::kWarning;
  uint64_t count = 1;         ///< how often
  std::string message;        ///< one line with the numbers
  std::vector<Place> places;  ///< at most kMaxPlaces
  std::string remedy;         ///< what to do about it
};

/// The findings of one run, in the order in which they were added.
class FindingList {
 public:
  /// Adds a finding. `code` must stand in the table (an unknown one aborts: a bug of ours). Places
  /// beyond kMaxPlaces are dropped.
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
