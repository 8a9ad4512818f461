// SPDX-License-Identifier: MIT
// Turns a model's description into its mesh, step by step.

#include "material_borders.h"
#include "model.h"
#include "remeshing.h"
#include "surface_editor.h"

#include <algorithm>
#include <utility>

namespace plush::samples {
namespace {

constexpr int kFinalSmoothings = 3;

/// Puts the lowest vertex at y = 0. Returns how far the vertices moved down.
double StandOnGround(TriangleMesh* mesh) {
  double lowest = mesh->positions.front().y;
  for (const Vec3d& p : mesh->positions) lowest = std::min(lowest, p.y);
  for (Vec3d& p : mesh->positions) p.y -= lowest;
  return lowest;
}

/// 1 inside the solid, 0 outside, in between over `fade` metres.
double Share(const Solid& solid, double fade, const Vec3d& p) {
  return std::clamp(0.5 - samples::Distance(solid, p) / fade, 0.0, 1.0);
}

/// Shares of joints that overlap are scaled down; the first joint gets what is left.
VertexWeights WeightsAt(const std::vector<Joint>& joints, const Vec3d& p) {
  std::vector<std::pair<double, uint16_t>> shares;
  double sum = 0.0;
  for (uint16_t i = 1; i < joints.size(); ++i) {
    shares.emplace_back(Share(joints[i].flesh, joints[i].fade, p), i);
    sum += shares.back().first;
  }
  shares.emplace_back(std::max(0.0, 1.0 - sum), uint16_t{0});
  std::stable_sort(shares.begin(), shares.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  VertexWeights result;
  shares.resize(std::min(shares.size(), result.weights.size()));
  sum = 0.0;
  for (const auto& [share, joint] : shares) sum += share;
  for (size_t k = 0; k < shares.size() && shares[k].first > 0.0; ++k) {
    result.joints[k] = shares[k].second;
    result.weights[k] = static_cast<float>(shares[k].first / sum);
  }
  return result;
}

}  // namespace

Solid PaintedRegions(const Model& model) {
  Solid regions;
  for (const Paint& paint : model.paints) {
    const auto& blobs = paint.region.blobs;
    regions.blobs.insert(regions.blobs.end(), blobs.begin(), blobs.end());
  }
  return regions;
}

ModelMesh MakeModelMesh(const Model& model) {
  SurfaceEditor first(MarchTets(model.solid, model.inside, model.lattice_step));
  Remesh(model.solid, PaintedRegions(model), model.edge, &first);
  SurfaceEditor editor(first.Extract(nullptr));
  const MaterialLayout layout = CutMaterialBorders(model, &editor);
  ImproveTrianglesAtBorders(model, layout, &editor);
  for (int i = 0; i < kFinalSmoothings; ++i) {
    SmoothAlongSurface(model.solid, layout.locked, 0.5 * model.edge, &editor);
  }

  ModelMesh mesh;
  std::vector<uint32_t> triangle_of;
  mesh.surface = editor.Extract(&triangle_of);
  for (const Vec3d& p : mesh.surface.positions) {
    mesh.normals.push_back(Unit(Gradient(model.solid, p)));
    const double depth = -samples::Distance(model.pin, p) / model.pin_fade;
    mesh.pin.push_back(std::clamp(0.5 + depth, 0.0, 1.0));
    if (!model.joints.empty()) mesh.weights.push_back(WeightsAt(model.joints, p));
  }
  for (const uint32_t t : triangle_of) {
    mesh.material_of_triangle.push_back(layout.material_of_triangle[t]);
  }
  mesh.lowered = StandOnGround(&mesh.surface);
  return mesh;
}

}  // namespace plush::samples
