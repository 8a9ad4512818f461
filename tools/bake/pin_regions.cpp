// SPDX-License-Identifier: MIT
// Shares of nodes by points that stand for mass or surface, and the choice of nodes by them.
#include "bake/pin_regions.h"

#include "bake/joint_pins.h"
#include "base/text.h"
#include "embed/embedding.h"
#include "lattice/cage_boundary.h"
#include "mesh/box3.h"
#include "rest/elimination_order.h"
#include "rest/rest_data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

namespace plush::tools {
namespace {

// Points of a whole tet that stand for its mass.
constexpr uint64_t kPointsOfTet = 64;

// Points of the surface are at most this share of a median edge apart.
constexpr double kSpacing = 0.25;

// Most tets that a straight walk passes.
constexpr int kMostSteps = 1000;

bool IsVolume(const PinRule& rule) {
  return rule.source == PinSource::kBox || rule.source == PinSource::kSphere;
}

bool IsOfParts(const PinRule& rule) {
  return rule.source == PinSource::kMaterial || rule.source == PinSource::kNode;
}

const std::string& NameIn(const SurfacePart& part, PinSource source) {
  return source == PinSource::kMaterial ? part.material : part.node;
}

// Distance of a point from what the rule encloses [m]; 0 inside.
double DistanceTo(const PinRule& rule, const Vec3d& point) {
  if (rule.source == PinSource::kBox) {
    const Vec3d off = Max(rule.low, Min(point, rule.high)) - point;
    return std::max({std::abs(off.x), std::abs(off.y), std::abs(off.z)});
  }
  return std::max(0.0, Length(point - rule.centre) - rule.radius);
}

// Of a box what overlaps the model's box counts [m].
double ThicknessOf(const PinRule& rule, const Box3& model) {
  const Vec3d size = Min(rule.high, model.high) - Max(rule.low, model.low);
  return rule.source == PinSource::kBox ? std::min({size.x, size.y, size.z}) : 2.0 * rule.radius;
}

// Vertices at which the rule's joint has enough weight. Joints that the rule has not found match
// nothing.
std::vector<bool> MatchJoint(const PinRule& rule, const SurfaceMesh& surface) {
  std::vector<bool> matches(surface.positions.size(), false);
  if (rule.joint < 0) return matches;
  const auto threshold = static_cast<float>(rule.threshold);
  for (const auto& [vertex, weight] : surface.joints[static_cast<size_t>(rule.joint)].weights) {
    if (weight >= threshold) matches[vertex] = true;
  }
  return matches;
}

// The names that the rule's key could have meant.
std::vector<std::string_view> Candidates(const PinRule& rule, const SurfaceMesh& surface) {
  std::vector<std::string_view> names;
  if (rule.source == PinSource::kJoint) {
    for (const SurfaceJoint& joint : surface.joints) names.push_back(joint.name);
  } else if (IsOfParts(rule)) {
    for (const SurfacePart& part : surface.parts) {
      const std::string& name = NameIn(part, rule.source);
      if (!name.empty()) names.push_back(name);
    }
  } else {
    for (const VertexAttribute& attribute : surface.attributes) names.push_back(attribute.name);
  }
  return names;
}

// The nodes near the rule's bone whose nearest vertex matches.
std::vector<uint32_t> NodesAlongBone(const PinRule& rule, const SurfaceMesh& surface,
                                     const TetMesh& cage, std::span<const uint32_t> nearest) {
  std::vector<uint32_t> nodes;
  if (rule.joint < 0) return nodes;
  const Bone bone(surface.joints, static_cast<uint32_t>(rule.joint));
  const std::vector<bool> matches = MatchJoint(rule, surface);
  for (uint32_t i = 0; i < cage.nodes.size(); ++i) {
    if (nearest[i] == UINT32_MAX || !matches[nearest[i]]) continue;
    if (bone.Distance(cage.nodes[i]) <= rule.radius) nodes.push_back(i);
  }
  return nodes;
}

// The nodes that carry the vertices of the rule's joint.
std::vector<uint32_t> NodesOfJoint(const PinRule& rule, const SurfaceMesh& surface,
                                   const TetMesh& cage, const AssetContent& content) {
  const std::vector<bool> matches = MatchJoint(rule, surface);
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
    if (pinned[i]) nodes.push_back(i);
  }
  return nodes;
}

// Points that stand for the surface, each for some area of a triangle.
struct SurfacePoints {
  std::vector<Vec3d> places;
  std::vector<uint32_t> triangles;
  std::vector<std::array<double, 3>> in_triangle;  // weights of the triangle's corners
  std::vector<double> areas;                       // [m^2]
  std::vector<uint32_t> tets;
  std::vector<std::array<double, 4>> weights;  // in the tet
};

// Adds the parts of a triangle with these corners, given by their weights in triangle `t`.
void AddParts(const SurfaceMesh& surface, uint32_t t,
              const std::array<std::array<double, 3>, 3>& corners, double spacing,
              SurfacePoints* points) {
  const auto place = [&](const std::array<double, 3>& w) {
    const auto& [a, b, c] = surface.triangles[t];
    return surface.positions[a] * w[0] + surface.positions[b] * w[1] + surface.positions[c] * w[2];
  };
  const auto middle = [](const std::array<double, 3>& a, const std::array<double, 3>& b) {
    return std::array{0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2])};
  };
  const std::array<Vec3d, 3> x = {place(corners[0]), place(corners[1]), place(corners[2])};
  size_t longest = 0;
  double length = 0.0;
  for (size_t k = 0; k < 3; ++k) {
    const double own = Length(x[(k + 1) % 3] - x[k]);
    if (own > length) longest = k;
    length = std::max(length, own);
  }
  if (length > spacing) {
    const auto& a = corners[longest];
    const auto& b = corners[(longest + 1) % 3];
    const auto& c = corners[(longest + 2) % 3];
    AddParts(surface, t, {a, middle(a, b), c}, spacing, points);
    AddParts(surface, t, {middle(a, b), b, c}, spacing, points);
    return;
  }
  points->places.push_back((x[0] + x[1] + x[2]) / 3.0);
  points->triangles.push_back(t);
  std::array<double, 3>& w = points->in_triangle.emplace_back();
  for (size_t k = 0; k < 3; ++k) w[k] = (corners[0][k] + corners[1][k] + corners[2][k]) / 3.0;
  points->areas.push_back(0.5 * Length(Cross(x[1] - x[0], x[2] - x[0])));
}

// The tet at the end of a straight line from `from`, a point of tet `tet`, to `to`, across faces;
// UINT32_MAX if the line leaves the cage. So a point of the surface is found in the strand that has
// the triangle's corner, also where strands overlap in space.
uint32_t Walk(const TetMesh& cage, const CageFaces& faces, uint32_t tet, const Vec3d& from,
              const Vec3d& to) {
  for (int step = 0; step < kMostSteps; ++step) {
    const TetCorners corners = CornersOf(cage, tet);
    const std::array<double, 4> begin = BarycentricWeights(from, corners);
    const std::array<double, 4> end = BarycentricWeights(to, corners);
    size_t exit = 4;
    double least = HUGE_VAL;
    for (size_t k = 0; k < 4; ++k) {
      if (end[k] >= -1e-12) continue;
      const double at = begin[k] / (begin[k] - end[k]);
      if (at < least) exit = k;
      least = std::min(least, at);
    }
    if (exit == 4) return tet;
    tet = faces.neighbours[tet][exit];
    if (tet == kBoundaryFace) return UINT32_MAX;
  }
  return UINT32_MAX;
}

// Each triangle is cut into four at least, so that each corner has points near it.
SurfacePoints SpreadSurface(const SurfaceMesh& surface, const TetMesh& cage,
                            const AssetContent& content, double spacing) {
  constexpr std::array<double, 3> kA = {1, 0, 0}, kB = {0, 1, 0}, kC = {0, 0, 1};
  constexpr std::array<double, 3> kAb = {0.5, 0.5, 0}, kBc = {0, 0.5, 0.5}, kCa = {0.5, 0, 0.5};
  SurfacePoints points;
  for (uint32_t t = 0; t < surface.triangles.size(); ++t) {
    for (const auto& part : {std::array{kA, kAb, kCa}, std::array{kAb, kB, kBc},
                             std::array{kCa, kBc, kC}, std::array{kAb, kBc, kCa}}) {
      AddParts(surface, t, part, spacing, &points);
    }
  }
  const CageFaces faces = FindCageFaces(cage);
  std::vector<uint32_t> hints;
  for (size_t i = 0; i < points.places.size(); ++i) {
    const uint32_t v = surface.triangles[points.triangles[i]][0];
    hints.push_back(Walk(cage, faces, content.tet_ids[v], surface.positions[v], points.places[i]));
  }
  const Embedding embedding = EmbedPoints(points.places, cage, hints);
  points.tets = embedding.tet_ids;
  for (const Vec4& w : embedding.weights) points.weights.push_back({w.x, w.y, w.z, w.w});
  return points;
}

// The shares of nodes in a region, as far as points tell.
class Shares {
 public:
  explicit Shares(size_t num_nodes) : inside_(num_nodes, 0.0), all_(num_nodes, 0.0) {}

  void Add(const std::array<uint32_t, 4>& tet, const std::array<double, 4>& weights, double amount,
           bool is_inside) {
    for (size_t k = 0; k < 4; ++k) {
      all_[tet[k]] += weights[k] * amount;
      if (is_inside) inside_[tet[k]] += weights[k] * amount;
    }
  }

  // Those of the nodes above `least` that are within `reach` of the region, and as many of the next
  // as it takes to hold a body: kFewestPinned that are not on a line. Ascending.
  std::vector<uint32_t> NodesAbove(double least, const TetMesh& cage, const PinRule& rule,
                                   double reach) const {
    std::vector<std::pair<double, uint32_t>> order;
    for (uint32_t i = 0; i < all_.size(); ++i) {
      if (inside_[i] > 0.0) order.emplace_back(-inside_[i] / all_[i], i);
    }
    std::sort(order.begin(), order.end());
    std::vector<uint32_t> nodes;
    std::vector<Vec3d> places;
    bool holds = false;
    for (const auto& [share, node] : order) {
      if (holds && !(-share > least)) break;
      if (holds && DistanceTo(rule, cage.nodes[node]) > reach) continue;
      nodes.push_back(node);
      places.push_back(cage.nodes[node]);
      holds = holds || (nodes.size() >= kFewestPinned && !AreOnLine(places));
    }
    std::sort(nodes.begin(), nodes.end());
    return nodes;
  }

 private:
  std::vector<double> inside_;
  std::vector<double> all_;
};

// Finds the nodes of one rule after the other.
class RegionFinder {
 public:
  RegionFinder(const SurfaceMesh& surface, const TetMesh& cage, const MassPoints& mass,
               const AssetContent& content)
      : surface_(surface), cage_(cage), mass_(mass), content_(content) {
    std::vector<Vec3> nodes;
    for (const Vec3d& node : cage.nodes) nodes.push_back(ToFloat(node));
    for (const Vec3d& position : surface.positions) model_.Add(position);
    median_edge_ =
        MedianEdge(BuildNodeGraph(static_cast<uint32_t>(nodes.size()), cage.tets), nodes);
  }

  // `*out_distance`: how far a box or sphere without nodes is from what it could hold [m].
  std::vector<uint32_t> NodesOf(const PinRule& rule, double* out_distance) {
    if (rule.source == PinSource::kJoint) {
      if (!(rule.radius > 0.0)) return NodesOfJoint(rule, surface_, cage_, content_);
      if (nearest_.empty()) nearest_ = NearestVertices(surface_, cage_, content_);
      return NodesAlongBone(rule, surface_, cage_, nearest_);
    }
    *out_distance = HUGE_VAL;
    if (IsVolume(rule) && ThicknessOf(rule, model_) >= median_edge_)
      return ByMass(rule, out_distance);
    return BySurface(rule, out_distance);
  }

 private:
  std::vector<uint32_t> ByMass(const PinRule& rule, double* out_distance) const {
    Shares shares(cage_.nodes.size());
    const auto add = [&](uint32_t t, const std::array<double, 4>& weights, double volume) {
      const auto [a, b, c, d] = CornersOf(cage_, t);
      const double distance =
          DistanceTo(rule, a * weights[0] + b * weights[1] + c * weights[2] + d * weights[3]);
      shares.Add(cage_.tets[t], weights, volume, distance <= 0.0);
      *out_distance = std::min(*out_distance, distance);
    };
    for (size_t i = 0; i < mass_.tets.size(); ++i) {
      add(mass_.tets[i], mass_.weights[i], mass_.volumes[i]);
    }
    for (uint32_t t = 0; mass_.tets.empty() && t < cage_.tets.size(); ++t) {
      const double volume = TetVolume(CornersOf(cage_, t)) / double{kPointsOfTet};
      for (uint64_t i = 0; i < kPointsOfTet; ++i) add(t, SampleWeights(i), volume);
    }
    return shares.NodesAbove(kPinnedMass, cage_, rule, 0.5 * median_edge_);
  }

  std::vector<uint32_t> BySurface(const PinRule& rule, double* out_distance) {
    if (!points_) points_ = SpreadSurface(surface_, cage_, content_, kSpacing * median_edge_);
    const std::vector<bool> of_parts = TrianglesOf(rule);
    const auto attribute = std::ranges::find(surface_.attributes, rule.key, &VertexAttribute::name);
    const auto is_inside = [&](size_t i) {
      const uint32_t t = points_->triangles[i];
      if (IsVolume(rule)) {
        const double distance = DistanceTo(rule, points_->places[i]);
        *out_distance = std::min(*out_distance, distance);
        return distance <= 0.0;
      }
      if (IsOfParts(rule)) return bool{of_parts[t]};
      if (attribute == surface_.attributes.end()) return false;
      double value = 0.0;
      for (size_t k = 0; k < 3; ++k) {
        value += points_->in_triangle[i][k] *
                 static_cast<double>(attribute->values[surface_.triangles[t][k]]);
      }
      return value >= rule.threshold;
    };
    Shares shares(cage_.nodes.size());
    for (size_t i = 0; i < points_->places.size(); ++i) {
      shares.Add(cage_.tets[points_->tets[i]], points_->weights[i], points_->areas[i],
                 is_inside(i));
    }
    return shares.NodesAbove(kPinnedSurface, cage_, rule, HUGE_VAL);
  }

  std::vector<bool> TrianglesOf(const PinRule& rule) const {
    std::vector<bool> triangles(surface_.triangles.size(), false);
    for (const SurfacePart& part : surface_.parts) {
      if (!IsOfParts(rule) || NameIn(part, rule.source) != rule.key) continue;
      std::fill_n(triangles.begin() + part.first_triangle, part.num_triangles, true);
    }
    return triangles;
  }

  const SurfaceMesh& surface_;
  const TetMesh& cage_;
  const MassPoints& mass_;
  const AssetContent& content_;
  Box3 model_;  // of the surface
  double median_edge_ = 0.0;
  std::optional<SurfacePoints> points_;  // made once, if a rule needs them
  std::vector<uint32_t> nearest_;        // the same, if a bone needs them
};

// `distance`: of a box or sphere from what it could hold [m].
std::string UnmatchedMessage(const PinRule& rule, const SurfaceMesh& surface, double distance) {
  const std::string region = "region '" + rule.name + "' matches nothing";
  if (rule.source == PinSource::kBox) {
    return region + ": it would hold something if it were larger by " + RoundedText(distance) +
           " m on each side";
  }
  if (rule.source == PinSource::kSphere) {
    return region + ": it would hold something with a radius of " +
           RoundedText(rule.radius + distance) + " m";
  }
  if (rule.source == PinSource::kJoint && surface.joints.empty()) {
    return region + ": the source has no joints that move its vertices";
  }
  if (rule.joint >= 0) {
    const std::string joint =
        " joint '" + surface.joints[static_cast<size_t>(rule.joint)].name + "'";
    const std::string reach = " a weight of " + RoundedText(rule.threshold);
    if (!(rule.radius > 0.0)) return region + ": at no vertex has" + joint + reach;
    return region + ": no cage node lies within " + RoundedText(rule.radius) + " m of the bone of" +
           joint + " and near a vertex at which it has" + reach;
  }
  const std::vector<std::string_view> names = Candidates(rule, surface);
  if (std::find(names.begin(), names.end(), rule.key) != names.end()) {
    return region + ": no vertex reaches " + std::to_string(rule.threshold) + " in '" + rule.key +
           "'";
  }
  // A colour's channels are attributes, too.
  const bool is_color = rule.source == PinSource::kColor;
  const PinSource kind = is_color ? PinSource::kAttribute : rule.source;
  return region + ": " + UnknownNameMessage(NameOf<PinSource>(kPinSources, kind), rule.key, names);
}

}  // namespace

std::vector<RegionContent> MakePinRegions(const std::vector<PinRule>& rules,
                                          const SurfaceMesh& surface, const TetMesh& cage,
                                          const MassPoints& mass, const AssetContent& content,
                                          FindingList* findings) {
  std::vector<RegionContent> regions;
  RegionFinder finder(surface, cage, mass, content);
  for (const PinRule& rule : rules) {
    double distance = 0.0;
    std::vector<uint32_t> nodes = finder.NodesOf(rule, &distance);
    if (nodes.empty()) {
      findings->Add("PIN_UNMATCHED", 1, UnmatchedMessage(rule, surface, distance));
      continue;
    }
    RegionContent& region = regions.emplace_back();
    region.name = rule.name;
    region.nodes = std::move(nodes);
    region.last = rule.last;
    if (rule.joint < 0) continue;
    const SurfaceJoint& joint = surface.joints[static_cast<size_t>(rule.joint)];
    region.rest = Pose{ToFloat(joint.position), joint.rotation};
  }
  std::sort(regions.begin(), regions.end(),
            [](const RegionContent& a, const RegionContent& b) { return a.name < b.name; });
  return regions;
}

std::vector<uint32_t> LastNodes(const std::vector<RegionContent>& regions) {
  std::vector<uint32_t> nodes;
  for (const RegionContent& region : regions) {
    if (!region.last) continue;
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
