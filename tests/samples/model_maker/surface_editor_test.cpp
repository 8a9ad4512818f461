// SPDX-License-Identifier: MIT
#include "surface_editor.h"

#include "model_maker/surface_properties.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

using namespace plush::samples;
using namespace plush::tests;

namespace {

SurfaceEditor BallEditor() { return SurfaceEditor(MarchTets(BallSolid(), {}, 0.025)); }

/// One random change of a random edge. Returns whether it was made.
bool RandomChange(std::mt19937* random, SurfaceEditor* editor) {
  const std::vector<Edge> edges = editor->Edges();
  const auto [a, b] = edges[(*random)() % edges.size()];
  const Vec3d middle = 0.5 * (editor->position(a) + editor->position(b));
  switch ((*random)() % 4) {
    case 0:
      editor->Split(a, b, middle);
      return true;
    case 1:
      return editor->Collapse(a, b, middle);
    case 2:
      return editor->Flip(a, b);
    default:
      return editor->Move(a, 0.9 * editor->position(a) + 0.1 * middle);
  }
}

}  // namespace

TEST_CASE("Any sequence of changes leaves a closed manifold ball") {
  const unsigned seed = GENERATE(1u, 2u, 3u);
  INFO("seed " << seed);
  std::mt19937 random(seed);
  SurfaceEditor editor = BallEditor();
  const double volume = EnclosedVolume(editor.Extract(nullptr));
  int num_made = 0;
  for (int i = 0; i < 400; ++i) num_made += RandomChange(&random, &editor) ? 1 : 0;
  CHECK(num_made > 150);
  const TriangleMesh mesh = editor.Extract(nullptr);
  CHECK(IsClosedOrientedManifold(mesh));
  CHECK(EulerCharacteristic(mesh) == 2);
  CHECK(EnclosedVolume(mesh) == Approx(volume).epsilon(0.2));
}

TEST_CASE("A split adds one vertex and two triangles and leaves volume and orientation alone") {
  SurfaceEditor editor = BallEditor();
  const TriangleMesh before = editor.Extract(nullptr);
  const auto [a, b] = editor.Edges().front();
  const uint32_t vertex = editor.Split(a, b, 0.5 * (editor.position(a) + editor.position(b)));
  const TriangleMesh after = editor.Extract(nullptr);
  CHECK(after.positions.size() == before.positions.size() + 1);
  CHECK(after.triangles.size() == before.triangles.size() + 2);
  CHECK(EnclosedVolume(after) == Approx(EnclosedVolume(before)));
  CHECK(editor.Neighbours(vertex).size() == 4);
  CHECK_FALSE(editor.HasEdge(a, b));
}

TEST_CASE("A flip swaps an edge for the one between its opposite vertices") {
  SurfaceEditor editor = BallEditor();
  for (const auto& [a, b] : editor.Edges()) {
    const auto [c, d] = editor.Opposite(a, b);
    if (!editor.Flip(a, b)) continue;
    CHECK_FALSE(editor.HasEdge(a, b));
    CHECK(editor.HasEdge(c, d));
    const auto opposite = editor.Opposite(c, d);
    CHECK(std::minmax(opposite[0], opposite[1]) == std::minmax(a, b));
    return;
  }
  FAIL("no edge could be flipped");
}

TEST_CASE("Moves and collapses that would turn a triangle over are refused") {
  SurfaceEditor editor = BallEditor();
  const auto [a, b] = editor.Edges().front();
  const Vec3d far_side = -1.0 * editor.position(a);
  CHECK_FALSE(editor.Move(a, far_side));
  CHECK_FALSE(editor.Collapse(a, b, far_side));
  CHECK(editor.IsAlive(b));
}

TEST_CASE("A tetrahedron cannot be collapsed or flipped") {
  const TriangleMesh tetrahedron{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                                 {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}}};
  REQUIRE(IsClosedOrientedManifold(tetrahedron));
  SurfaceEditor editor(tetrahedron);
  for (const auto& [a, b] : editor.Edges()) {
    CHECK_FALSE(editor.Collapse(a, b, editor.position(a)));
    CHECK_FALSE(editor.Flip(a, b));
  }
}

TEST_CASE("Extraction maps its triangles to their sources and keeps their corners") {
  std::mt19937 random(4);
  SurfaceEditor editor = BallEditor();
  for (int i = 0; i < 100; ++i) RandomChange(&random, &editor);
  std::vector<uint32_t> triangle_of;
  const TriangleMesh mesh = editor.Extract(&triangle_of);
  REQUIRE(triangle_of.size() == mesh.triangles.size());
  for (size_t t = 0; t < mesh.triangles.size(); ++t) {
    for (int k = 0; k < 3; ++k) {
      const uint32_t source = editor.triangle(triangle_of[t])[k];
      REQUIRE(mesh.positions[mesh.triangles[t][k]] == editor.position(source));
    }
  }
}
