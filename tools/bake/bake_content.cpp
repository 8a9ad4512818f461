// SPDX-License-Identifier: MIT
// Copies the render mesh and describes the settings.
#include "bake/bake_content.h"

#include "base/text.h"
#include "mesh/tangents.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace plush::tools {

TetMesh MeshOf(const RestData& rest) {
  TetMesh mesh;
  mesh.nodes.reserve(rest.nodes.size());
  for (const Vec3& node : rest.nodes) mesh.nodes.push_back(ToDouble(node));
  mesh.tets.reserve(rest.tets.size());
  for (const Tet& tet : rest.tets) mesh.tets.push_back({tet.a, tet.b, tet.c, tet.d});
  return mesh;
}

void FillVisual(const SurfaceMesh& surface, Embedding embedding, AssetContent* content) {
  content->positions.reserve(surface.positions.size());
  for (const Vec3d& position : surface.positions) content->positions.push_back(ToFloat(position));
  content->normals = surface.normals;
  content->tangents = UnitTangents(surface);
  content->uvs = surface.uvs;
  content->indices.reserve(3 * surface.triangles.size());
  for (const auto& triangle : surface.triangles) {
    content->indices.insert(content->indices.end(), triangle.begin(), triangle.end());
  }
  for (const SurfacePart& part : surface.parts) {
    content->parts.push_back(
        {part.name, part.material, part.node, 3 * part.first_triangle, 3 * part.num_triangles});
  }
  content->tet_ids = std::move(embedding.tet_ids);
  content->weights = std::move(embedding.weights);
}

std::string SettingsJson(const ImportedModel& model, const BakeSettings& settings, Mesher mesher) {
  nlohmann::json json = {
      {"clusters", settings.clusters ? nlohmann::json(*settings.clusters) : "auto"},
      {"damping", settings.material.damping},
      {"density", settings.material.density},
      {"dt", settings.dt},
      {"mass", NameOf<MassSource>(kMassSources, settings.mass)},
      {"mesher", NameOf<Mesher>(kMeshers, mesher)},
      {"poisson", settings.material.poisson},
      {"scale", settings.import.scale},
      {"unit_m", model.unit_m},
      {"up", std::string(1, model.up)},
      {"up_option", NameOf<UpAxis>(kUpAxes, settings.import.up)},
      {"young", settings.material.young},
  };
  if (settings.material.friction) json["friction"] = *settings.material.friction;
  if (settings.material.restitution) json["restitution"] = *settings.material.restitution;
  if (mesher == Mesher::kLattice) {
    const CageSettings& cage = settings.cage;
    if (cage.cell_m > 0.0) {
      json["cell"] = cage.cell_m;
    } else {
      json["tets"] = cage.target_tets;
    }
    json["clearance"] = cage.clearance;
    json["fit"] = NameOf<FitMethod>(kFitMethods, cage.fit);
    json["join_parts"] = cage.join_parts;
    json["lattice"] = NameOf<LatticeKind>(kLattices, cage.lattice);
    json["min_dihedral"] = cage.min_dihedral_deg;
  }
  if (settings.simplify.triangles) {
    json["collision_distance"] = settings.simplify.distance;
    json["collision_triangles"] = *settings.simplify.triangles;
  }
  if (!settings.materials_json.empty()) {
    json["material_map"] = nlohmann::json::parse(settings.materials_json, nullptr, false);
  }
  if (model.embed_hash != 0) {
    json["embed"] = HexHash(model.embed_hash);
    json["unit_option_m"] = settings.import.unit_m;
  }
  if (mesher == Mesher::kTetGen) {
    json["max_volume"] = settings.tetgen.max_volume_m3;
    json["ratio"] = settings.tetgen.ratio;
    json["split_surface"] = settings.tetgen.split_surface;
  }
  if (settings.thickness_m > 0.0) json["thickness"] = settings.thickness_m;
  if (settings.tuning) json["tuning"] = TuningJson(*settings.tuning)["solver"];
  if (!settings.pins_json.empty()) {
    json["pins"] = nlohmann::json::parse(settings.pins_json, nullptr, false);
  }
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace plush::tools
