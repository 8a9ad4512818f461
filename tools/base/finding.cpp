// SPDX-License-Identifier: MIT
#include "base/finding.h"

#include "base/finding_codes.h"

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
  for (const Finding& finding : findings_) {
    if (finding.code == code) return true;
  }
  return false;
}

size_t FindingList::CountOf(Severity severity) const {
  size_t count = 0;
  for (const Finding& finding : findings_) count += finding.severity == severity ? 1 : 0;
  return count;
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
