// SPDX-License-Identifier: MIT
// World::Skin and NodePositions: interpolates positions in each vertex's tet, now or between steps.
// The cofactor of the tet's F turns normals [Kug, Eq. 4], F itself tangents.
#include "base/invalid.h"
#include "base/vector_math.h"
#include "elasticity/elements.h"
#include "world/world_impl.h"

#include <cstddef>
#include <cstring>

namespace plush {
namespace {

// The body's nodes as they are now.
class CurrentNodes {
 public:
  explicit CurrentNodes(const Body& body) : body_(body) {}
  Vec3 Local(size_t node) const { return body_.x[node]; }
  Vec3 World(const Vec3& local) const { return WorldPosition(body_, local); }

 private:
  const Body& body_;
};

// The body's nodes between the state before the last step (alpha = 0) and now (1). Mixes the
// origins in double: a fast body's origin may have moved far within the step.
class MixedNodes {
 public:
  MixedNodes(const Body& body, float alpha) : body_(body), now_(alpha), before_(1.0f - alpha) {
    for (int k = 0; k < 3; ++k) {
      origin_[k] = (1.0 - double(alpha)) * body.previous_origin[k] + double(alpha) * body.origin[k];
    }
  }
  Vec3 Local(size_t node) const { return body_.previous[node] * before_ + body_.x[node] * now_; }
  Vec3 World(const Vec3& local) const {
    const double s = body_.scale;
    return {static_cast<float>(origin_[0] + s * double(local.x)),
            static_cast<float>(origin_[1] + s * double(local.y)),
            static_cast<float>(origin_[2] + s * double(local.z))};
  }

 private:
  const Body& body_;
  float now_, before_;
  double origin_[3];
};

// Calls visit(nodes) with the nodes at `alpha`.
template <class Visit>
void AtAlpha(const Body& body, float alpha, Visit visit) {
  if (alpha < 1.0f && body.has_previous && body.previous.size() == body.x.size()) {
    visit(MixedNodes(body, alpha));
  } else {
    visit(CurrentNodes(body));
  }
}

bool IsAlpha(float alpha) { return alpha >= 0.0f && alpha <= 1.0f; }
constexpr Status kNoAlpha = {StatusCode::kInvalidArgument, "alpha", "must lie in [0, 1]", 0};

bool IsStride(const void* output, size_t stride, size_t element) {
  return output == nullptr || (stride >= element && stride % 4 == 0);
}

Status CheckTarget(const VisualView& visual, const SkinTarget& target) {
  if (target.num_vertices != visual.positions.size()) {
    return Invalid("target.num_vertices", "must be that of the asset");
  }
  if (!IsStride(target.positions, target.position_stride, sizeof(Vec3))) {
    return Invalid("target.position_stride", "must be a multiple of 4, at least 12");
  }
  if (!IsStride(target.normals, target.normal_stride, sizeof(Vec3))) {
    return Invalid("target.normal_stride", "must be a multiple of 4, at least 12");
  }
  if (!IsStride(target.tangents, target.tangent_stride, sizeof(Vec4))) {
    return Invalid("target.tangent_stride", "must be a multiple of 4, at least 16");
  }
  if (target.tangents != nullptr && visual.tangents.size() != visual.positions.size()) {
    return Invalid("target.tangents", "the asset has no tangents");
  }
  return {};
}

template <class Element>
void Write(void* output, size_t stride, size_t vertex, const Element& element) {
  std::memcpy(static_cast<std::byte*>(output) + stride * vertex, &element, sizeof(Element));
}

template <class Nodes>
void SkinPositions(const Body& body, const Nodes& nodes, const SkinTarget& target) {
  for (size_t v = 0; v < target.num_vertices; ++v) {
    const Tet& tet = body.simulation.tets[body.visual.tet_ids[v]];
    const Vec4& w = body.visual.weights[v];
    const Vec3 local = nodes.Local(tet.a) * w.x + nodes.Local(tet.b) * w.y +
                       nodes.Local(tet.c) * w.z + nodes.Local(tet.d) * w.w;
    Write(target.positions, target.position_stride, v, nodes.World(local));
  }
}

template <class Nodes>
Mat3 GradientOf(const Body& body, const Nodes& nodes, uint32_t t) {
  const Tet& tet = body.simulation.tets[t];
  return DeformationGradient(nodes.Local(tet.a), nodes.Local(tet.b), nodes.Local(tet.c),
                             nodes.Local(tet.d), body.simulation.DmInv(t));
}

// v / |v|. If v vanishes, which it does only in a collapsed tet: `rest`, turned with the tet.
Vec3 UnitOr(const Vec3& v, const Body& body, uint32_t t, const Vec3& rest) {
  const float length = Length(v);
  return length > 1.0e-20f
             ? v * (1.0f / length)
             : RotationMatrix(body.Rotations().Get(body.simulation.tet_slots[t])) * rest;
}

template <class Nodes>
void SkinNormals(const Body& body, const Nodes& nodes, const SkinTarget& target) {
  for (size_t v = 0; v < target.num_vertices; ++v) {
    const uint32_t t = body.visual.tet_ids[v];
    const Vec3& rest = body.visual.normals[v];
    const Vec3 normal = Cofactor(GradientOf(body, nodes, t)) * rest;
    Write(target.normals, target.normal_stride, v, UnitOr(normal, body, t, rest));
  }
}

// The sign of the bitangent stays: F and its cofactor keep handedness, also in an inverted tet.
template <class Nodes>
void SkinTangents(const Body& body, const Nodes& nodes, const SkinTarget& target) {
  for (size_t v = 0; v < target.num_vertices; ++v) {
    const uint32_t t = body.visual.tet_ids[v];
    const Vec4& sign = body.visual.tangents[v];
    const Vec3 rest = {sign.x, sign.y, sign.z};
    const Vec3 tangent = UnitOr(GradientOf(body, nodes, t) * rest, body, t, rest);
    Write(target.tangents, target.tangent_stride, v, Vec4{tangent.x, tangent.y, tangent.z, sign.w});
  }
}

}  // namespace

Status World::Skin(BodyId id, float alpha, const SkinTarget& target) const {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, &body);
  if (!found.ok()) return found;
  if (!IsAlpha(alpha)) return kNoAlpha;
  const Status checked = CheckTarget(body->visual, target);
  if (!checked.ok()) return checked;
  AtAlpha(*body, alpha, [&](const auto& nodes) {
    if (target.positions != nullptr) SkinPositions(*body, nodes, target);
    if (target.normals != nullptr) SkinNormals(*body, nodes, target);
    if (target.tangents != nullptr) SkinTangents(*body, nodes, target);
  });
  return {};
}

Status World::NodePositions(BodyId id, float alpha, std::span<Vec3> positions) const {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, &body);
  if (!found.ok()) return found;
  if (!IsAlpha(alpha)) return kNoAlpha;
  if (positions.size() != body->x.size()) return kWrongSize;
  AtAlpha(*body, alpha, [&](const auto& nodes) {
    for (size_t i = 0; i < positions.size(); ++i) positions[i] = nodes.World(nodes.Local(i));
  });
  return {};
}

}  // namespace plush
