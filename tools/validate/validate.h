// SPDX-License-Identifier: MIT
// Finds everything that is wrong with a .plush file, not only the first fault.
#pragma once

#include "base/finding.h"
#include "import/import.h"

#include <cstddef>
#include <optional>
#include <span>

namespace plush::tools {

/// Adds a FILE_... finding for every broken invariant of `bytes`: structure, version, layout,
/// content hash, counts, indices, ranges, orders, and the meaning of the rest data (volumes,
/// Dm^-1, masses, factor, embedding, collision surface) against the cage itself, or of the static
/// mesh.
void ValidateAsset(std::span<const std::byte> bytes, FindingList* findings);

/// Distances between a source mesh and its embedding, and how much of it is enclosed.
struct SourceErrors {
  double max_m = 0.0;
  double mean_m = 0.0;
  std::optional<size_t> enclosed_triangles;  ///< proved to be inside; lattice cages only
};

/// Compares an asset with the source it was baked from. Adds FILE_SOURCE if triangles, counts or
/// hashes differ, FILE_EMBEDDING if vertices are off by more than kEmbeddingTolerance of the size,
/// and for a lattice cage what CheckEnclosure adds.
SourceErrors ValidateAgainstSource(std::span<const std::byte> bytes, const ImportedModel& model,
                                   FindingList* findings);

}  // namespace plush::tools
