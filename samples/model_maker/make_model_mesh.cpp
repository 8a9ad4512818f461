// SPDX-License-Identifier: MIT
// Turns a model's description into its mesh, step by step.

#include "material_borders.h"
#include "model.h"
#include "remeshing.h"
#include "surface_editor.h"

#include <algorithm>

namespace plush::samples {
namespace {

constexpr int kFinalSmoothings = 3;

/// Puts the lowest vertex at y = 0.
void StandOnGround(TriangleMesh* mesh) {
  double lowest = mesh->positions.front().y;
  for (const Vec3d& p : mesh->positions) lowest = std::min(lowest, p.y);
  for (Vec3d& p : mesh->positions) p.y -= lowest;
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
  }
  for (const uint32_t t : triangle_of) {
    mesh.material_of_triangle.push_back(layout.material_of_triangle[t]);
  }
  StandOnGround(&mesh.surface);
  return mesh;
}

}  // namespace plush::samples
