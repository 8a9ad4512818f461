// SPDX-License-Identifier: MIT
// The collision surface of a render mesh in the source's own tets: the mesh cut by the tets if they
// contain it, otherwise the boundary of the tets.
#include "plush/asset.h"
#include "plush/format/cdg_records.h"

#include "bake/bake.h"
#include "base/aligned_bytes.h"
#include "shapes/tet_shapes.h"
#include "tools/partition/partition_fixtures.h"
#include "tools/procedural_meshes.h"
#include "validate/validate.h"

#include <catch2/catch.hpp>

namespace plush::tests::embedded_surface_test {
namespace {

using tools::FindingList;
using tools::ImportedModel;

// A box of 1 m in jittered tets, and a mesh embedded in it.
ImportedModel Embedded(const SurfaceMesh& mesh) {
  ImportedModel model = tools::ModelFromTets(test::TetBox(4, 4, 4, 0.25, 0.09, 3));
  model.surface = mesh;
  model.embed_hash = 1;  // as the import sets it
  model.format = "test";
  return model;
}

struct BakedFile {
  explicit BakedFile(const ImportedModel& model) : bytes(Bytes(model)) {
    REQUIRE(asset.Open(bytes.bytes()).ok());
    FindingList faults;
    tools::ValidateAsset(bytes.bytes(), &faults);
    for (const auto& fault : faults.all()) UNSCOPED_INFO(fault.code << ": " << fault.message);
    CHECK(faults.all().empty());
  }

  std::vector<std::byte> Bytes(const ImportedModel& model) {
    auto baked = tools::Bake(model, {}, &findings);
    if (!baked.ok()) FAIL(baked.error().message);
    return std::move(baked.value().bytes);
  }

  SurfaceTotals Totals() const {
    const CollisionView& view = asset.collision();
    tools::CollisionData data;
    data.tets.assign(view.tets.begin(), view.tets.end());
    data.patches.assign(view.patches.begin(), view.patches.end());
    data.triangles.assign(view.triangles.begin(), view.triangles.end());
    data.wide_triangles.assign(view.wide_triangles.begin(), view.wide_triangles.end());
    data.vertices.assign(view.vertices.begin(), view.vertices.end());
    tools::TetMesh cage;
    for (const Vec3& x : asset.simulation().nodes) cage.nodes.push_back({x.x, x.y, x.z});
    return TotalsOf(data, cage);
  }

  FindingList findings;
  tools::AlignedBytes bytes;
  Asset asset;
};

SurfaceTotals TotalsOfMesh(const SurfaceMesh& mesh) {
  FindingList findings;
  return TotalsOf(tools::MakeSolidSurface(mesh, &findings));
}

}  // namespace

TEST_CASE("A mesh inside of its tets is cut by them") {
  for (const SurfaceMesh& mesh :
       {MakeSphere(0.35, 20, 30, {0.5, 0.5, 0.5}), MakeBox({0.2, 0.3, 0.2}, {0.8, 0.7, 0.7}),
        Joined(MakeSphere(0.1, 8, 12, {0.3, 0.3, 0.3}),
               MakeSphere(0.2, 12, 18, {0.6, 0.6, 0.6}))}) {
    const BakedFile file(Embedded(mesh));
    CHECK_FALSE(file.findings.Has("CDG_OUTSIDE"));
    const CollisionView& collision = file.asset.collision();
    CHECK(collision.num_triangles() > mesh.triangles.size());
    CHECK(collision.source_triangles.size() == collision.num_triangles());
    // The mesh's surface, not that of the tets.
    const SurfaceTotals before = TotalsOfMesh(mesh), after = file.Totals();
    CHECK(after.area == Approx(before.area).epsilon(1e-5));
    CHECK(after.euler == before.euler);
    CHECK(after.open_edges == 0);
  }
}

TEST_CASE("If a mesh leaves its tets, their boundary replaces it, and a finding says so") {
  const SurfaceMesh out_of_one_side = MakeSphere(0.3, 20, 30, {0.5, 0.5, 0.85});
  const BakedFile file(Embedded(out_of_one_side));
  REQUIRE(file.findings.Has("CDG_OUTSIDE"));
  bool has_place = false;
  for (const auto& finding : file.findings.all()) {
    has_place = has_place || (finding.code == "CDG_OUTSIDE" && !finding.places.empty());
  }
  CHECK(has_place);
  const BakedFile boundary(tools::ModelFromTets(test::TetBox(4, 4, 4, 0.25, 0.09, 3)));
  CHECK_FALSE(boundary.findings.Has("CDG_OUTSIDE"));
  const SurfaceTotals expected = boundary.Totals(), found = file.Totals();
  CHECK(file.asset.collision().num_triangles() == 6 * 4 * 4 * 2);
  CHECK(boundary.asset.collision().num_triangles() == 6 * 4 * 4 * 2);
  CHECK(found.area == Approx(expected.area).epsilon(1e-6));
  CHECK(found.open_edges == 0);
  // The render mesh is unchanged.
  CHECK(file.asset.visual().indices.size() == 3 * out_of_one_side.triangles.size());
}

}  // namespace plush::tests::embedded_surface_test
