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
  return std::ranges::count(findings_, code, &Finding::code) > 0;
}

size_t FindingList::CountOf(Severity severity) const {
  return static_cast<size_t>(std::ranges::count(findings_, severity, &Finding::severity));
}

bool FindingList::HasSeverity(Severity severity) const { return CountOf(severity) > 0; }

const char* SeverityName(Severity severity) {
  constexpr const char* kNames[] = {"error", "warning", "info"};
  return kNames[static_cast<size_t>(severity)];
}

}  // namespace plush::tools
