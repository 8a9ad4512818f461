// SPDX-License-Identifier: MIT
#include "intersection/pair_contacts.h"

#include "base/vector_math.h"
#include "intersection/correspondence.h"
#include "intersection/enclosed_pieces.h"
#include "intersection/volume_normals.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace plush {
namespace {

// A volume with fewer regions on one body may need several points of each to hold a face.
constexpr uint32_t kFewRegions = 4;
// A region is flat if its vector area is at least this share of its area.
constexpr float kFlat = 0.8f;

uint32_t RootOf(std::span<uint32_t> parents, uint32_t node) {
  while (parents[node] != node) node = parents[node] = parents[parents[node]];
  return node;
}

class Finder {
 public:
  Finder(const PlacedBody& moved, const PlacedBody& fixed, const LastNormal& last,
         PairScratch* scratch, std::span<PairContact> contacts)
      : scales_{moved.scale, fixed.scale},
        last_(last),
        sides_{{moved.body, {}, Surface::kMoved, &scratch->placed[0]},
               {fixed.body, OffsetTo(moved, fixed), Surface::kFixed, &scratch->placed[1]}},
        s_(*scratch),
        contacts_(contacts) {}

  PairContactCount Run(const PlacedBody& moved, const PlacedBody& fixed) {
    const BodyPairCount found = FindBodyPairs(moved, fixed, s_.placed, s_.pairs.span());
    count_.complete = found.complete;
    count_.pairs = found.pairs;
    FindTheCurves();
    // Curves of some pairs only need not close. So none bounds a region: they give contacts alone.
    for (FloodScratch& flood : s_.floods) flood.num_regions = 0;
    if (found.complete) FindRegions();
    NameVolumes();
    for (uint32_t side = 0; side < 2; ++side) AddRegions(side);
    AddArcs();
    AddMissing();
    if (found.complete) AddPieces();
    return count_;
  }

 private:
  std::span<const TrianglePair> pairs() const { return {s_.pairs.data(), count_.pairs}; }
  std::span<const Curve> curves() const { return {s_.curves.data(), count_.curves}; }
  std::span<const Region> RegionsOf(uint32_t side) const {
    return {s_.floods[side].regions.data(), s_.floods[side].num_regions};
  }
  uint32_t FirstNode(uint32_t side) const {
    return count_.curves + (side == 0 ? 0 : s_.floods[0].num_regions);
  }
  uint32_t VolumeOf(uint32_t node) const { return s_.parents[node]; }

  void FindTheCurves() {
    count_.curves = FindCurves(
        pairs(), {s_.joints.span(), s_.next.span(), s_.order.span(), s_.has_previous.span()},
        s_.curves.span());
    for (uint32_t c = 0; c < count_.curves; ++c) {
      const Curve& curve = s_.curves[c];
      count_.open |= count_.complete && !curve.closed;
      for (uint32_t i = 0; i < curve.count; ++i) s_.curve_of[s_.order[curve.first + i]] = c;
    }
  }

  void FindRegions() {
    for (uint32_t c = 0; c < count_.curves; ++c) s_.parents[c] = c;
    for (uint32_t side = 0; side < 2; ++side) {
      FloodScratch& flood = s_.floods[side];
      const uint32_t first = count_.curves + (side == 0 ? 0 : s_.floods[0].num_regions);
      Flood(sides_[side], sides_[1 - side], pairs(), {s_.curve_of.data(), count_.pairs}, curves(),
            first, &flood, this, [](void* user, uint32_t a, uint32_t b) {
              const std::span<uint32_t> parents = static_cast<Finder*>(user)->s_.parents.span();
              if (a == b) parents[a] = a;
              const uint32_t root_a = RootOf(parents, a), root_b = RootOf(parents, b);
              parents[std::max(root_a, root_b)] = std::min(root_a, root_b);
            });
      count_.complete &= flood.complete;
      count_.open |= flood.open;
      count_.regions += flood.num_regions;
    }
  }

  // Turns the parents into numbers of volumes, and finds the normals of curves.
  void NameVolumes() {
    const uint32_t nodes = count_.curves + count_.regions;
    for (uint32_t i = 0; i < nodes; ++i) s_.parents[i] = RootOf(s_.parents.span(), i);
    // A root is the least of its nodes, so its number is known before it is asked for.
    for (uint32_t i = 0; i < nodes; ++i)
      s_.parents[i] = s_.parents[i] == i ? count_.volumes++ : s_.parents[s_.parents[i]];
    VolumeNormals(curves(), {s_.parents.data(), nodes}, count_.volumes, RegionsOf(0), RegionsOf(1),
                  last_, s_.sums.span(), s_.normals.span());
  }

  const Vec3& NormalOf(uint32_t side, uint32_t region) const {
    const uint32_t curve = s_.floods[side].regions[region].curve;
    if (curve != kNoPair) return s_.normals[curve];
    return s_.sums[VolumeOf(FirstNode(side) + region)].normal;
  }

  void AddRegions(uint32_t side) {
    const std::span<const Region> regions = RegionsOf(side);
    for (uint32_t v = 0; v < count_.volumes; ++v) s_.sums[v].num_regions = 0;
    for (uint32_t i = 0; i < regions.size(); ++i)
      ++s_.sums[VolumeOf(FirstNode(side) + i)].num_regions;
    for (uint32_t i = 0; i < regions.size(); ++i) AddRegion(side, i);
  }

  void AddRegion(uint32_t side, uint32_t index) {
    const Region& region = s_.floods[side].regions[index];
    const Correspondence search = {
        sides_[side], sides_[1 - side], NormalOf(side, index), std::sqrt(region.area),
        scales_[side] * sides_[side].body.surface.patches[region.patch].thickness};
    if (!search.Faces(region.vector_area)) return;
    const uint32_t volume = VolumeOf(FirstNode(side) + index);
    const RegionPoints points(sides_[side], s_.floods[side], pairs(), region);
    PairContact middle;
    const bool has_middle = search.Find(points.Middle(), &middle);
    PairContact rim[4];
    uint32_t num_rim = 0;
    const bool flat = Length(region.vector_area) >= kFlat * region.area;
    if (flat && s_.sums[volume].num_regions < kFewRegions) {
      RegionPoint outer[4];
      const uint32_t num_outer = points.Outer(search.normal, outer);
      for (uint32_t i = 0; i < num_outer; ++i) {
        const float away = Length(outer[i].at - region.centroid);
        const bool wide = !has_middle || away > -middle.gap;
        if (wide && search.Find(outer[i], &rim[num_rim])) ++num_rim;
      }
    }
    if (num_rim >= 3 || (!has_middle && num_rim > 0)) {
      for (uint32_t i = 0; i < num_rim; ++i)
        Add(rim[i], region.area / static_cast<float>(num_rim), volume);
    } else if (has_middle) {
      Add(middle, region.area, volume);
    }
  }

  void Add(PairContact contact, float area, uint32_t volume) {
    if (count_.contacts == contacts_.size()) {
      count_.complete = false;
      return;
    }
    contact.area = area;
    contact.volume = volume;
    contacts_[count_.contacts++] = contact;
    if (volume < s_.sums.size()) s_.sums[volume].has_contact = true;
  }

  const TrianglePair& Follow(const Curve& curve, uint32_t i) const {
    return s_.pairs[s_.order[curve.first + i]];
  }

  // A contact where the surfaces touch, on one of a curve's segments: in the middle of a long one
  // whose points on both triangles agree. Where triangles are coplanar, segments are not exact.
  PairContact TouchOn(const Curve& curve, uint32_t begin, uint32_t end, const Vec3& normal) const {
    PairContact best;
    float score = -std::numeric_limits<float>::infinity();
    for (uint32_t i = begin; i < end; ++i) {
      const TrianglePair& pair = Follow(curve, i);
      const Vec3 at = 0.5f * (pair.from + pair.to);
      const RegionPoint moved = PlaceOn(sides_[0].CornersAt(pair.moved), pair.moved, at);
      const RegionPoint fixed = PlaceOn(sides_[1].CornersAt(pair.fixed), pair.fixed, moved.at);
      const float own = Length(pair.to - pair.from) - 1000.0f * Length(moved.at - fixed.at);
      if (own > score) score = own, best = Touching(moved, fixed, normal);
    }
    return best;
  }

  // An arc bounds no volume. It gives a contact for each stretch in the same two patches.
  void AddArcs() {
    for (uint32_t c = 0; c < count_.curves && !s_.curves[c].closed; ++c) {
      const Curve& arc = s_.curves[c];
      const auto patches = [&](uint32_t i) {
        const TrianglePair& pair = Follow(arc, i);
        return std::make_pair(sides_[0].PatchOf(pair.moved), sides_[1].PatchOf(pair.fixed));
      };
      for (uint32_t begin = 0; begin < arc.count;) {
        const auto of_stretch = patches(begin);
        uint32_t end = begin + 1;
        while (end < arc.count && patches(end) == of_stretch) ++end;
        Add(TouchOn(arc, begin, end, ArcNormal(arc, begin, end)), 0.0f, VolumeOf(c));
        begin = end;
      }
    }
  }

  // The mean normal of both surfaces along segments of an arc, out of the fixed body.
  Vec3 ArcNormal(const Curve& arc, uint32_t begin, uint32_t end) const {
    Vec3 sum;
    for (uint32_t i = begin; i < end; ++i) {
      const TrianglePair& pair = Follow(arc, i);
      const Vec3 out =
          UnitNormal(sides_[1].CornersAt(pair.fixed)) - UnitNormal(sides_[0].CornersAt(pair.moved));
      sum += out * Length(pair.to - pair.from);
    }
    const float length = Length(sum);
    return length > 0.0f ? sum * (1.0f / length) : Vec3{0.0f, 1.0f, 0.0f};
  }

  // A contact on the curves of each volume that has none: there the surfaces touch.
  void AddMissing() {
    for (uint32_t c = 0; c < count_.curves; ++c) {
      const uint32_t volume = VolumeOf(c);
      if (s_.sums[volume].has_contact) continue;
      const Curve& curve = s_.curves[c];
      const auto& area = curve.area;
      Add(TouchOn(curve, 0, curve.count, s_.normals[c]),
          ToFloat(std::sqrt(area[0] * area[0] + area[1] * area[1] + area[2] * area[2])), volume);
    }
  }

  void AddPieces() {
    for (uint32_t side = 0; side < 2; ++side) {
      ForEnclosedPieces(sides_[side], sides_[1 - side], &s_.floods[side],
                        [&](uint32_t triangle, float area) {
                          PairContact contact;
                          if (!NearestContact(sides_[side], sides_[1 - side], triangle, &contact))
                            return;
                          Add(contact, area, count_.volumes++);
                        });
    }
  }

  float scales_[2];
  const LastNormal& last_;
  PlacedSurface sides_[2];
  PairScratch& s_;
  std::span<PairContact> contacts_;
  PairContactCount count_;
};

}  // namespace

bool PairScratch::Reserve(const Allocator& allocator, const PairCapacity& capacity) {
  const size_t n = capacity.pairs;
  for (PlacedPatches& of_body : placed) {
    if (!of_body.Reserve(allocator, capacity.vertices, capacity.triangles, capacity.patches)) {
      return false;
    }
  }
  for (FloodScratch& flood : floods)
    if (!flood.Reserve(allocator, n, capacity.regions, capacity.triangles, capacity.patches))
      return false;
  return pairs.Allocate(allocator, n) && joints.Allocate(allocator, MostJoints(n)) &&
         next.Allocate(allocator, n) && order.Allocate(allocator, n) &&
         has_previous.Allocate(allocator, n) && curves.Allocate(allocator, n) &&
         curve_of.Allocate(allocator, n) && normals.Allocate(allocator, n) &&
         parents.Allocate(allocator, n + 2 * size_t{capacity.regions}) &&
         sums.Allocate(allocator, n + 2 * size_t{capacity.regions});
}

PairContactCount FindPairContacts(const PlacedBody& moved, const PlacedBody& fixed,
                                  PairScratch* scratch, std::span<PairContact> contacts,
                                  const LastNormal& last) {
  return Finder(moved, fixed, last, scratch, contacts).Run(moved, fixed);
}

}  // namespace plush
