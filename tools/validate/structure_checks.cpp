// SPDX-License-Identifier: MIT
#include "validate/structure_checks.h"

#include "plush/asset.h"
#include "plush/format/asset_check.h"

#include "validate/tally.h"

#include <vector>

namespace plush::tools {
namespace {

const char* HeaderCode(StatusCode code) {
  switch (code) {
    case StatusCode::kTruncated:
      return "FILE_TRUNCATED";
    case StatusCode::kBadMagic:
      return "FILE_NOT_PLUSH";
    case StatusCode::kForeignVersion:
      return "FILE_VERSION";
    case StatusCode::kLayoutMismatch:
      return "FILE_LAYOUT";
    default:
      return "FILE_STRUCTURE";
  }
}

const char* CodeOf(CheckKind kind, StatusCode status) {
  switch (kind) {
    case CheckKind::kHeader:
      return HeaderCode(status);
    case CheckKind::kStructure:
    case CheckKind::kAlignment:
      return "FILE_STRUCTURE";
    case CheckKind::kCounts:
      return "FILE_COUNTS";
    case CheckKind::kIndex:
      return "FILE_INDEX";
    case CheckKind::kNonFinite:
      return "FILE_NON_FINITE";
    case CheckKind::kRange:
      return "FILE_RANGE";
    case CheckKind::kOrder:
      return "FILE_ORDER";
    case CheckKind::kFactor:
      return "FILE_FACTOR";
  }
  return "FILE_STRUCTURE";
}

// One tally per kind, section and reason, in the order of their first failures.
struct Collector {
  struct Group {
    CheckKind kind;
    std::string section;
    std::string reason;
    Tally tally;
  };
  std::span<const std::byte> bytes;
  FindingList* findings;
  std::vector<Group> groups;
  std::set<std::string> whole_sections;  // at fault as a whole: reported at once

  void Add(CheckKind kind, const Status& status) {
    for (Group& group : groups) {
      if (group.kind == kind && group.section == status.section && group.reason == status.reason) {
        group.tally.Add(status.index);
        return;
      }
    }
    if (kind == CheckKind::kHeader || kind == CheckKind::kStructure) {
      findings->Add(CodeOf(kind, status.code), 1, status.section + (": " + MessageOf(status)));
      whole_sections.insert(status.section);
      return;
    }
    Tally tally(CodeOf(kind, status.code), status.section, MessageOf(status));
    tally.Add(status.index);
    groups.push_back({kind, status.section, status.reason, tally});
  }

  // The runtime's texts are static; here the numbers are added.
  std::string MessageOf(const Status& status) const {
    std::string text = status.reason;
    FormatVersion version;
    if (status.code == StatusCode::kForeignVersion && ReadFormatVersion(bytes, &version)) {
      text +=
          " (it is " + std::to_string(version.major) + "." + std::to_string(version.minor) + ")";
    }
    if (status.code == StatusCode::kTruncated) {
      text += " (it has " + std::to_string(bytes.size()) + " bytes)";
    }
    return text;
  }
};

}  // namespace

std::set<std::string> CheckStructure(std::span<const std::byte> bytes, FindingList* findings) {
  Collector collector{bytes, findings, {}, {}};
  CheckAsset(bytes, &collector, [](void* user, CheckKind kind, const Status& status) {
    static_cast<Collector*>(user)->Add(kind, status);
    return true;
  });
  std::set<std::string> sections = collector.whole_sections;
  for (const Collector::Group& group : collector.groups) {
    group.tally.Report(findings);
    sections.insert(group.section);
  }
  return sections;
}

}  // namespace plush::tools
