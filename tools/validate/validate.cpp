// SPDX-License-Identifier: MIT
#include "validate/validate.h"

#include "plush/asset.h"
#include "plush/format/cdg_records.h"
#include "plush/format/factor_panels.h"
#include "plush/format/tet_block.h"

#include "bake/content_hash.h"
#include "base/aligned_bytes.h"
#include "validate/collision_checks.h"
#include "validate/embedding_checks.h"
#include "validate/factor_accuracy.h"
#include "validate/rest_checks.h"
#include "validate/structure_checks.h"
#include "validate/unpacked_collision.h"

#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <vector>

namespace plush::tools {
namespace {

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
  CheckCollisionSources(asset, collision, findings);
}

}  // namespace

void ValidateAsset(std::span<const std::byte> bytes, FindingList* findings) {
  const AlignedBytes file(bytes);
  const std::set<std::string> faults = CheckStructure(file.bytes(), findings);
  // Views exist wherever header, container and counts are sound; indices and numbers may still be
  // wrong, and each check below looks before it reads.
  Asset asset;
  if (!asset.Open(file.bytes(), Trust::kValidated).ok()) return;
  CheckContentHash(file.bytes(), asset.content_hash(), findings);
  CheckSettings(asset, findings);
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

}  // namespace plush::tools
