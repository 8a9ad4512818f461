// SPDX-License-Identifier: MIT
// Runs every check of a file: the runtime's own, those of meaning, and those against the source
// mesh.
#include "validate/validate.h"

#include "plush/asset.h"
#include "plush/format/asset_check.h"
#include "plush/format/cdg_records.h"
#include "plush/format/factor_panels.h"
#include "plush/format/tet_block.h"

#include "bake/content_hash.h"
#include "base/aligned_bytes.h"
#include "base/text.h"
#include "validate/collision_checks.h"
#include "validate/rest_checks.h"
#include "validate/static_checks.h"
#include "validate/surface_checks.h"
#include "validate/tally.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace plush::tools {
namespace {

constexpr NamedValue<StatusCode> kHeaderCodes[] = {{"FILE_TRUNCATED", StatusCode::kTruncated},
                                                   {"FILE_NOT_PLUSH", StatusCode::kBadMagic},
                                                   {"FILE_VERSION", StatusCode::kForeignVersion},
                                                   {"FILE_LAYOUT", StatusCode::kLayoutMismatch}};

constexpr NamedValue<CheckKind> kCodes[] = {
    {"FILE_COUNTS", CheckKind::kCounts},        {"FILE_INDEX", CheckKind::kIndex},
    {"FILE_NON_FINITE", CheckKind::kNonFinite}, {"FILE_RANGE", CheckKind::kRange},
    {"FILE_ORDER", CheckKind::kOrder},          {"FILE_FACTOR", CheckKind::kFactor}};

// The container is at fault if no code is more precise.
std::string CodeOf(CheckKind kind, StatusCode status) {
  const std::string code = kind == CheckKind::kHeader ? NameOf<StatusCode>(kHeaderCodes, status)
                                                      : NameOf<CheckKind>(kCodes, kind);
  return code.empty() ? "FILE_STRUCTURE" : code;
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

  // The runtime's static text, and the numbers that it lacks.
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

// Makes every check of Asset::Open and adds one finding per section and fault. Returns the names
// of the sections at fault.
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

void CheckContentHash(std::span<const std::byte> bytes, uint64_t stored, FindingList* findings) {
  const std::optional<size_t> field = FindContentHash(bytes);
  if (field && ContentHash(bytes, *field) == stored) return;
  findings->Add("FILE_CONTENT_HASH", 1, "the content hash is not that of the file's bytes");
}

void CheckSettings(const Asset& asset, FindingList* findings) {
  if (nlohmann::json::accept(asset.settings())) return;
  findings->Add("FILE_STRUCTURE", 1, "settings: not a JSON text");
}

// Whether a section whose name starts with `prefix` is at fault.
bool IsAtFault(const std::set<std::string>& sections, const std::string& prefix) {
  const auto next = sections.lower_bound(prefix);
  return next != sections.end() && next->compare(0, prefix.size(), prefix) == 0;
}

void CheckCollision(const Asset& asset, FindingList* findings) {
  if (asset.collision().tets.empty()) return;
  const UnpackedCollision collision(asset.collision());
  CheckCollisionTopology(collision, findings);
  CheckCollisionBounds(asset, collision, findings);
  CheckPatchSums(asset, collision, findings);
  CheckThickness(asset, collision, findings);
  CheckCollisionSources(asset, collision, findings);
}

void AddSourceFinding(const std::string& what, const std::string& file, const std::string& source,
                      FindingList* findings) {
  findings->Add("FILE_SOURCE", 1, what + ": the file has " + file + ", the source " + source);
}

bool SameCounts(const VisualView& visual, const SurfaceMesh& surface, FindingList* findings) {
  const auto same = [findings](const char* what, size_t file, size_t source) {
    if (file == source) return true;
    AddSourceFinding(what, std::to_string(file), std::to_string(source), findings);
    return false;
  };
  const bool vertices = same("vertices", visual.positions.size(), surface.positions.size());
  const bool triangles = same("triangles", visual.indices.size() / 3, surface.triangles.size());
  return vertices && triangles;
}

void CompareTriangles(const VisualView& visual, const SurfaceMesh& surface, FindingList* findings) {
  Tally corners("FILE_SOURCE", "visual.indices", "triangles other than the source's");
  for (size_t i = 0; i < surface.triangles.size(); ++i) {
    if (!std::equal(surface.triangles[i].begin(), surface.triangles[i].end(),
                    visual.indices.begin() + static_cast<std::ptrdiff_t>(3 * i))) {
      corners.Add(i);
    }
  }
  corners.Report(findings);
}

SourceErrors ComparePositions(const Asset& asset, const SurfaceMesh& surface,
                              FindingList* findings) {
  // The file's coordinates are those of the source rounded to float.
  const Extent extent = ExtentOf(surface.positions);
  const double allowed = kEmbeddingTolerance * extent.size + 0x1p-21 * extent.reach;
  Tally places("FILE_EMBEDDING", "visual.weights", "off the source's vertex, deviation in metres");
  SourceErrors errors;
  for (size_t i = 0; i < surface.positions.size(); ++i) {
    const std::optional<Vec3d> embedded = EmbeddedPosition(asset, i);
    const double error = embedded ? Length(*embedded - surface.positions[i]) : HUGE_VAL;
    errors.max_m = std::max(errors.max_m, error);
    errors.mean_m += error / static_cast<double>(surface.positions.size());
    if (!(error <= allowed)) places.AddAt(i, surface.positions[i], error);
  }
  places.Report(findings);
  return errors;
}

// The settings name the render mesh that replaces the tets' boundary (--embed).
void CompareEmbedded(const Asset& asset, const ImportedModel& model, FindingList* findings) {
  const auto json = nlohmann::json::parse(asset.settings(), nullptr, false);
  std::string of_file = "none";
  if (json.is_object() && json.contains("embed") && json["embed"].is_string()) {
    of_file = json["embed"].get<std::string>();
  }
  const std::string given = model.embed_hash == 0 ? "none" : HexHash(model.embed_hash);
  if (of_file != given) AddSourceFinding("hash of the --embed file", of_file, given, findings);
}

}  // namespace

void ValidateAsset(std::span<const std::byte> bytes, FindingList* findings) {
  const AlignedBytes file(bytes);
  const std::set<std::string> faults = CheckStructure(file.bytes(), findings);
  // The views exist if header, container and counts are sound. Indices and numbers may still be
  // wrong: each check below looks before it reads.
  Asset asset;
  if (!asset.Open(file.bytes(), Trust::kValidated).ok()) return;
  CheckContentHash(file.bytes(), asset.content_hash(), findings);
  CheckSettings(asset, findings);
  if (asset.is_static()) {
    if (!IsAtFault(faults, "static_mesh.")) CheckStaticMeshMeaning(asset, findings);
    return;
  }
  CheckRestData(asset, findings);
  CheckMaterials(asset, findings);
  if (!IsAtFault(faults, "factor.") && !IsAtFault(faults, "simulation.")) {
    CheckFactorAccuracy(asset.simulation(), asset.factor(), findings);
  }
  CheckEmbedding(asset, findings);
  const bool is_sound = !IsAtFault(faults, "collision.") && !IsAtFault(faults, "simulation.tets") &&
                        !IsAtFault(faults, "simulation.nodes") && !IsAtFault(faults, "visual.");
  if (is_sound) CheckCollision(asset, findings);
}

SourceErrors ValidateAgainstSource(std::span<const std::byte> bytes, const ImportedModel& model,
                                   FindingList* findings) {
  const AlignedBytes file(bytes);
  Asset asset;
  // ValidateAsset reports faults inside the file; lookups here check their indices.
  if (!asset.Open(file.bytes(), Trust::kValidated).ok()) return {};
  if (asset.source_hash() != model.source_hash) {
    AddSourceFinding("hash of the source", HexHash(asset.source_hash()), HexHash(model.source_hash),
                     findings);
  }
  if (asset.is_static()) {
    CompareStaticMesh(asset, model, findings);
    return {};
  }
  CompareEmbedded(asset, model, findings);
  if (!SameCounts(asset.visual(), model.surface, findings)) return {};
  CompareTriangles(asset.visual(), model.surface, findings);
  SourceErrors errors = ComparePositions(asset, model.surface, findings);
  if (HasLatticeCage(asset)) errors.enclosed_triangles = CheckEnclosure(asset, findings);
  return errors;
}

}  // namespace plush::tools
