// SPDX-License-Identifier: MIT
#include "base/finding.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace plush::tools {

void FindingList::Add(const std::string& code, uint64_t count, std::string message,
                      std::vector<Place> places) {
  const FindingCode* row = FindFindingCode(code);
  if (row == nullptr) {
    std::fprintf(stderr, "plush: internal error: finding code '%s' is not in the table\n",
                 code.c_str());
    std::abort();
  }
  if (places.size() > kMaxPlaces) places.resize(kMaxPlaces);
  findings_.push_back({code, row->severity, count, std::move(message), std::move(places),
                       std::string(row->remedy)});
}

bool FindingList::Has(const std::string& code) const {
  return std::any_of(findings_.begin(), findings_.end(),
                     [&](const Finding& finding) { return finding.code == code; });
}

size_t FindingList::CountOf(Severity severity) const {
  return static_cast<size_t>(
      std::count_if(findings_.begin(), findings_.end(),
                    [&](const Finding& finding) { return finding.severity == severity; }));
}

bool FindingList::HasSeverity(Severity severity) const { return CountOf(severity) > 0; }

const char* SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kInfo:
      return "info";
  }
  return "error";
}

}  // namespace plush::tools
