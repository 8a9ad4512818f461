// SPDX-License-Identifier: MIT
// World::Draw: bodies and colliders as points, lines, triangles and text for the game's functions.
// An edge of the cage belongs to two outside faces with opposite directions; one of them draws it.
#include "plush/pose.h"

#include "base/vector_math.h"
#include "world/outside_faces.h"
#include "world/world_impl.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace plush {
namespace {

enum Colour : uint32_t {
  kCageColour = 0x9aa4b2,
  kSurfaceColour = 0xd8b48a,
  kPinColour = 0xe0433a,
  kTargetColour = 0xf2a93b,
  kContactColour = 0x3fa34d,
  kBoundsColour = 0x5b6ee1,
  kColliderColour = 0x7a7a7a,
  kAttachmentColour = 0x17a2b8,
  kCurveColour = 0xd62839,
  kRegionColour = 0xf08080,
  kNameColour = 0xffffff,
  kAwakeColour = 0xe8c547,
  kAsleepColour = 0x4f7cac,
  kFrozenColour = 0xb5179e,
  kFixedColour = 0x6c757d,
  kDisabledColour = 0x3d3d3d,
};

// Calls those of the game's functions that are not null.
class Pen {
 public:
  explicit Pen(const DebugDraw& draw) : draw_(draw) {}

  bool Wants(uint32_t flags) const { return (draw_.flags & flags) != 0; }
  bool has_triangles() const { return draw_.triangle != nullptr; }
  bool has_lines() const { return draw_.line != nullptr; }

  void Point(const Vec3& p, float size, uint32_t colour) const {
    if (draw_.point != nullptr) draw_.point(draw_.user, p, size, colour);
  }
  void Line(const Vec3& a, const Vec3& b, uint32_t colour) const {
    if (draw_.line != nullptr) draw_.line(draw_.user, a, b, colour);
  }
  void Triangle(const Vec3& a, const Vec3& b, const Vec3& c, uint32_t colour) const {
    if (draw_.triangle != nullptr) draw_.triangle(draw_.user, a, b, c, colour);
  }
  void Text(const Vec3& p, const char* text, uint32_t colour) const {
    if (draw_.text != nullptr) draw_.text(draw_.user, p, text, colour);
  }

 private:
  const DebugDraw& draw_;
};

uint32_t StateColour(const Body& body) {
  if (!body.enabled) return kDisabledColour;
  if (body.fixed) return kFixedColour;
  if (body.frozen) return kFrozenColour;
  return body.asleep ? kAsleepColour : kAwakeColour;
}

float MedianEdge(const Body& body) { return body.simulation.median_edge * body.scale; }

void DrawCage(const Pen& pen, const Body& body, uint32_t colour) {
  if (!pen.has_lines()) return;
  struct Context {
    const Pen& pen;
    const Body& body;
    uint32_t colour;
  } context = {pen, body, colour};
  ForOutsideFaces(body.simulation.tets, &context, [](void* user, const OutsideFace& face) {
    const Context& c = *static_cast<const Context*>(user);
    for (int k = 0; k < 3; ++k) {
      const uint32_t from = face.nodes[k], to = face.nodes[(k + 1) % 3];
      if (from > to) continue;
      c.pen.Line(WorldPosition(c.body, c.body.x[from]), WorldPosition(c.body, c.body.x[to]),
                 c.colour);
    }
  });
}

Vec3 VertexPosition(const Body& body, uint32_t vertex) {
  const Tet& tet = body.simulation.tets[body.visual.tet_ids[vertex]];
  const Vec4& w = body.visual.weights[vertex];
  return WorldPosition(
      body, body.x[tet.a] * w.x + body.x[tet.b] * w.y + body.x[tet.c] * w.z + body.x[tet.d] * w.w);
}

void DrawSurface(const Pen& pen, const Body& body) {
  if (!pen.has_triangles()) return;
  const std::span<const uint32_t> corners = body.visual.indices;
  for (size_t k = 0; k + 2 < corners.size(); k += 3) {
    pen.Triangle(VertexPosition(body, corners[k]), VertexPosition(body, corners[k + 1]),
                 VertexPosition(body, corners[k + 2]), kSurfaceColour);
  }
}

void DrawPins(const Pen& pen, const Body& body) {
  constexpr float kPointSize = 0.2f;  // [median edges]
  for (size_t i = 0; i < body.x.size(); ++i) {
    if (!body.IsPinned(i)) continue;
    const Vec3 at = WorldPosition(body, body.x[i]);
    pen.Point(at, kPointSize * MedianEdge(body), kPinColour);
    if (!body.pins.moves || body.pins.regions[i] == PinMotion::kStays) continue;
    pen.Line(at, WorldPosition(body, body.pins.targets[i]), kTargetColour);
  }
}

// The unit normal of a plane in the world.
Vec3 NormalOf(const ColliderDesc& collider) {
  double n[3] = {collider.plane.normal.x, collider.plane.normal.y, collider.plane.normal.z};
  Turn(RotationOf(collider.pose.rotation), n);
  return {static_cast<float>(n[0]), static_cast<float>(n[1]), static_cast<float>(n[2])};
}

void DrawContacts(const Pen& pen, const Body& body) {
  constexpr float kPointSize = 0.1f, kNormalLength = 0.5f;  // [median edges]
  for (const PlaneContact& contact : body.contacts.Current()) {
    const Vec3 at = WorldPosition(body, body.contacts.PointOf(contact).Of(body.x));
    const Vec3 to = at + contact.plane.normal * (kNormalLength * MedianEdge(body));
    pen.Point(at, kPointSize * MedianEdge(body), kContactColour);
    pen.Line(at, to, kContactColour);
  }
}

void DrawBodyContact(const Pen& pen, const BodyContactPoint& contact, float edge) {
  constexpr float kPointSize = 0.1f, kNormalLength = 0.5f;  // [median edges]
  pen.Point(contact.point, kPointSize * edge, kContactColour);
  pen.Line(contact.point, contact.point + contact.normal * (kNormalLength * edge), kContactColour);
}

struct Box {
  Vec3 low = {std::numeric_limits<float>::max(), std::numeric_limits<float>::max(),
              std::numeric_limits<float>::max()};
  Vec3 high = -low;

  bool is_empty() const { return low.x > high.x; }
  void Add(const Vec3& p) {
    low = {std::fmin(low.x, p.x), std::fmin(low.y, p.y), std::fmin(low.z, p.z)};
    high = {std::fmax(high.x, p.x), std::fmax(high.y, p.y), std::fmax(high.z, p.z)};
  }
  /// Corner number 0 to 7: bit k picks the high side of axis k.
  Vec3 Corner(unsigned number) const {
    return {(number & 1u) != 0 ? high.x : low.x, (number & 2u) != 0 ? high.y : low.y,
            (number & 4u) != 0 ? high.z : low.z};
  }
};

void AddNodes(const Body& body, Box* box) {
  for (const NodeVec& x : body.x) box->Add(WorldPosition(body, x));
}

void DrawBox(const Pen& pen, const Box& box) {
  for (unsigned corner = 0; corner < 8; ++corner) {
    for (unsigned axis = 1; axis < 8; axis *= 2) {
      if ((corner & axis) == 0) {
        pen.Line(box.Corner(corner), box.Corner(corner | axis), kBoundsColour);
      }
    }
  }
}

void DrawName(const Pen& pen, const Body& body, const Box& box) {
  char text[11] = {};  // ten digits and the end
  char* first = text + sizeof(text) - 1;
  uint32_t number = body.slot;
  do {
    *--first = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number > 0);
  const Vec3 middle = box.low + (box.high - box.low) * 0.5f;
  pen.Text({middle.x, box.high.y, middle.z}, first, kNameColour);
}

void DrawBody(const Pen& pen, const Body& body) {
  if (pen.Wants(kDrawSleep)) {
    DrawCage(pen, body, StateColour(body));
  } else if (pen.Wants(kDrawCage) && body.enabled) {
    DrawCage(pen, body, kCageColour);
  }
  if (!body.enabled) return;
  if (pen.Wants(kDrawSurface)) DrawSurface(pen, body);
  if (pen.Wants(kDrawPins)) DrawPins(pen, body);
  if (pen.Wants(kDrawContacts)) DrawContacts(pen, body);
  if (!pen.Wants(kDrawBounds | kDrawNames)) return;
  Box box;
  AddNodes(body, &box);
  if (pen.Wants(kDrawBounds)) DrawBox(pen, box);
  if (pen.Wants(kDrawNames)) DrawName(pen, body, box);
}

// Draws a grid on the plane below the box, as wide as the box's diagonal, and its normal.
void DrawPlane(const Pen& pen, const ColliderDesc& collider, const Box& box) {
  constexpr int kCells = 8;
  const Vec3 n = NormalOf(collider);
  const Vec3 axis = std::fabs(n.x) < 0.6f ? Vec3{1.0f, 0.0f, 0.0f} : Vec3{0.0f, 1.0f, 0.0f};
  const Vec3 across = Cross(n, axis);
  const Vec3 s = across * (1.0f / Length(across)), t = Cross(n, s);
  const Vec3 middle =
      box.is_empty() ? collider.pose.position : box.low + (box.high - box.low) * 0.5f;
  const float half = box.is_empty() ? 1.0f : Length(box.high - box.low);
  const float height = Dot(n, middle - collider.pose.position) - collider.plane.offset;
  const Vec3 centre = middle - n * height;
  for (int k = 0; k <= kCells; ++k) {
    const float at = half * (2.0f * static_cast<float>(k) / static_cast<float>(kCells) - 1.0f);
    pen.Line(centre + s * at - t * half, centre + s * at + t * half, kColliderColour);
    pen.Line(centre + t * at - s * half, centre + t * at + s * half, kColliderColour);
  }
  pen.Line(centre, centre + n * (0.25f * half), kColliderColour);
}

// A point of a collider in the world.
Vec3 PlacedAt(const Pose& pose, const Vec3& local) {
  double at[3] = {local.x, local.y, local.z};
  Turn(RotationOf(pose.rotation), at);
  return pose.position +
         Vec3{static_cast<float>(at[0]), static_cast<float>(at[1]), static_cast<float>(at[2])};
}

Vec3 WhereAttached(const Body& body, const uint32_t (&nodes)[4], const Vec4& weights) {
  return WorldPosition(body, body.x[nodes[0]] * weights.x + body.x[nodes[1]] * weights.y +
                                 body.x[nodes[2]] * weights.z + body.x[nodes[3]] * weights.w);
}

// Draws the first `steps` 24ths of the circle centre + cos(t) a + sin(t) b.
void DrawArc(const Pen& pen, const Pose& pose, const Vec3& centre, const Vec3& a, const Vec3& b,
             int steps) {
  constexpr float kCos = 0.965925826f, kSin = 0.258819045f;  // of a step
  float c = 1.0f, s = 0.0f;
  for (int k = 0; k < steps; ++k) {
    const float next_c = c * kCos - s * kSin, next_s = s * kCos + c * kSin;
    pen.Line(PlacedAt(pose, centre + a * c + b * s),
             PlacedAt(pose, centre + a * next_c + b * next_s), kColliderColour);
    c = next_c;
    s = next_s;
  }
}

// Draws a sphere if `half_height` is zero.
void DrawCapsule(const Pen& pen, const Pose& pose, float half_height, float radius) {
  const Vec3 x = {radius, 0.0f, 0.0f}, y = {0.0f, radius, 0.0f}, z = {0.0f, 0.0f, radius};
  for (const float height : {half_height, -half_height}) {
    const Vec3 centre = {0.0f, height, 0.0f};
    DrawArc(pen, pose, centre, x, z, 24);
    for (const Vec3& side : {x, z}) DrawArc(pen, pose, centre, side, height < 0.0f ? -y : y, 12);
  }
  if (half_height == 0.0f) {
    for (const Vec3& side : {x, z}) DrawArc(pen, pose, {}, side, -y, 12);
    return;
  }
  const Vec3 top = {0.0f, half_height, 0.0f};
  for (const Vec3& side : {x, z, -x, -z}) {
    pen.Line(PlacedAt(pose, side + top), PlacedAt(pose, side - top), kColliderColour);
  }
}

void DrawSolidBox(const Pen& pen, const Pose& pose, const Vec3& half) {
  const Box box = {-half, half};
  for (unsigned corner = 0; corner < 8; ++corner) {
    for (unsigned axis = 1; axis < 8; axis *= 2) {
      if ((corner & axis) != 0) continue;
      pen.Line(PlacedAt(pose, box.Corner(corner)), PlacedAt(pose, box.Corner(corner | axis)),
               kColliderColour);
    }
  }
}

void DrawTriangles(const Pen& pen, const Pose& pose, const TriangleSource& mesh) {
  for (uint32_t triangle = 0; triangle < mesh.num_triangles(); ++triangle) {
    Vec3 corners[3];
    mesh.Corners(triangle, corners);
    for (int k = 0; k < 2; ++k) {  // the third edge is the neighbour's, or the border
      pen.Line(PlacedAt(pose, corners[k] * mesh.scale), PlacedAt(pose, corners[k + 1] * mesh.scale),
               kColliderColour);
    }
  }
}

// Draws the edges between faces.
void DrawHull(const Pen& pen, const Pose& pose, const Hull& hull) {
  for (const HullTriangle& triangle : hull.triangles) {
    for (int k = 0; k < 3; ++k) {
      const uint16_t from = triangle.corners[k], to = triangle.corners[(k + 1) % 3];
      if (from > to || hull.triangles[triangle.neighbours[k]].plane == triangle.plane) continue;
      pen.Line(PlacedAt(pose, hull.given[from]), PlacedAt(pose, hull.given[to]), kColliderColour);
    }
  }
}

// `around`: the bodies.
void DrawCollider(const Pen& pen, const Collider& collider, const Box& around) {
  const ColliderDesc& desc = collider.desc;
  switch (desc.type) {
    case ShapeType::kPlane:
      return DrawPlane(pen, desc, around);
    case ShapeType::kSphere:
      return DrawCapsule(pen, desc.pose, 0.0f, desc.sphere.radius);
    case ShapeType::kCapsule:
      return DrawCapsule(pen, desc.pose, desc.capsule.half_height, desc.capsule.radius);
    case ShapeType::kBox:
      return DrawSolidBox(pen, desc.pose, desc.box.half_extents);
    case ShapeType::kHeightField:
    case ShapeType::kMesh:
      return DrawTriangles(pen, desc.pose, collider.mesh);
    case ShapeType::kHull:
      return DrawHull(pen, desc.pose, *collider.hull);
  }
}

}  // namespace

void World::Impl::DrawAttachments(const DebugDraw& draw) const {
  constexpr float kPointSize = 0.2f;  // [median edges]
  const Pen pen(draw);
  for (const uint32_t slot : attachment_slots) {
    const AttachmentDesc& of = attachments[slot].desc;
    const Body& body = *bodies[SlotOf(of.body.value)];
    if (!body.enabled) continue;
    const Vec3 from = WhereAttached(body, of.nodes, of.weights);
    Vec3 to = of.target;
    if (of.other_body.valid()) {
      to = WhereAttached(*bodies[SlotOf(of.other_body.value)], of.other_nodes, of.other_weights);
    } else if (of.other_collider.valid()) {
      to = PlacedAt(colliders[SlotOf(of.other_collider.value)].desc.pose, of.target);
    }
    pen.Point(from, kPointSize * MedianEdge(body), kAttachmentColour);
    pen.Point(to, kPointSize * MedianEdge(body), kAttachmentColour);
    pen.Line(from, to, kAttachmentColour);
    if (attachments[slot].kind == ConstraintKind::kPoint) continue;
    const Vec3 arm = attachments[slot].direction * MedianEdge(body);  // of a line, or a normal
    pen.Line(to - arm, to + arm, kAttachmentColour);
  }
}

void World::Draw(const DebugDraw& draw) const {
  if (impl_ == nullptr) return;
  const Impl& w = *impl_;
  const Pen pen(draw);
  for (const uint32_t slot : w.slots) DrawBody(pen, *w.bodies[slot]);
  for (const TouchingPair& pair : w.touching_bodies.Past()) {
    const Body &a = *w.bodies[pair.first], &b = *w.bodies[pair.second];
    if (!pen.Wants(kDrawContacts) || !a.enabled || !b.enabled) continue;
    const float edge = std::fmin(MedianEdge(a), MedianEdge(b));
    for (uint32_t k = pair.begin; k < pair.end; ++k) {
      DrawBodyContact(pen, w.PlaceOfContact(pair, w.touching_bodies.past[k]), edge);
    }
  }
  if (pen.Wants(kDrawIntersections)) {
    impl_->ForIntersections(const_cast<Pen*>(&pen),
                            {[](void* user, const Vec3& from, const Vec3& to) {
                               static_cast<const Pen*>(user)->Line(from, to, kCurveColour);
                             },
                             [](void* user, const Vec3& a, const Vec3& b, const Vec3& c) {
                               static_cast<const Pen*>(user)->Triangle(a, b, c, kRegionColour);
                             }});
  }
  if (pen.Wants(kDrawAttachments)) w.DrawAttachments(draw);
  if (!pen.Wants(kDrawColliders)) return;
  Box all;
  for (const uint32_t slot : w.slots) {
    if (w.bodies[slot]->enabled) AddNodes(*w.bodies[slot], &all);
  }
  for (const uint32_t slot : w.collider_slots) DrawCollider(pen, w.colliders[slot], all);
}

}  // namespace plush
