// SPDX-License-Identifier: MIT
// Reports on an open asset. Sizes of sections come from its views; shapes and topology of the tets
// are recomputed in double precision.
#include "report/asset_info.h"

#include "plush/format/cdg_records.h"
#include "plush/format/factor_panels.h"
#include "plush/format/static_mesh.h"
#include "plush/format/tet_block.h"

#include "base/text.h"
#include "base/vec3.h"
#include "lattice/cage_boundary.h"
#include "mesh/box3.h"
#include "mesh/tet_mesh.h"
#include "report/source_report.h"
#include "report/static_info.h"
#include "rest/clusters.h"
#include "rest/rest_data.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

namespace plush::tools {
namespace {

// The box of the render vertices; of the cage if there are none. Of a static mesh: its own.
Box3 RestBox(const Asset& asset) {
  if (asset.is_static()) {
    return {ToDouble(asset.static_mesh().grid.low), ToDouble(asset.static_mesh().grid.high)};
  }
  const bool has_mesh = !asset.visual().positions.empty();
  Box3 box;
  for (const Vec3& p : has_mesh ? asset.visual().positions : asset.simulation().nodes) {
    box.Add(ToDouble(p));
  }
  return box;
}

double Sum(std::span<const float> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// Deeper settings are left out: printing JSON is recursive, and the file may be hostile.
constexpr int kMaxSettingsDepth = 32;

nlohmann::json Settings(const Asset& asset) {
  const auto shallow = [](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    return depth <= kMaxSettingsDepth;
  };
  nlohmann::json settings = nlohmann::json::parse(asset.settings(), shallow, false);
  return settings.is_discarded() ? nlohmann::json::object() : settings;
}

std::vector<size_t> TetsByMaterial(const Asset& asset) {
  std::vector<size_t> counts(asset.num_materials(), 0);
  for (const uint16_t material : asset.simulation().tet_materials) ++counts[material];
  return counts;
}

// A coefficient, or null: not given.
nlohmann::json MaterialsInfo(const Asset& asset) {
  nlohmann::json materials = nlohmann::json::array();
  const std::vector<size_t> tets = TetsByMaterial(asset);
  for (uint32_t i = 0; i < asset.num_materials(); ++i) {
    const MaterialView material = asset.material(i);
    materials.push_back({{"name", material.name},
                         {"young_pa", material.young},
                         {"poisson", material.poisson},
                         {"density_kg_m3", material.density},
                         {"friction", GivenCoefficient(material.friction)},
                         {"restitution", GivenCoefficient(material.restitution)},
                         {"tets", tets[i]}});
  }
  return materials;
}

// Volume of the cage over that of the solid; 0 if the solid has none.
double VolumeRatio(const TetShapes& shapes, const SimulationView& s) {
  return s.solid_volume > 0.0f ? shapes.volume / s.solid_volume : 0.0;
}

// Share of the blocks' slots that hold a tet.
double BlockFill(const SimulationView& s) {
  return static_cast<double>(s.tets.size()) / static_cast<double>(s.blocks.size() * kBlockTets);
}

uint64_t FactorNonzeros(const FactorView& factor) {
  uint64_t sum = 0;
  for (const Supernode& supernode : factor.supernodes) sum += LowerEntries(supernode);
  return sum;
}

nlohmann::json PoseJson(const Pose& pose) {
  const auto& [p, q] = pose;
  return {{"position", {p.x, p.y, p.z}}, {"rotation", {q.x, q.y, q.z, q.w}}};
}

// What was tuned, or null.
nlohmann::json TuningInfo(const TuningView& tuning) {
  if (tuning.solver == TunedSolver::kNone) return {};
  const bool is_implicit = tuning.solver == TunedSolver::kImplicit;
  nlohmann::json info = {{"solver", is_implicit ? "implicit" : "splitting"},
                         {"newton_iterations", tuning.newton_iterations}};
  if (is_implicit) info["linear_iterations"] = tuning.linear_iterations;
  return info;
}

nlohmann::json SimulationInfo(const Asset& asset) {
  const SimulationView& s = asset.simulation();
  const TetShapes shapes = MeasureTets(s);
  const CageTopology topology = MeasureTopology(s);
  nlohmann::json regions = nlohmann::json::array();
  for (uint32_t i = 0; i < asset.num_regions(); ++i) {
    const RegionView region = asset.region(i);
    nlohmann::json entry = {{"name", region.name}, {"nodes", region.nodes.size()}};
    if (region.has_joint) entry["rest"] = PoseJson(region.rest);
    regions.push_back(std::move(entry));
  }
  return {{"nodes", s.nodes.size()},
          {"tets", s.tets.size()},
          {"components", s.components},
          {"boundary_faces", topology.boundary_faces},
          {"branches", topology.branches},
          {"volume_m3", shapes.volume},
          {"solid_volume_m3", s.solid_volume},
          {"volume_ratio", VolumeRatio(shapes, s)},
          {"mass_kg", Sum(s.masses)},
          {"min_dihedral_deg", shapes.min_dihedral_deg},
          {"max_dihedral_deg", shapes.max_dihedral_deg},
          {"mean_min_dihedral_deg", shapes.mean_min_dihedral_deg},
          {"mean_quality", shapes.mean_quality},
          {"min_quality", shapes.min_quality},
          {"median_edge_m", s.median_edge},
          {"density_kg_m3", s.density},
          {"damping_s", s.damping},
          {"dt_s", asset.factor().dt},
          {"tuning", TuningInfo(asset.tuning())},
          {"blocks", s.blocks.size()},
          {"block_fill", BlockFill(s)},
          {"factor_nonzeros", FactorNonzeros(asset.factor())},
          {"clusters", s.num_clusters},
          {"straddling_tets", StraddlingShare(NodesOfTets(s.tets), s.clusters)},
          {"supernodes", asset.factor().supernodes.size()},
          {"factor_values", asset.factor().values.size()},
          {"rest_bytes_per_tet", RestBytesPerTet(asset)},
          {"materials", MaterialsInfo(asset)},
          {"regions", regions}};
}

// Counts all sections of the collision surface except the map to the render triangles.
double BytesPerCollisionTriangle(const CollisionView& c) {
  if (c.num_triangles() == 0) return 0.0;
  const size_t bytes = c.tets.size_bytes() + c.tree.size_bytes() + c.patches.size_bytes() +
                       c.links.size_bytes() + c.triangles.size_bytes() +
                       c.wide_triangles.size_bytes() + c.vertices.size_bytes();
  return static_cast<double>(bytes) / c.num_triangles();
}

size_t NumSeams(const CollisionView& c) {
  const auto is_seam = [](uint32_t link) { return (link & kSeamLink) != 0; };
  return static_cast<size_t>(std::count_if(c.links.begin(), c.links.end(), is_seam)) / 2;
}

nlohmann::json CollisionInfo(const Asset& asset) {
  const CollisionView& c = asset.collision();
  return {
      {"tets", c.tets.size()},
      {"patches", c.patches.size()},
      {"seams", NumSeams(c)},
      {"triangles", c.num_triangles()},
      {"vertices", c.vertices.size()},
      {"record_bytes", c.wide_triangles.empty() ? sizeof(CdgTriangle) : sizeof(CdgWideTriangle)},
      {"bytes_per_triangle", BytesPerCollisionTriangle(c)},
      {"thickness_m", c.thickness}};
}

nlohmann::json VisualInfo(const Asset& asset) {
  nlohmann::json materials = nlohmann::json::array();
  for (uint32_t i = 0; i < asset.num_parts(); ++i) materials.push_back(asset.part(i).material);
  return {{"parts", asset.num_parts()},
          {"vertices", asset.visual().positions.size()},
          {"triangles", asset.visual().indices.size() / 3},
          {"uvs", !asset.visual().uvs.empty()},
          {"materials", materials}};
}

std::string Line(const char* format, auto... values) { return Formatted(format, values...) + "\n"; }

// The size of a bulk vector, or of one kind of small data.
struct SectionSize {
  std::string name;    // as in Status::section
  uint64_t bytes = 0;  // without padding
};

std::vector<SectionSize> StaticSections(const Asset& asset) {
  const StaticMeshView& mesh = asset.static_mesh();
  uint64_t materials = 0;
  for (uint32_t i = 0; i < asset.num_materials(); ++i) {
    materials += asset.material(i).name.size() + 2 * sizeof(float);
  }
  return {{"static_mesh.positions", mesh.positions.size_bytes()},
          {"static_mesh.triangles", mesh.triangles.size_bytes()},
          {"static_mesh.triangle_materials", mesh.materials.size_bytes()},
          {"static_mesh.tree", mesh.tree.size_bytes()},
          {"static_mesh.materials", materials},
          {"settings", asset.settings().size()}};
}

std::vector<SectionSize> BodySections(const Asset& asset) {
  const VisualView& v = asset.visual();
  const SimulationView& s = asset.simulation();
  const FactorView& f = asset.factor();
  const CollisionView& c = asset.collision();
  uint64_t materials = 0;
  for (uint32_t i = 0; i < asset.num_materials(); ++i) {
    const MaterialView material = asset.material(i);
    const int given = (material.friction >= 0.0f) + (material.restitution >= 0.0f);
    materials += material.name.size() + (3 + static_cast<size_t>(given)) * sizeof(float);
  }
  uint64_t regions = 0;
  for (uint32_t i = 0; i < asset.num_regions(); ++i) {
    const RegionView region = asset.region(i);
    regions += region.name.size() + region.nodes.size_bytes();
    if (region.has_joint) regions += sizeof(region.rest);
  }
  return {
      {"visual.positions", v.positions.size_bytes()},
      {"visual.normals", v.normals.size_bytes()},
      {"visual.tangents", v.tangents.size_bytes()},
      {"visual.uvs", v.uvs.size_bytes()},
      {"visual.indices", v.indices.size_bytes()},
      {"visual.tet_ids", v.tet_ids.size_bytes()},
      {"visual.weights", v.weights.size_bytes()},
      {"simulation.nodes", s.nodes.size_bytes()},
      {"simulation.masses", s.masses.size_bytes()},
      {"simulation.tets", s.tets.size_bytes()},
      {"simulation.tet_slots", s.tet_slots.size_bytes()},
      {"simulation.blocks", s.blocks.size_bytes()},
      {"simulation.tet_masses", s.tet_masses.size_bytes()},
      {"simulation.tet_materials", s.tet_materials.size_bytes()},
      {"simulation.clusters", s.clusters.size_bytes()},
      {"simulation.materials", materials},
      {"simulation.regions", regions},
      {"factor.supernodes", f.supernodes.size_bytes()},
      {"factor.supernode_of", f.supernode_of.size_bytes()},
      {"factor.rows", f.rows.size_bytes()},
      {"factor.values", f.values.size_bytes()},
      {"collision.tets", c.tets.size_bytes()},
      {"collision.tree", c.tree.size_bytes()},
      {"collision.patches", c.patches.size_bytes()},
      {"collision.links", c.links.size_bytes()},
      {"collision.triangles", c.triangles.size_bytes()},
      {"collision.wide_triangles", c.wide_triangles.size_bytes()},
      {"collision.vertices", c.vertices.size_bytes()},
      {"collision.source_triangles", c.source_triangles.size_bytes()},
      {"settings", asset.settings().size()},
  };
}

// Sizes of all sections, in the same order for all files of a kind. "tables and padding" is the
// rest of the file.
std::vector<SectionSize> SectionSizes(const Asset& asset) {
  auto sections = asset.is_static() ? StaticSections(asset) : BodySections(asset);
  uint64_t used = 0;
  for (const SectionSize& section : sections) used += section.bytes;
  // Sections of a hostile file may overlap.
  const uint64_t file = asset.bytes().size();
  sections.push_back({"tables and padding", file > used ? file - used : 0});
  return sections;
}

std::string SectionLines(const Asset& asset) {
  std::string text;
  for (const SectionSize& section : SectionSizes(asset)) {
    text += Line("  %-30s %12llu bytes", section.name.c_str(),
                 static_cast<unsigned long long>(section.bytes));
  }
  return text;
}

std::string MaterialLines(const Asset& asset) {
  std::string text;
  const std::vector<size_t> tets = TetsByMaterial(asset);
  for (uint32_t i = 0; i < asset.num_materials(); ++i) {
    const MaterialView material = asset.material(i);
    text += "material '" + PrintableUtf8(material.name) + "': ";
    text += Line("E %.4g Pa, nu %.4g, density %.4g kg/m^3, %zu tets", double{material.young},
                 double{material.poisson}, double{material.density}, tets[i]);
    if (material.friction >= 0.0f) text += Line("  friction %.4g", double{material.friction});
    if (material.restitution >= 0.0f) {
      text += Line("  restitution %.4g", double{material.restitution});
    }
  }
  return text;
}

std::string RegionLines(const Asset& asset) {
  std::string text;
  for (uint32_t i = 0; i < asset.num_regions(); ++i) {
    const RegionView region = asset.region(i);
    text += "region '" + PrintableUtf8(region.name) + "': " + std::to_string(region.nodes.size()) +
            " nodes";
    const Vec3& p = region.rest.position;
    if (region.has_joint) {
      text += Formatted(", joint at (%.4g, %.4g, %.4g) m", double{p.x}, double{p.y}, double{p.z});
    }
    text += "\n";
  }
  return text;
}

// What only a soft body has.
std::string BodyText(const Asset& asset) {
  const SimulationView& s = asset.simulation();
  const TetShapes shapes = MeasureTets(s);
  const CageTopology topology = MeasureTopology(s);
  std::string text;
  text += Line("visual: %zu vertices, %zu triangles, %u parts", asset.visual().positions.size(),
               asset.visual().indices.size() / 3, asset.num_parts());
  text += Line("cage: %zu nodes, %zu tets, %u components, median edge %.4g m", s.nodes.size(),
               s.tets.size(), s.components, static_cast<double>(s.median_edge));
  text += Line("boundary: %zu faces, %zu branches", topology.boundary_faces, topology.branches);
  text += Line("cage volume %.6g m^3, solid volume %.6g m^3, ratio %.3f, mass %.6g kg",
               shapes.volume, double{s.solid_volume}, VolumeRatio(shapes, s), Sum(s.masses));
  text += Line("mean density %.4g kg/m^3, damping %.4g s", double{s.density}, double{s.damping});
  text += MaterialLines(asset);
  text += Line("tets: dihedral angles %.1f to %.1f degrees, the least of a tet %.1f on average",
               shapes.min_dihedral_deg, shapes.max_dihedral_deg, shapes.mean_min_dihedral_deg);
  text +=
      Line("quality of the tets: %.3f mean, %.3f least", shapes.mean_quality, shapes.min_quality);
  text += Line("blocks of tets: %zu, %.0f%% full", s.blocks.size(), 100.0 * BlockFill(s));
  text += Line("factor: %llu non-zeros in %zu supernodes, %zu values, for dt %.6g s",
               static_cast<unsigned long long>(FactorNonzeros(asset.factor())),
               asset.factor().supernodes.size(), asset.factor().values.size(),
               static_cast<double>(asset.factor().dt));
  text += Line("clusters: %u, straddled by %.1f%% of the tets", s.num_clusters,
               100.0 * StraddlingShare(NodesOfTets(s.tets), s.clusters));
  text += Line("rest data: %.0f bytes per tet", RestBytesPerTet(asset));
  const CollisionView& c = asset.collision();
  text += Line(
      "collision: %u triangles, %zu vertices, %zu patches (%zu seams) in %zu tets; "
      "%.1f bytes per triangle; %.4g m thick",
      c.num_triangles(), c.vertices.size(), c.patches.size(), NumSeams(c), c.tets.size(),
      BytesPerCollisionTriangle(c), static_cast<double>(c.thickness));
  text += RegionLines(asset);
  return text;
}

}  // namespace

double RestBytesPerTet(const Asset& asset) {
  uint64_t bytes = 0;
  for (const SectionSize& section : SectionSizes(asset)) {
    const bool counts =
        section.name.starts_with("simulation.") || section.name.starts_with("factor.");
    if (counts && section.name != "simulation.regions") bytes += section.bytes;
  }
  return static_cast<double>(bytes) / static_cast<double>(asset.simulation().tets.size());
}

TetShapes MeasureTets(const SimulationView& simulation) {
  TetShapes shapes;
  shapes.min_dihedral_deg = 180.0;
  shapes.min_quality = HUGE_VAL;
  const auto count = static_cast<double>(simulation.tets.size());
  for (const Tet& tet : simulation.tets) {
    const TetCorners x = CornersOf(simulation.nodes, tet);
    shapes.volume += TetVolume(x);
    const double quality = TetQuality(x);
    shapes.min_quality = std::min(shapes.min_quality, quality);
    shapes.mean_quality += quality / count;
    const DihedralRange angles = TetDihedrals(x);
    shapes.min_dihedral_deg = std::min(shapes.min_dihedral_deg, angles.min_deg);
    shapes.max_dihedral_deg = std::max(shapes.max_dihedral_deg, angles.max_deg);
    shapes.mean_min_dihedral_deg += angles.min_deg / count;
  }
  return shapes;
}

CageTopology MeasureTopology(const SimulationView& simulation) {
  TetMesh mesh;
  mesh.tets.reserve(simulation.tets.size());
  for (const Tet& t : simulation.tets) mesh.tets.push_back({t.a, t.b, t.c, t.d});
  const CageFaces faces = FindCageFaces(mesh);
  return {faces.boundary.size(), faces.branches.size()};
}

nlohmann::json AssetInfo(const Asset& asset) {
  nlohmann::json sections = nlohmann::json::array();
  for (const SectionSize& section : SectionSizes(asset)) {
    sections.push_back({{"name", section.name}, {"bytes", section.bytes}});
  }
  nlohmann::json info = {
      {"format_version", std::to_string(kFormatMajor) + "." + std::to_string(kFormatMinor)},
      {"tool_version", asset.tool_version()},
      {"content_hash", HexHash(asset.content_hash())},
      {"source_hash", HexHash(asset.source_hash())},
      {"file_bytes", asset.bytes().size()},
      {"bounding_box", BoxJson(RestBox(asset))},
      {"sections", sections},
      {"settings", Settings(asset)}};
  if (asset.is_static()) {
    info["static_mesh"] = StaticMeshInfo(asset);
  } else {
    info["visual"] = VisualInfo(asset);
    info["simulation"] = SimulationInfo(asset);
    info["collision"] = CollisionInfo(asset);
  }
  return info;
}

std::string AssetInfoText(const Asset& asset) {
  std::string text;
  text += Line("format %d.%d, %zu bytes, written by plush %s", int{kFormatMajor}, int{kFormatMinor},
               asset.bytes().size(), PrintableUtf8(asset.tool_version()).c_str());
  text += Line("content %s, source %s", HexHash(asset.content_hash()).c_str(),
               HexHash(asset.source_hash()).c_str());
  text += "box at rest: " + BoxText(RestBox(asset)) + "\n";
  text += asset.is_static() ? StaticMeshText(asset) : BodyText(asset);
  text +=
      "settings: " + Settings(asset).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) +
      "\nsections:\n" + SectionLines(asset);
  return text;
}

}  // namespace plush::tools
