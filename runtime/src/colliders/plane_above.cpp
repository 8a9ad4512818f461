// SPDX-License-Identifier: MIT
// Source: plane_above.h.
#include "colliders/plane_above.h"

#include "base/vector_math.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace plush {
namespace {

// The mean normal of the triangles near a box, whatever their sizes. They count as their patches'
// normals.
Vec3 MeanNormal(const ColliderMesh& mesh, const MeshBox& box) {
  const float size = 0.5f * Length(box.high - box.low);
  Vec3 sum;
  mesh.ForPatches(box, [&](const FacePatch& patch, uint32_t above, uint32_t) {
    if (above > 0 && patch.radius > size) return true;
    sum += patch.normal * static_cast<float>(1u << (2 * above));
    return false;
  });
  const float length = Length(sum);
  return length > 0.0f ? sum * (1.0f / length) : Vec3{};
}

// Whether all triangles of a patch go up along a normal by the cosine `least`: by the sum of the
// angles from there to the patch's normal, and on to a triangle's.
bool GoesUp(const FacePatch& patch, const Vec3& normal, float least) {
  const float a = Dot(normal, patch.normal), b = patch.cosine;
  if (!(a > 0.0f && b > 0.0f)) return false;
  const float sines = std::sqrt(std::fmax((1.0f - a * a) * (1.0f - b * b), 0.0f));
  return a * b - sines >= least;
}

// How high a patch is along a normal, or more. In its ball, what is not along its own normal is no
// higher than the radius.
float HeightOf(const FacePatch& patch, const Vec3& normal) {
  const float along = std::fmax(Dot(normal, patch.normal), 0.0f);
  const float across = Length(normal - patch.normal * along);
  return Dot(normal, patch.middle) + along * patch.height + across * patch.radius;
}

}  // namespace

PlaneAbove FindPlaneAbove(const ColliderMesh& mesh, const MeshBox& box, float least) {
  constexpr float kRounding = 1.0e-6f;
  const Vec3 normal = MeanNormal(mesh, box);
  if (IsZero(normal)) return {};
  float highest = std::numeric_limits<float>::lowest();
  bool go_up = true;
  const auto add = [&](uint32_t triangle) {
    Vec3 corners[3];
    mesh.Corners(triangle, corners);
    if (!BoxAround(corners).Overlaps(box)) return;
    for (const Vec3& corner : corners) highest = std::fmax(highest, Dot(normal, corner));
  };
  mesh.ForPatches(box, [&](const FacePatch& patch, uint32_t above, uint32_t index) {
    const bool goes_up = GoesUp(patch, normal, least);
    if (!go_up || (goes_up && HeightOf(patch, normal) <= highest)) return false;
    if (above > 0) return true;
    go_up = goes_up;
    if (go_up) mesh.source->patches->ForTriangles(index, add);
    return false;
  });
  if (!go_up) return {};
  const Vec3 farthest =
      UpperOf(UpperOf(box.high, box.high * -1.0f), UpperOf(box.low, box.low * -1.0f));
  return {normal, highest + kRounding * (Length(farthest) + std::fabs(highest))};
}

}  // namespace plush
