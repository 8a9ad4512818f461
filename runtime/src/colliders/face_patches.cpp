// SPDX-License-Identifier: MIT
// Source: face_patches.h.
#include "colliders/face_patches.h"

#include "base/vector_math.h"
#include "colliders/mesh_box.h"
#include "colliders/ridge.h"
#include "collision/double_vector.h"
#include "collision/static_mesh.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace plush {
namespace {

constexpr float kRounding = 1.0e-5f;  // of cosines, and as a share of lengths

double LengthOf(const DoubleVector& v) { return std::sqrt(Dot(v, v)); }

// Unit, or zero.
DoubleVector UnitOf(const DoubleVector& v) {
  const double length = LengthOf(v);
  return length > 0.0 ? v * (1.0 / length) : DoubleVector{};
}

DoubleVector NormalOf(const StaticMeshView& mesh, uint32_t t) {
  const auto [a, b, c] = CornersOf(mesh, t);
  return UnitOf(Cross(Difference(b, a), Difference(c, a)));
}

// Whether FindRidge may find a ridge that a triangle with this normal owns, with some room for
// rounding.
bool MayHaveRidge(const StaticMeshView& mesh, uint32_t t, const DoubleVector& normal) {
  constexpr double kConcave = 0.03;  // sine; a sharp edge has more
  const StaticTriangle& triangle = mesh.triangles[t];
  for (size_t k = 0; k < 3; ++k) {
    const uint32_t other = triangle.neighbours[k];
    if (other == kNoTriangle || other < t) continue;
    const DoubleVector across = NormalOf(mesh, other);
    if (Dot(normal, across) > double(kSharpEdge) + double(kRounding)) continue;
    const std::array<Vec3, 3> corners = CornersOf(mesh, t);
    const DoubleVector back = UnitOf(Difference(corners[k], corners[(k + 1) % 3]));
    if (Dot(normal, Cross(across, back)) <= kConcave) return true;
  }
  return false;
}

FacePatch PatchOf(const StaticMeshView& mesh, uint32_t begin, std::span<const DoubleVector> normals,
                  std::span<const bool> have_ridges) {
  FacePatch patch;
  DoubleVector sum{};
  Vec3 low = CornersOf(mesh, begin)[0], high = low;
  const auto for_corners = [&](const auto& visit) {
    for (uint32_t t = begin; t < begin + normals.size(); ++t) {
      for (const Vec3& corner : CornersOf(mesh, t)) visit(corner);
    }
  };
  for (const DoubleVector& n : normals) sum = sum + n;
  for_corners([&](const Vec3& x) {
    low = LowerOf(low, x);
    high = UpperOf(high, x);
  });
  patch.middle = low * 0.5f + high * 0.5f;
  const DoubleVector normal = UnitOf(sum);
  patch.normal = InFloat(normal);
  double height = -std::numeric_limits<double>::infinity(), cosine = 1.0;
  for_corners([&](const Vec3& x) {
    const DoubleVector from_middle = Difference(x, patch.middle);
    patch.half = UpperOf(patch.half, UpperOf(InFloat(from_middle), InFloat(from_middle * -1.0)));
    height = std::max(height, Dot(InDouble(patch.normal), from_middle));
  });
  for (const DoubleVector& n : normals) {
    if (Dot(n, n) > 0.0) cosine = std::min(cosine, Dot(normal, n));
  }
  patch.half = patch.half * (1.0f + kRounding);
  patch.radius = Length(patch.half);
  patch.height = static_cast<float>(height) + kRounding * patch.radius;
  patch.cosine = static_cast<float>(cosine) - kRounding;
  patch.has_ridges = std::ranges::any_of(have_ridges, [](bool has) { return has; });
  return patch;
}

}  // namespace

FacePatches* MakeFacePatches(const Allocator& allocator, const StaticMeshView& mesh) {
  constexpr uint32_t kMost = FacePatches::kTriangles << (2 * (FacePatches::kLevels - 1));
  static_assert(kStaticChildren == 4);
  auto* const made = NewObject<FacePatches>(allocator);
  if (made == nullptr) return nullptr;
  made->mesh = &mesh;
  const auto num_triangles = static_cast<uint32_t>(mesh.triangles.size());
  for (uint32_t above = 0; above < FacePatches::kLevels; ++above) {
    const uint32_t size = FacePatches::kTriangles << (2 * above);
    made->first[above + 1] = made->first[above] + (size_t{num_triangles} + size - 1) / size;
  }
  if (!made->patches.Allocate(allocator, made->first[FacePatches::kLevels])) {
    DeleteObject(allocator, made);
    return nullptr;
  }
  for (uint32_t first = 0; first < num_triangles; first += kMost) {
    const uint32_t count = std::min(kMost, num_triangles - first);
    DoubleVector normals[kMost];
    bool have_ridges[kMost];
    for (uint32_t i = 0; i < count; ++i) {
      normals[i] = NormalOf(mesh, first + i);
      have_ridges[i] = MayHaveRidge(mesh, first + i, normals[i]);
    }
    for (uint32_t above = 0; above < FacePatches::kLevels; ++above) {
      const uint32_t size = FacePatches::kTriangles << (2 * above);
      for (uint32_t i = 0; i < count; i += size) {
        const uint32_t of_patch = std::min(size, count - i);
        made->patches[made->first[above] + (first + i) / size] =
            PatchOf(mesh, first + i, std::span(normals).subspan(i, of_patch),
                    std::span(have_ridges).subspan(i, of_patch));
      }
    }
  }
  return made;
}

}  // namespace plush
