// SPDX-License-Identifier: MIT
// Checks the indices and numbers of the render surface and of the cage's nodes, tets, materials and
// regions.
#include "asset/asset_checks.h"

#include "plush/format/tet_block.h"

#include "asset/check_sink.h"
#include "plush_generated.h"

#include <cmath>
#include <limits>
#include <string_view>

namespace plush {
namespace {

template <class Record>
std::span<const float> FloatsOf(std::span<const Record> records) {
  static_assert(sizeof(Record) % sizeof(float) == 0);
  return {reinterpret_cast<const float*>(records.data()),
          records.size() * (sizeof(Record) / sizeof(float))};
}

void CheckRecordNumbers(const auto& records, float lowest, float highest, const char* section,
                        CheckSink* sink) {
  CheckNumbers(FloatsOf(records), sizeof(records[0]) / sizeof(float), lowest, highest, section,
               sink);
}

void CheckScalar(float value, float lowest, float highest, const char* section, CheckSink* sink,
                 uint64_t index = 0) {
  if ((value >= lowest && value <= highest) || sink->stopped()) return;
  sink->FailNumber(value, section, index);
}

// Reports the elements that are not below `count`.
template <class Index>
void CheckIndices(std::span<const Index> indices, size_t count, const char* section,
                  CheckSink* sink) {
  ReportWhere(indices.size(), CheckKind::kIndex, section, "an index is not below its count", sink,
              [&](size_t i) { return indices[i] < count ? 0u : 1u; });
}

// Each part must begin where the previous one ends; together they cover all indices.
void CheckParts(const AssetLayout& layout, CheckSink* sink) {
  const char* section = "visual.parts";
  uint64_t next = 0;
  uint64_t number = 0;
  const auto* parts = layout.root->visual()->parts();
  for (uint32_t i = 0; parts != nullptr && i < parts->size() && !sink->stopped(); ++i, ++number) {
    const format::Part* part = parts->Get(i);
    if (part->first_index() != next) {
      sink->Fail(CheckKind::kOrder, section, "the part does not start where the last one ends", i);
    }
    if (part->num_indices() % 3 != 0 && !sink->stopped()) {
      sink->Fail(CheckKind::kCounts, section, "not three indices per triangle", i);
    }
    next = uint64_t{part->first_index()} + part->num_indices();
  }
  if (next != layout.visual.indices.size() && !sink->stopped()) {
    sink->Fail(CheckKind::kCounts, section, "the parts do not cover the indices", number);
  }
}

void CheckTets(const AssetLayout& layout, CheckSink* sink) {
  const char* section = "simulation.tets";
  const size_t num_nodes = layout.simulation.nodes.size();
  const std::span<const Tet> tets = layout.simulation.tets;
  for (size_t i = 0; i < tets.size() && !sink->stopped(); ++i) {
    const Tet& t = tets[i];
    if (t.a >= num_nodes || t.b >= num_nodes || t.c >= num_nodes || t.d >= num_nodes) {
      sink->Fail(CheckKind::kIndex, section, "a node index is not below the number of nodes", i);
    } else if (!IsSound(t, num_nodes)) {
      sink->Fail(CheckKind::kOrder, section, "the four nodes are not distinct", i);
    }
  }
}

// Names in a hostile file can share bytes. Refuse materials whose names together are longer than
// the file, so that work with them stays linear in its size.
void CheckMaterials(const AssetLayout& layout, CheckSink* sink) {
  const auto* materials = layout.root->simulation()->materials();
  uint64_t name_bytes = 0;
  for (uint32_t i = 0; i < materials->size() && !sink->stopped(); ++i) {
    const format::Material* material = materials->Get(i);
    name_bytes += ViewOf(material->name()).size();
    if (name_bytes > layout.file_bytes) {
      sink->Fail(CheckKind::kCounts, "simulation.materials", "the names overlap in the file", i);
      return;
    }
    CheckScalar(material->young(), kMinPositive, kMaxQuantity, "simulation.materials.young", sink,
                i);
    CheckScalar(material->poisson(), 0.0f, std::nextafter(0.5f, 0.0f),
                "simulation.materials.poisson", sink, i);
    CheckScalar(material->density(), kMinPositive, kMaxQuantity, "simulation.materials.density",
                sink, i);
    CheckScalar(material->friction(), -1.0f, kMaxQuantity, "simulation.materials.friction", sink,
                i);
    CheckScalar(material->restitution(), -1.0f, 1.0f, "simulation.materials.restitution", sink, i);
  }
  CheckIndices(layout.simulation.tet_materials, materials->size(), "simulation.tet_materials",
               sink);
}

void CheckRegionNodes(std::span<const uint32_t> nodes, size_t num_nodes, uint64_t region,
                      CheckSink* sink) {
  for (size_t i = 0; i < nodes.size() && !sink->stopped(); ++i) {
    if (nodes[i] >= num_nodes) {
      sink->Fail(CheckKind::kIndex, "simulation.regions.nodes",
                 "a node index is not below the number of nodes", region);
    } else if (i > 0 && nodes[i - 1] >= nodes[i]) {
      sink->Fail(CheckKind::kOrder, "simulation.regions.nodes", "the nodes do not ascend", region);
    }
  }
}

void CheckRestPose(const format::Pose* stored, uint64_t region, CheckSink* sink) {
  if (stored == nullptr || sink->stopped()) return;
  const char* section = "simulation.regions.rest";
  const Pose& rest = *reinterpret_cast<const Pose*>(stored);
  const Quat& q = rest.rotation;
  for (const float x : {rest.position.x, rest.position.y, rest.position.z}) {
    CheckScalar(x, -kMaxCoordinate, kMaxCoordinate, section, sink, region);
  }
  CheckScalar(std::sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w), 1.0f - kUnitRotation,
              1.0f + kUnitRotation, section, sink, region);
}

// Regions in a hostile file can share bytes. Refuse regions that together are longer than the file,
// so that this check stays linear in its size.
void CheckRegions(const AssetLayout& layout, CheckSink* sink) {
  const char* section = "simulation.regions";
  const auto* regions = layout.root->simulation()->regions();
  const size_t num_nodes = layout.simulation.nodes.size();
  std::string_view last;
  uint64_t region_bytes = 0;
  for (uint32_t i = 0; regions != nullptr && i < regions->size() && !sink->stopped(); ++i) {
    const std::string_view name = ViewOf(regions->Get(i)->name());
    const auto* vector = regions->Get(i)->nodes();
    const size_t size = vector == nullptr ? 0 : vector->size();
    region_bytes += name.size() + size * sizeof(uint32_t);
    if (region_bytes > layout.file_bytes) {
      sink->Fail(CheckKind::kCounts, section, "the regions overlap in the file", i);
      return;
    }
    if (name.empty()) {
      sink->Fail(CheckKind::kRange, section, "the name is empty", i);
    } else if (i > 0 && !(last < name)) {
      sink->Fail(CheckKind::kOrder, section, "the names do not ascend", i);
    }
    last = name;
    if (size > 0) CheckRegionNodes({vector->data(), size}, num_nodes, i, sink);
    CheckRestPose(regions->Get(i)->rest(), i, sink);
  }
}

}  // namespace

bool IsSound(const Tet& t, size_t num_nodes) {
  return t.a < num_nodes && t.b < num_nodes && t.c < num_nodes && t.d < num_nodes && t.a != t.b &&
         t.a != t.c && t.a != t.d && t.b != t.c && t.b != t.d && t.c != t.d;
}

void CheckNumbers(std::span<const float> numbers, size_t per_element, float lowest, float highest,
                  const char* section, CheckSink* sink) {
  const auto is_bad = [&](size_t i) { return IsOutside(numbers[i], lowest, highest); };
  ForEachBad(numbers.size(), *sink, is_bad,
             [&](size_t i) { sink->FailNumber(numbers[i], section, i / per_element); });
}

void CheckVisual(const AssetLayout& layout, CheckSink* sink) {
  const VisualView& visual = layout.visual;
  constexpr float kMax = std::numeric_limits<float>::max();
  CheckRecordNumbers(visual.positions, -kMaxCoordinate, kMaxCoordinate, "visual.positions", sink);
  CheckRecordNumbers(visual.normals, -kMaxNormal, kMaxNormal, "visual.normals", sink);
  CheckRecordNumbers(visual.tangents, -kMaxNormal, kMaxNormal, "visual.tangents", sink);
  CheckRecordNumbers(visual.uvs, -kMax, kMax, "visual.uvs", sink);
  CheckRecordNumbers(visual.weights, -kMaxWeight, kMaxWeight, "visual.weights", sink);
  CheckIndices(visual.indices, visual.positions.size(), "visual.indices", sink);
  CheckIndices(visual.tet_ids, layout.simulation.tets.size(), "visual.tet_ids", sink);
  CheckParts(layout, sink);
}

void CheckSimulation(const AssetLayout& layout, CheckSink* sink) {
  const SimulationView& s = layout.simulation;
  CheckRecordNumbers(s.nodes, -kMaxCoordinate, kMaxCoordinate, "simulation.nodes", sink);
  CheckNumbers(s.masses, 1, kMinPositive, kMaxQuantity, "simulation.masses", sink);
  CheckTets(layout, sink);
  CheckNumbers(s.tet_masses, 1, 0.0f, kMaxQuantity, "simulation.tet_masses", sink);
  CheckMaterials(layout, sink);
  CheckRegions(layout, sink);
  if ((s.components < 1 || s.components > s.nodes.size()) && !sink->stopped()) {
    sink->Fail(CheckKind::kRange, "simulation.components", "not between one and the nodes");
  }
  CheckScalar(s.density, kMinPositive, kMaxQuantity, "simulation.density", sink);
  CheckScalar(s.damping, 0.0f, kMaxDamping, "simulation.damping", sink);
  CheckScalar(s.solid_volume, 0.0f, kMaxQuantity, "simulation.solid_volume", sink);
  CheckScalar(s.median_edge, kMinPositive, kMaxCoordinate, "simulation.median_edge", sink);
}

void CheckTuning(const AssetLayout& layout, CheckSink* sink) {
  const format::Tuning* tuning = layout.root->tuning();
  if (tuning == nullptr) return;
  const auto check = [sink](bool good, const char* section) {
    if (!good && !sink->stopped()) {
      sink->Fail(CheckKind::kRange, section, "a number is outside its range");
    }
  };
  const bool is_implicit = tuning->solver() == format::TunedSolver::Implicit;
  check(is_implicit || tuning->solver() == format::TunedSolver::Splitting, "tuning.solver");
  check(tuning->newton_iterations() >= 1 && tuning->newton_iterations() <= 64,
        "tuning.newton_iterations");
  check(is_implicit ? tuning->linear_iterations() >= 1 && tuning->linear_iterations() <= 10000
                    : tuning->linear_iterations() == 0,
        "tuning.linear_iterations");
}

}  // namespace plush
