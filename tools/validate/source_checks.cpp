// SPDX-License-Identifier: MIT
// An asset against the mesh it claims to come from.

#include "plush/asset.h"

#include "base/aligned_bytes.h"
#include "base/text.h"
#include "validate/embedding_checks.h"
#include "validate/enclosure_checks.h"
#include "validate/tally.h"
#include "validate/validate.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>

namespace plush::tools {
namespace {

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

double SurfaceSize(const SurfaceMesh& surface) {
  if (surface.positions.empty()) return 0.0;
  Vec3d low = surface.positions[0];
  Vec3d high = low;
  for (const Vec3d& x : surface.positions) {
    low = Min(low, x);
    high = Max(high, x);
  }
  return Length(high - low);
}

double LargestCoordinate(const SurfaceMesh& surface) {
  double largest = 0.0;
  for (const Vec3d& x : surface.positions) {
    largest = std::max({largest, std::abs(x.x), std::abs(x.y), std::abs(x.z)});
  }
  return largest;
}

SourceErrors ComparePositions(const Asset& asset, const SurfaceMesh& surface,
                              FindingList* findings) {
  // The file's coordinates are those of the source rounded to float.
  const double allowed =
      kEmbeddingTolerance * SurfaceSize(surface) + 0x1p-21 * LargestCoordinate(surface);
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

// The render mesh that --embed put in the place of the tets' boundary stands in the settings.
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

SourceErrors ValidateAgainstSource(std::span<const std::byte> bytes, const ImportedModel& model,
                                   FindingList* findings) {
  const AlignedBytes file(bytes);
  Asset asset;
  // What is wrong inside the file is for ValidateAsset to say; lookups here check their indices.
  if (!asset.Open(file.bytes(), Trust::kValidated).ok()) return {};
  if (asset.source_hash() != model.source_hash) {
    AddSourceFinding("hash of the source", HexHash(asset.source_hash()), HexHash(model.source_hash),
                     findings);
  }
  CompareEmbedded(asset, model, findings);
  if (!SameCounts(asset.visual(), model.surface, findings)) return {};
  CompareTriangles(asset.visual(), model.surface, findings);
  SourceErrors errors = ComparePositions(asset, model.surface, findings);
  if (HasLatticeCage(asset)) errors.enclosed_triangles = CheckEnclosure(asset, findings);
  return errors;
}

}  // namespace plush::tools
