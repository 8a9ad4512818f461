// SPDX-License-Identifier: MIT
#include "bake/pin_regions.h"

#include "base/nearest_name.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace plush::tools {
namespace {

bool Contains(const PinRule& rule, const Vec3d& point) {
  if (rule.source == PinSource::kBox) {
    return Max(rule.low, Min(point, rule.high)) == point;
  }
  return LengthSquared(point - rule.centre) <= rule.radius * rule.radius;
}

bool IsVolume(const PinRule& rule) {
  return rule.source == PinSource::kBox || rule.source == PinSource::kSphere;
}

// Names that the rule's key could have been.
std::vector<std::string_view> Candidates(const PinRule& rule, const SurfaceMesh& surface) {
  std::vector<std::string_view> names;
  if (rule.source == PinSource::kMaterial || rule.source == PinSource::kNode) {
    for (const SurfacePart& part : surface.parts) {
      const std::string& name = rule.source == PinSource::kMaterial ? part.material : part.node;
      if (!name.empty()) names.push_back(name);
    }
  } else {
    for (const VertexAttribute& attribute : surface.attributes) names.push_back(attribute.name);
  }
  return names;
}

// Which vertices match, by an attribute or colour channel.
std::vector<bool> MatchValues(const PinRule& rule, const SurfaceMesh& surface) {
  std::vector<bool> matches(surface.positions.size(), false);
  for (const VertexAttribute& attribute : surface.attributes) {
    if (attribute.name != rule.key) continue;
    for (size_t v = 0; v < matches.size(); ++v) {
      matches[v] = static_cast<double>(attribute.values[v]) >= rule.threshold;
    }
  }
  return matches;
}

std::vector<bool> MatchParts(const PinRule& rule, const SurfaceMesh& surface) {
  std::vector<bool> matches(surface.positions.size(), false);
  for (const SurfacePart& part : surface.parts) {
    if ((rule.source == PinSource::kMaterial ? part.material : part.node) != rule.key) continue;
    for (uint32_t t = part.first_triangle; t < part.first_triangle + part.num_triangles; ++t) {
      for (const uint32_t vertex : surface.triangles[t]) matches[vertex] = true;
    }
  }
  return matches;
}

std::vector<bool> MatchVertices(const PinRule& rule, const SurfaceMesh& surface) {
  if (rule.source == PinSource::kMaterial || rule.source == PinSource::kNode) {
    return MatchParts(rule, surface);
  }
  if (!IsVolume(rule)) return MatchValues(rule, surface);
  std::vector<bool> matches(surface.positions.size(), false);
  for (size_t v = 0; v < matches.size(); ++v) matches[v] = Contains(rule, surface.positions[v]);
  return matches;
}

std::vector<uint32_t> NodesOf(const PinRule& rule, const SurfaceMesh& surface, const TetMesh& cage,
                              const AssetContent& content) {
  const std::vector<bool> matches = MatchVertices(rule, surface);
  std::vector<bool> pinned(cage.nodes.size(), false);
  for (size_t v = 0; v < matches.size(); ++v) {
    if (!matches[v]) continue;
    const auto& tet = cage.tets[content.tet_ids[v]];
    const Vec4& weights = content.weights[v];
    if (weights.x >= kPinWeight) pinned[tet[0]] = true;
    if (weights.y >= kPinWeight) pinned[tet[1]] = true;
    if (weights.z >= kPinWeight) pinned[tet[2]] = true;
    if (weights.w >= kPinWeight) pinned[tet[3]] = true;
  }
  std::vector<uint32_t> nodes;
  for (uint32_t i = 0; i < pinned.size(); ++i) {
    if (pinned[i] || (IsVolume(rule) && Contains(rule, cage.nodes[i]))) nodes.push_back(i);
  }
  return nodes;
}

std::string UnmatchedMessage(const PinRule& rule, const SurfaceMesh& surface) {
  const std::string region = "region '" + rule.name + "' matches nothing";
  if (IsVolume(rule)) return region + ": no vertex and no cage node lies in it";
  const std::vector<std::string_view> names = Candidates(rule, surface);
  if (std::find(names.begin(), names.end(), rule.key) != names.end()) {
    return region + ": no vertex reaches " + std::to_string(rule.threshold) + " in '" + rule.key +
           "'";
  }
  const char* kind = rule.source == PinSource::kMaterial ? "material"
                     : rule.source == PinSource::kNode   ? "node"
                                                         : "attribute";
  return region + ": " + UnknownNameMessage(kind, rule.key, names);
}

}  // namespace

std::vector<RegionContent> MakePinRegions(const std::vector<PinRule>& rules,
                                          const SurfaceMesh& surface, const TetMesh& cage,
                                          const AssetContent& content, FindingList* findings) {
  std::vector<RegionContent> regions;
  for (const PinRule& rule : rules) {
    std::vector<uint32_t> nodes = NodesOf(rule, surface, cage, content);
    if (nodes.empty()) {
      findings->Add("PIN_UNMATCHED", 1, UnmatchedMessage(rule, surface));
    } else {
      regions.push_back({rule.name, std::move(nodes)});
    }
  }
  std::sort(regions.begin(), regions.end(),
            [](const RegionContent& a, const RegionContent& b) { return a.name < b.name; });
  return regions;
}

std::vector<uint32_t> NodesOfRegions(const std::vector<RegionContent>& regions) {
  std::vector<uint32_t> nodes;
  for (const RegionContent& region : regions) {
    nodes.insert(nodes.end(), region.nodes.begin(), region.nodes.end());
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

void RenumberRegions(std::span<const uint32_t> node_order, std::vector<RegionContent>* regions) {
  std::vector<uint32_t> new_of_old(node_order.size());
  for (uint32_t i = 0; i < node_order.size(); ++i) new_of_old[node_order[i]] = i;
  for (RegionContent& region : *regions) {
    for (uint32_t& node : region.nodes) node = new_of_old[node];
    std::sort(region.nodes.begin(), region.nodes.end());
  }
}

}  // namespace plush::tools
