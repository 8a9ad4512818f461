// SPDX-License-Identifier: MIT
// Vertices inside other bodies by queries of the World, triangles that intersect by exact signs.
#include "scenes/body_overlap.h"

#include "plush/format/tet_block.h"

#include "collision/collision_state.h"
#include "intersection/body_pairs.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace plush::tests {
namespace {

constexpr float kMostDepth = 0.25f;  // of a body's size
constexpr size_t kMostTrianglePairs = 1 << 18;

// A body as it is now.
struct Shape {
  BodyId id;
  const Asset* asset = nullptr;
  bool fixed = false;
  float size = 0.0f;       // [m]
  std::vector<Vec3> x;     // nodes [m]
  std::vector<Vec3> skin;  // render vertices [m]
  Vec3 low, high;          // of the render vertices [m]
  CollisionState state;
};

bool Overlaps(const Shape& a, const Shape& b) {
  return a.low.x <= b.high.x && b.low.x <= a.high.x && a.low.y <= b.high.y && b.low.y <= a.high.y &&
         a.low.z <= b.high.z && b.low.z <= a.high.z;
}

bool Holds(const Shape& shape, const Vec3& p) {
  return shape.low.x <= p.x && p.x <= shape.high.x && shape.low.y <= p.y && p.y <= shape.high.y &&
         shape.low.z <= p.z && p.z <= shape.high.z;
}

// A ray meets a closed surface an odd number of times from inside.
bool IsInside(const World& world, BodyId id, const Vec3& p) {
  uint32_t count = 0;
  const Ray ray = {p, {0.31f, 0.87f, 0.38f}};
  return world.RaycastAll(id, ray, {}, &count).ok() && count % 2 == 1;
}

float DepthIn(const World& world, const Shape& shape, const Vec3& p) {
  SurfacePoint nearest;
  if (!Holds(shape, p) ||
      !world.ClosestPoint(shape.id, p, kMostDepth * shape.size, &nearest).ok() ||
      !nearest.valid() || nearest.front || !IsInside(world, shape.id, p)) {
    return 0.0f;
  }
  return nearest.distance;
}

float RestSize(const Asset& asset) {
  Vec3 low = asset.visual().positions[0], high = low;
  for (const Vec3& p : asset.visual().positions) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
  }
  return std::hypot(high.x - low.x, high.y - low.y, high.z - low.z);
}

}  // namespace

struct OverlapMeter::Impl {
  const World& world;
  std::vector<Shape> shapes;
  std::vector<TrianglePair> pairs;

  void Update(Shape* shape) const {
    (void)world.NodePositions(shape->id, 1.0f, std::span(shape->x).first(shape->x.size() - 1));
    (void)world.Skin(shape->id, 1.0f,
                     {.positions = shape->skin.data(),
                      .num_vertices = static_cast<uint32_t>(shape->skin.size())});
    shape->low = shape->high = shape->skin[0];
    for (const Vec3& p : shape->skin) {
      Vec3 &low = shape->low, &high = shape->high;
      low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
      high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
    }
    Refit(shape->asset->collision(), shape->x, &shape->state);
  }

  // Vertices of body `of` inside body `in`.
  void MeasureDepth(size_t of, size_t in, Overlap* all) const {
    const float size = std::min(shapes[of].size, shapes[in].size);
    for (const Vec3& p : shapes[of].skin) {
      const float depth = DepthIn(world, shapes[in], p);
      all->depth_m = std::max(all->depth_m, depth);
      if (!(depth > all->depth_share * size)) continue;
      all->depth_share = depth / size;
      all->deepest = p;
      all->bodies[0] = of;
      all->bodies[1] = in;
    }
  }

  uint32_t CountPairs(const Shape& a, const Shape& b) {
    const CollisionBody of_a = {a.asset->collision(), a.asset->simulation().nodes, a.x, a.state};
    const CollisionBody of_b = {b.asset->collision(), b.asset->simulation().nodes, b.x, b.state};
    return FindBodyPairs({of_a, {0, 0, 0}}, {of_b, {0, 0, 0}}, {}, pairs).pairs;
  }
};

OverlapMeter::OverlapMeter(const tools::SceneWorld& scene_world)
    : impl_(new Impl{*scene_world.world, {}, std::vector<TrianglePair>(kMostTrianglePairs)}) {
  for (const tools::SceneWorldBody& body : scene_world.bodies) {
    Shape shape;
    shape.id = body.id;
    shape.asset = &scene_world.asset_of(body);
    shape.fixed = body.fixed;
    shape.size = body.scale * RestSize(*shape.asset);
    shape.x.resize(shape.asset->simulation().nodes.size() + 1);  // vector loads read one more
    shape.skin.resize(shape.asset->visual().positions.size());
    if (!shape.state.Reserve(DefaultAllocator(), shape.asset->collision(), shape.x.size()))
      std::abort();
    impl_->shapes.push_back(std::move(shape));
  }
}

OverlapMeter::~OverlapMeter() = default;

float OverlapMeter::SizeOf(size_t body) const { return impl_->shapes[body].size; }

Overlap OverlapMeter::Measure(bool with_depths) {
  Impl& impl = *impl_;
  Overlap all;
  for (Shape& shape : impl.shapes) impl.Update(&shape);
  impl.world.PrepareQueries();
  for (size_t i = 0; i < impl.shapes.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const Shape &a = impl.shapes[i], &b = impl.shapes[j];
      if (!Overlaps(a, b) || (a.fixed && b.fixed)) continue;
      const uint32_t count = impl.CountPairs(a, b);
      all.triangle_pairs += count;
      all.body_pairs += count > 0 ? 1u : 0u;
      if (!with_depths) continue;
      impl.MeasureDepth(i, j, &all);
      impl.MeasureDepth(j, i, &all);
    }
  }
  return all;
}

}  // namespace plush::tests
