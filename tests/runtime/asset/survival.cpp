// SPDX-License-Identifier: MIT
#include "runtime/asset/survival.h"

#include "plush/asset.h"
#include "plush/format/asset_check.h"
#include "plush/format/cdg_records.h"
#include "plush/format/factor_panels.h"
#include "plush/format/static_mesh.h"
#include "plush/format/tet_block.h"
#include "plush/world.h"

#include "collision/static_mesh.h"
#include "collision/static_mesh_query.h"
#include "runtime/collision/surface_fixtures.h"
#include "runtime/tet_fixtures.h"

#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace plush::test {
namespace {

// Keeps the first flaw and ignores later ones.
class Flaws {
 public:
  // Records `what` unless `good`. Returns whether nothing has been wrong so far.
  bool Check(bool good, const char* what, size_t index = 0) {
    if (!good && first_.empty()) first_ = std::string(what) + " " + std::to_string(index);
    return first_.empty();
  }
  void Below(std::span<const uint32_t> indices, size_t count, const char* what) {
    for (size_t i = 0; i < indices.size(); ++i) Check(indices[i] < count, what, i);
  }
  template <class Record>
  void Finite(std::span<const Record> records, double most, const char* what) {
    static_assert(sizeof(Record) % sizeof(float) == 0);
    const auto* floats = reinterpret_cast<const float*>(records.data());
    for (size_t i = 0; i < records.size_bytes() / sizeof(float); ++i) {
      Check(std::isfinite(floats[i]) && std::fabs(double(floats[i])) <= most, what, i);
    }
  }
  bool none() const { return first_.empty(); }
  const std::string& first() const { return first_; }

 private:
  std::string first_;
};

void CheckVisual(const Asset& asset, Flaws* flaws) {
  const VisualView& v = asset.visual();
  const size_t count = v.positions.size();
  flaws->Check(v.normals.size() == count && v.tet_ids.size() == count && v.weights.size() == count,
               "visual counts");
  flaws->Check(v.tangents.empty() || v.tangents.size() == count, "visual tangents count");
  flaws->Check(v.uvs.empty() || v.uvs.size() == count, "visual uvs count");
  flaws->Check(v.indices.size() % 3 == 0, "visual indices count");
  flaws->Finite(v.positions, 1e9, "visual position");
  flaws->Finite(v.normals, 1.01001, "visual normal");
  flaws->Finite(v.tangents, 1.01001, "visual tangent");
  flaws->Finite(v.uvs, HUGE_VAL, "visual uv");
  flaws->Finite(v.weights, 1e6, "visual weight");
  flaws->Below(v.indices, count, "visual index");
  flaws->Below(v.tet_ids, asset.simulation().tets.size(), "visual tet");
  uint64_t end = 0;
  for (uint32_t i = 0; i < asset.num_parts(); ++i) {
    const PartView part = asset.part(i);
    flaws->Check(part.first_index == end && part.num_indices % 3 == 0, "part", i);
    end += part.num_indices;
    flaws->Check(end <= v.indices.size(), "end of part", i);
  }
  flaws->Check(end == v.indices.size(), "end of parts");
}

void CheckTets(const Asset& asset, Flaws* flaws) {
  const SimulationView& s = asset.simulation();
  const size_t num_nodes = s.nodes.size(), num_slots = 16 * s.blocks.size();
  if (!flaws->Check(s.tet_slots.size() == s.tets.size() && s.tet_masses.size() == s.tets.size() &&
                        s.tet_materials.size() == s.tets.size(),
                    "counts of tets")) {
    return;
  }
  std::set<uint32_t> used;
  for (size_t t = 0; t < s.tets.size(); ++t) {
    const std::array<uint32_t, 4> nodes = {s.tets[t].a, s.tets[t].b, s.tets[t].c, s.tets[t].d};
    flaws->Below(nodes, num_nodes, "node of tet");
    flaws->Check(std::set<uint32_t>(nodes.begin(), nodes.end()).size() == 4, "nodes of tet", t);
    flaws->Check(s.tet_materials[t] < asset.num_materials(), "material of tet", t);
    const uint32_t slot = s.tet_slots[t];
    if (!flaws->Check(slot < num_slots && used.insert(slot).second, "slot of tet", t)) return;
    const TetBlock& block = s.blocks[slot / 16];
    for (size_t k = 0; k < 4; ++k) {
      flaws->Check(block.nodes[k][slot % 16] == nodes[k], "nodes in block of tet", t);
    }
    flaws->Check(block.det_dm_inv[slot % 16] > 0.0f && block.stiffness[slot % 16] > 0.0f &&
                     block.bulk[slot % 16] >= 0.0f,
                 "numbers in block of tet", t);
  }
  for (uint32_t slot = 0; slot < num_slots; ++slot) {
    const TetBlock& block = s.blocks[slot / 16];
    if (used.count(slot) != 0) continue;
    for (const auto& row : block.nodes) flaws->Check(row[slot % 16] == num_nodes, "spare", slot);
    flaws->Check(block.det_dm_inv[slot % 16] == 0.0f, "empty place", slot);
  }
  for (size_t b = 0; b < s.blocks.size(); ++b) {
    std::set<uint32_t> nodes;
    for (const auto& row : s.blocks[b].nodes) {
      for (const uint32_t node : row) {
        flaws->Check(node == num_nodes || nodes.insert(node).second, "node twice in block", b);
      }
    }
    flaws->Finite(std::span(&s.blocks[b].dm_inv[0][0], 12 * 16), 1e30, "float in block");
  }
}

// Clusters that share a tet are in one group. There are as many groups as components.
void CheckClusters(const CageView& cage, Flaws* flaws) {
  flaws->Check(cage.clusters.empty() == (cage.num_clusters == 0), "number of clusters");
  if (cage.clusters.empty()) return;
  const size_t count = cage.num_clusters;
  flaws->Check(cage.clusters.size() == cage.nodes.size(), "count of clusters");
  flaws->Check(count <= 256 && count <= cage.nodes.size(), "number of clusters");
  for (const uint16_t cluster : cage.clusters) flaws->Check(cluster < count, "cluster");
  if (!flaws->none()) return;
  flaws->Check(std::set(cage.clusters.begin(), cage.clusters.end()).size() == count, "use");
  std::vector<std::vector<bool>> linked(count, std::vector<bool>(count, false));
  for (const Tet& t : cage.tets) {
    for (const uint32_t i : {t.a, t.b, t.c, t.d}) {
      for (const uint32_t j : {t.a, t.b, t.c, t.d}) {
        linked[cage.clusters[i]][cage.clusters[j]] = true;
      }
    }
  }
  for (size_t k = 0; k < count; ++k) {
    for (size_t i = 0; i < count; ++i) {
      for (size_t j = 0; j < count; ++j) {
        if (linked[i][k] && linked[k][j]) linked[i][j] = true;
      }
    }
  }
  const std::set<std::vector<bool>> groups(linked.begin(), linked.end());
  flaws->Check(groups.size() == cage.components, "groups of clusters");
}

void CheckSimulation(const Asset& asset, Flaws* flaws) {
  const SimulationView& s = asset.simulation();
  flaws->Check(s.masses.size() == s.nodes.size(), "masses count");
  flaws->Finite(s.nodes, 1e9, "node");
  flaws->Finite(s.masses, 1e30, "mass");
  flaws->Finite(s.tet_masses, 1e30, "mass of tet");
  for (const float mass : s.masses) flaws->Check(mass > 0.0f, "sign of mass");
  for (const float mass : s.tet_masses) flaws->Check(mass >= 0.0f, "sign of mass of tet");
  const float scalars[] = {s.density, s.damping, s.solid_volume, s.median_edge};
  flaws->Finite(std::span<const float>(scalars), 1e30, "scalar");
  flaws->Check(s.density > 0.0f && s.damping >= 0.0f && s.solid_volume >= 0.0f &&
                   s.median_edge > 0.0f && s.components >= 1 && s.components <= s.nodes.size(),
               "sign of scalar");
  for (uint32_t i = 0; i < asset.num_materials(); ++i) {
    const MaterialView m = asset.material(i);
    const float numbers[] = {m.young, m.poisson, m.density};
    flaws->Finite(std::span<const float>(numbers), 1e30, "material");
    flaws->Check(m.young > 0.0f && m.poisson >= 0.0f && m.poisson < 0.5f && m.density > 0.0f,
                 "range of material", i);
  }
  for (uint32_t i = 0; i < asset.num_regions(); ++i) {
    const std::span<const uint32_t> nodes = asset.region(i).nodes;
    flaws->Below(nodes, s.nodes.size(), "node of region");
    for (size_t k = 1; k < nodes.size(); ++k) flaws->Check(nodes[k - 1] < nodes[k], "region", i);
    flaws->Check(!asset.region(i).name.empty(), "name of region", i);
    const Pose rest = asset.region(i).rest;
    const Quat& q = rest.rotation;
    flaws->Finite(std::span(&rest.position, 1), 1e9, "position of region");
    const double square =
        double{q.x} * q.x + double{q.y} * q.y + double{q.z} * q.z + double{q.w} * q.w;
    flaws->Check(square > 0.9979 && square < 1.0021, "rotation of region", i);
  }
  CheckTets(asset, flaws);
  if (flaws->none()) CheckClusters(s, flaws);
}

uint64_t Padded(uint64_t rows) { return (rows + 7) / 8 * 8; }

// Entries below the diagonal that the factor stores, by row and column.
std::vector<std::vector<bool>> StoredEntries(const FactorView& f, size_t num_nodes, Flaws* flaws) {
  std::vector<std::vector<bool>> stored(num_nodes, std::vector<bool>(num_nodes, false));
  uint64_t columns = 0, rows = 0, values = 0;
  for (size_t k = 0; k < f.supernodes.size(); ++k) {
    const Supernode& s = f.supernodes[k];
    columns += s.num_columns;
    if (!flaws->Check(s.num_columns >= 1 && s.num_columns <= 32 &&
                          uint64_t{s.first_column} + s.num_columns <= num_nodes &&
                          s.num_rows <= num_nodes && s.first_row == rows && s.first_value == values,
                      "supernode", k)) {
      return stored;
    }
    rows += Padded(s.num_rows);
    values += (Padded(s.num_rows) + Padded(s.num_columns)) * s.num_columns;
    if (!flaws->Check(rows <= f.rows.size() && values <= f.values.size(), "run", k)) return stored;
    const uint32_t end = s.first_column + s.num_columns;
    for (uint32_t column = s.first_column; column < end; ++column) {
      flaws->Check(f.supernode_of[column] == k, "owner of column", column);
      for (uint32_t row = column + 1; row < end; ++row) stored[row][column] = true;
    }
    flaws->Check(s.first_column >= f.num_free || end <= f.num_free, "side of supernode", k);
    for (uint64_t i = 0; i < Padded(s.num_rows); ++i) {
      const uint32_t row = f.rows[s.first_row + i];
      if (i >= s.num_rows) {
        flaws->Check(row == num_nodes, "padding of rows", k);
        continue;
      }
      const uint32_t last = i == 0 ? end - 1 : f.rows[s.first_row + i - 1];
      if (!flaws->Check(row < num_nodes && row > last, "row of supernode", k)) return stored;
      for (uint32_t column = s.first_column; column < end; ++column) stored[row][column] = true;
    }
  }
  flaws->Check(columns == num_nodes && rows == f.rows.size() && values == f.values.size(),
               "counts of factor");
  return stored;
}

void CheckFactor(const Asset& asset, Flaws* flaws) {
  const FactorView& f = asset.factor();
  const size_t n = asset.simulation().nodes.size();
  flaws->Check(std::isfinite(f.dt) && f.dt > 0.0f, "dt");
  flaws->Check(f.num_free <= n && f.supernode_of.size() == n, "counts of columns");
  flaws->Finite(f.values, 1e18, "value of factor");
  if (!flaws->none()) return;
  const auto stored = StoredEntries(f, n, flaws);
  if (!flaws->none()) return;
  // Eliminate one supernode after the other: fill joins all rows of a column.
  auto needed = std::vector<std::vector<bool>>(n, std::vector<bool>(n, false));
  for (const Tet& t : asset.simulation().tets) {
    for (const uint32_t i : {t.a, t.b, t.c, t.d}) {
      for (const uint32_t j : {t.a, t.b, t.c, t.d}) needed[i][j] = needed[i][j] || i > j;
    }
  }
  for (const Supernode& s : f.supernodes) {
    for (size_t c = s.first_column; c < size_t{s.first_column} + s.num_columns; ++c) {
      for (size_t i = c + 1; i < n; ++i) {
        if (!needed[i][c]) continue;
        flaws->Check(stored[i][c], "missing entry of column", c);
        for (size_t j = c + 1; j < i; ++j) needed[i][j] = needed[i][j] || needed[j][c];
      }
    }
  }
}

// Counts the leaves below node `node` of the tree; moves `node` past the sub-tree.
size_t CountLeaves(std::span<const uint32_t> tree, size_t depth, size_t* node, Flaws* flaws) {
  if (!flaws->Check(*node < tree.size() && depth <= 64, "tree", *node)) return 0;
  const uint32_t left = tree[(*node)++];
  if (left == 0) return 1;
  const size_t on_the_left = CountLeaves(tree, depth + 1, node, flaws);
  flaws->Check(on_the_left == left, "left leaves", *node);
  return flaws->none() ? left + CountLeaves(tree, depth + 1, node, flaws) : 0;
}

void CheckPatches(const CollisionView& c, size_t num_triangles, Flaws* flaws) {
  for (size_t p = 0; p < c.patches.size(); ++p) {
    const CdgPatch& patch = c.patches[p];
    const CdgPatch before = p == 0 ? CdgPatch{} : c.patches[p - 1];
    if (!flaws->Check(patch.tet < c.tets.size(), "tet of patch", p)) return;
    const size_t end =
        patch.tet + 1 < c.tets.size() ? c.tets[patch.tet + 1].first_patch : c.patches.size();
    flaws->Check(c.tets[patch.tet].first_patch <= p && p < end, "patch of tet", p);
    flaws->Check(patch.first_triangle < num_triangles && patch.first_vertex < c.vertices.size() &&
                     patch.first_link <= c.links.size(),
                 "run of patch", p);
    flaws->Check(p == 0 ? patch.first_triangle + patch.first_vertex + patch.first_link == 0
                        : patch.first_triangle > before.first_triangle &&
                              patch.first_vertex > before.first_vertex &&
                              patch.first_link >= before.first_link,
                 "order of patch", p);
    const float numbers[] = {patch.centroid.x,    patch.centroid.y,    patch.centroid.z,
                             patch.area,          patch.vector_area.x, patch.vector_area.y,
                             patch.vector_area.z, patch.thickness};
    flaws->Finite(std::span<const float>(numbers), 1e30, "number of patch");
  }
}

void CheckCollision(const Asset& asset, Flaws* flaws) {
  const CollisionView& c = asset.collision();
  const size_t num_triangles = c.triangles.size() + c.wide_triangles.size();
  flaws->Check(c.triangles.empty() || c.wide_triangles.empty(), "two kinds of triangles");
  flaws->Check(c.source_triangles.empty() || c.source_triangles.size() == num_triangles,
               "count of sources");
  flaws->Below(c.source_triangles, asset.visual().indices.size() / 3, "source");
  for (size_t t = 0; t < c.tets.size(); ++t) {
    const CdgTet& tet = c.tets[t];
    flaws->Below(tet.nodes, asset.simulation().nodes.size(), "node of CdgTet");
    for (int k = 0; k < 3; ++k) flaws->Check(tet.nodes[k] < tet.nodes[k + 1], "CdgTet", t);
    flaws->Check(tet.tet < asset.simulation().tets.size(), "tet of CdgTet", t);
    flaws->Check(t == 0 ? tet.first_patch == 0 : tet.first_patch > c.tets[t - 1].first_patch,
                 "first patch", t);
    const float low[] = {tet.low.x, tet.low.y, tet.low.z, tet.low.w};
    const float high[] = {tet.high.x, tet.high.y, tet.high.z, tet.high.w};
    for (int k = 0; k < 4; ++k) {
      flaws->Check(low[k] >= 0.0f && low[k] <= high[k] && high[k] <= 1.0f, "interval", t);
    }
  }
  size_t node = 0;
  if (!c.tets.empty()) {
    flaws->Check(CountLeaves(c.tree, 1, &node, flaws) == c.tets.size(), "leaves");
  }
  flaws->Check(node == c.tree.size(), "end of tree");
  flaws->Check(c.tets.empty() == c.patches.empty() && c.tets.empty() == (num_triangles == 0),
               "empty collision sections");
  CheckPatches(c, num_triangles, flaws);
  for (size_t t = 0; t < num_triangles; ++t) {
    for (size_t k = 0; k < 6; ++k) {
      uint32_t index = 0;
      if (c.triangles.empty()) {
        const CdgWideTriangle& wide = c.wide_triangles[t];
        index = k < 3 ? wide.vertices[k] : wide.neighbours[k - 3];
      } else {
        index = c.triangles[t].words[k] & 0x1fffffu;
        if (k >= 3 && index == 0x1fffffu) index = UINT32_MAX;
      }
      flaws->Check(
          index < (k < 3 ? c.vertices.size() : num_triangles) || (k >= 3 && index == UINT32_MAX),
          "index of triangle", t);
    }
  }
  for (const Vec4& w : c.vertices) {
    flaws->Check(w.x >= 0 && w.y >= 0 && w.z >= 0 && w.w >= 0 && w.x <= 1 && w.y <= 1 && w.z <= 1 &&
                     w.w <= 1,
                 "weight of vertex");
  }
  for (const uint32_t link : c.links) flaws->Check((link & 0x7fffffffu) < c.patches.size(), "link");
}

void CheckStatic(const Asset& asset, Flaws* flaws) {
  const StaticMeshView& m = asset.static_mesh();
  const size_t count = m.triangles.size();
  flaws->Check(count > 0 && m.materials.size() == count, "static counts");
  flaws->Finite(m.positions, 1e9, "static position");
  for (size_t t = 0; t < count && flaws->none(); ++t) {
    const StaticTriangle& triangle = m.triangles[t];
    flaws->Below(triangle.vertices, m.positions.size(), "static vertex");
    flaws->Check(m.materials[t] < asset.num_materials(), "static material", t);
    for (size_t k = 0; k < 3 && flaws->none(); ++k) {
      const uint32_t other = triangle.neighbours[k];
      if (other == kNoTriangle || !flaws->Check(other < count, "static neighbour", t)) continue;
      size_t back = 0;
      for (size_t j = 0; j < 3; ++j) {
        back += m.triangles[other].neighbours[j] == t &&
                        m.triangles[other].vertices[j] == triangle.vertices[(k + 1) % 3] &&
                        m.triangles[other].vertices[(j + 1) % 3] == triangle.vertices[k]
                    ? 1
                    : 0;
      }
      flaws->Check(back == 1 && other != t, "static link", t);
    }
  }
  // Nodes of each level, from 4 triangles a leaf and 4 children a node.
  size_t nodes = 0;
  for (size_t n = (count + 15) / 16;; n = (n + 3) / 4) {
    nodes += n;
    if (n == 1) break;
  }
  flaws->Check(m.tree.size() == nodes, "static tree");
  flaws->Check(static_cast<unsigned>(m.sides) <= 2, "static sides");
}

// Checks every index and float of an opened asset, and that the factor has all entries it needs.
// Written from the meaning of the fields in schemas/plush.fbs: calls none of the product's checks
// and none of its helpers for packed data. Returns the first flaw, or an empty string.
// O(num_nodes^3), for small assets.
std::string FindFlaw(const Asset& asset) {
  Flaws flaws;
  if (asset.is_static()) {
    CheckStatic(asset, &flaws);
    return flaws.first();
  }
  CheckVisual(asset, &flaws);
  if (flaws.none()) CheckSimulation(asset, &flaws);
  if (flaws.none()) CheckFactor(asset, &flaws);
  if (flaws.none()) CheckCollision(asset, &flaws);
  return flaws.first();
}

bool CountFailure(void* user, CheckKind /*kind*/, const Status& /*status*/) {
  ++*static_cast<size_t*>(user);
  return true;
}

// Reads each byte of a view. A sanitizer reports reads outside the buffer.
template <class T>
unsigned Touch(std::span<const T> view) {
  unsigned sum = 0;
  for (const std::byte byte : std::as_bytes(view)) sum += static_cast<unsigned>(byte);
  return sum;
}

unsigned Touch(std::string_view text) { return Touch(std::span(text.data(), text.size())); }

unsigned TouchEverything(const Asset& asset) {
  const VisualView& v = asset.visual();
  const SimulationView& s = asset.simulation();
  const FactorView& f = asset.factor();
  const CollisionView& c = asset.collision();
  const StaticMeshView& m = asset.static_mesh();
  unsigned sum = Touch(v.positions) + Touch(v.normals) + Touch(v.tangents) + Touch(v.uvs) +
                 Touch(v.indices) + Touch(v.tet_ids) + Touch(v.weights) + Touch(s.nodes) +
                 Touch(s.masses) + Touch(s.tets) + Touch(s.tet_slots) + Touch(s.blocks) +
                 Touch(s.tet_masses) + Touch(s.tet_materials) + Touch(s.clusters) + Touch(c.tets) +
                 Touch(c.tree) + Touch(c.patches) + Touch(c.links) + Touch(c.triangles) +
                 Touch(c.wide_triangles) + Touch(c.vertices) + Touch(c.source_triangles) +
                 Touch(f.supernodes) + Touch(f.supernode_of) + Touch(f.rows) + Touch(f.values) +
                 Touch(m.positions) + Touch(m.triangles) + Touch(m.materials) + Touch(m.tree) +
                 Touch(asset.tool_version()) + Touch(asset.settings());
  for (uint32_t i = 0; i < asset.num_parts(); ++i) {
    const PartView part = asset.part(i);
    sum += Touch(part.name) + Touch(part.material) + Touch(part.node);
  }
  for (uint32_t i = 0; i < asset.num_materials(); ++i) sum += Touch(asset.material(i).name);
  for (uint32_t i = 0; i < asset.num_regions(); ++i) {
    const RegionView region = asset.region(i);
    sum += Touch(region.name) + Touch(region.nodes) + Touch(std::span(&region.rest, 1));
  }
  return sum;
}

// Queries the collision surface. If the file's numbers are absurd, results may be wrong, but must
// lie within the file's sections.
void Query(const World& world, const Asset& asset) {
  const Vec3 x = asset.simulation().nodes[0];
  SurfacePoint found[4];
  uint32_t count = 0;
  REQUIRE(world.RaycastAll({.origin = {x.x, x.y + 1.0f, x.z}}, {}, found, &count).ok());
  REQUIRE(world.RaycastAll({.origin = x, .direction = {1.0f, 2.0f, 3.0f}}, {}, found, &count).ok());
  REQUIRE(world.OverlapSphere(x, 0.1f, {}, found, &count).ok());
  REQUIRE(
      world.Raycast({.origin = {9.0f, 9.0f, 9.0f}, .direction = {-1.0f, -1.0f, -1.0f}}, {}, found)
          .ok());
  REQUIRE(world.ClosestPoint({1.0f, 2.0f, 3.0f}, 1.0e9f, {}, found).ok());
  if (found[0].valid()) REQUIRE(found[0].triangle < asset.collision().num_triangles());
}

// Drops the body on a plane, rotated so that nothing is aligned with an axis. If the file's numbers
// are absurd, the body may be refused or freeze, but nothing undefined may be read or computed.
void Simulate(const Asset& asset) {
  World world;
  ColliderId plane;
  REQUIRE(world.AddCollider({.plane = {.normal = {0.1f, 1.0f, 0.0f}}}, &plane).ok());
  BodyDesc desc = {.pose = {{0.0f, 0.02f, 0.0f}, {0.1f, 0.2f, 0.3f, 0.9f}},
                   .velocity = {0.1f, -2.0f, 0.0f}};
  uint32_t region = 0;
  if (FindRegion(asset, "high", &region).ok()) {
    const std::span<const uint32_t> pins = asset.region(region).nodes;
    desc.pinned_nodes = pins.first(pins.size() / 2);
  }
  BodyId id;
  if (!world.AddBody(asset, desc, &id).ok()) return;
  BodyId other;
  (void)world.AddBody(asset, {.material = {.young = 2.0e5f}}, &other);
  for (int step = 0; step < 10; ++step) (void)world.Step(0.01f);
  (void)world.Step(1.0f / 60);  // no factor for it yet: refactors on the file's structure
  std::vector<Vec3> positions(asset.visual().positions.size());
  std::vector<Vec3> normals(positions.size());
  const SkinTarget target = {.positions = positions.data(),
                             .normals = normals.data(),
                             .num_vertices = static_cast<uint32_t>(positions.size())};
  REQUIRE(world.Skin(id, 1.0f, target).ok());
  BodyMoments moments;
  Pose pose;
  REQUIRE(world.Moments(id, &moments).ok());
  REQUIRE(world.BestFitPose(id, &pose).ok());
  WorldMeasures measures;
  REQUIRE(world.Measure(&measures).ok());
  world.StateHash();
  Query(world, asset);
  ColliderDesc mesh;  // its own surface at rest
  mesh.type = ShapeType::kMesh;
  mesh.mesh = {&asset};
  mesh.pose.position.y = -0.1f;
  if (world.AddCollider(mesh, &plane).ok()) {
    for (int step = 0; step < 3; ++step) (void)world.Step(0.01f);
    SurfacePoint found;
    const QueryFilter colliders = {.targets = kQueryColliders};
    REQUIRE(world
                .Raycast({.origin = {9.0f, 9.0f, 9.0f}, .direction = {-1.0f, -1.0f, -1.0f}},
                         colliders, &found)
                .ok());
    REQUIRE(world.ClosestPoint({1.0f, 2.0f, 3.0f}, 1.0e9f, colliders, &found).ok());
  }
  for (uint32_t patch = 0; patch < asset.collision().patches.size(); ++patch) {
    DeformedPatch deformed;
    REQUIRE(world.PatchOf(id, patch, &deformed).ok());
  }
}

// Asks a static mesh for all its triangles, and for lines and points around it. If its numbers are
// absurd, results may be wrong, but no query may read outside the file or run for ever.
void QueryStatic(const Asset& asset) {
  const StaticMeshView& mesh = asset.static_mesh();
  uint32_t expected = 0;
  const auto count = [&](uint32_t t) {
    REQUIRE(t >= expected);
    REQUIRE(t < mesh.triangles.size());
    expected = t + 1;
    return true;
  };
  ForTrianglesInBox(mesh, mesh.grid.low, mesh.grid.high, count);
  for (uint32_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto [a, b, c] = CornersOf(mesh, t);
    for (const Vec3& p : {a, b, c, Vec3{0.5f * (a.x + b.x), 0.5f * (a.y + b.y), 2.0f * a.z}}) {
      const StaticNearest nearest = NearestOfStaticMesh(mesh, p, 1.0e9f);
      REQUIRE((!nearest.valid() || nearest.triangle < mesh.triangles.size()));
    }
    const StaticHit hit = RaycastStaticMesh(mesh, {1.0f, 2.0f, 3.0f}, c, MeshSides::kBoth);
    REQUIRE((!hit.valid() || hit.triangle < mesh.triangles.size()));
  }
  World world;
  BodyId id;
  uint32_t region = 0;
  REQUIRE(world.AddBody(asset, {}, &id).code == StatusCode::kUnsupported);
  REQUIRE(world.PrepareSystem(asset, {}).code == StatusCode::kUnsupported);
  REQUIRE(FindRegion(asset, "high", &region).code == StatusCode::kInvalidArgument);
  // As a collider, below a body.
  static const ShapeAsset* const cube = new ShapeAsset(
      SurfaceBytes(TetBox(1, 1, 1, 0.2), {.parts = 1, .depth = 0.0, .num_shells = 0}));
  ColliderDesc desc = {.type = ShapeType::kMesh, .mesh = {&asset}};
  ColliderId collider;
  if (!world.AddCollider(desc, &collider).ok()) return;
  BodyDesc above = {.pose = {.position = CornersOf(mesh, 0)[0]}};
  if (!world.AddBody(cube->asset(), above, &id).ok()) return;  // beyond what positions may be
  for (int step = 0; step < 5; ++step) REQUIRE(world.Step(0.01f).ok());
  SurfacePoint found;
  const QueryFilter colliders = {.targets = kQueryColliders};
  REQUIRE(world.ClosestPoint({1.0f, 2.0f, 3.0f}, 1.0e9f, colliders, &found).ok());
}

}  // namespace

bool IsSanitized() {
#if defined(__SANITIZE_ADDRESS__)
  return true;
#elif defined(__has_feature)
  return __has_feature(address_sanitizer);
#else
  return false;
#endif
}

Survival Survive(std::span<const std::byte> bytes) {
  Asset asset;
  const Status status = asset.Open(bytes);
  size_t failures = 0;
  CheckAsset(bytes, &failures, CountFailure);
  REQUIRE((failures == 0) == status.ok());
  if (!status.ok()) {
    REQUIRE(status.code != StatusCode::kOk);
    REQUIRE(*status.section != '\0');
    REQUIRE(*status.reason != '\0');
    return Survival::kRefused;
  }
  REQUIRE(FindFlaw(asset) == "");
  volatile unsigned keep = TouchEverything(asset);
  static_cast<void>(keep);
  asset.is_static() ? QueryStatic(asset) : Simulate(asset);
  return Survival::kStepped;
}

}  // namespace plush::test
