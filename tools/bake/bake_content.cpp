// SPDX-License-Identifier: MIT
#include "bake/bake_content.h"

#include "base/hex_hash.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace plush::tools {
namespace {}  // namespace

void FillVisual(const SurfaceMesh& surface, Embedding embedding, AssetContent* content) {
  content->positions.reserve(surface.positions.size());
  for (const Vec3d& position : surface.positions) content->positions.push_back(ToFloat(position));
  content->normals = surface.normals;
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

const char* FitMethodName(FitMethod fit) {
  switch (fit) {
    case FitMethod::kSnug:
      return "snug";
    case FitMethod::kOdt:
      return "odt";
    case FitMethod::kNone:
      return "none";
  }
  return "none";
}

const char* UpAxisName(UpAxis up) {
  switch (up) {
    case UpAxis::kAuto:
      return "auto";
    case UpAxis::kY:
      return "y";
    case UpAxis::kZ:
      return "z";
  }
  return "auto";
}

std::string SettingsJson(const ImportedModel& model, const BakeSettings& settings, Mesher mesher) {
  nlohmann::json json = {
      {"damping", settings.material.damping},
      {"density", settings.material.density},
      {"dt", settings.dt},
      {"mass", settings.mass == MassSource::kSolid ? "solid" : "cage"},
      {"mesher", MesherName(mesher)},
      {"poisson", settings.material.poisson},
      {"scale", settings.scale},
      {"unit_m", model.unit_m},
      {"up", std::string(1, model.up)},
      {"up_option", UpAxisName(settings.up)},
      {"young", settings.material.young},
  };
  if (mesher == Mesher::kLattice) {
    const CageSettings& cage = settings.cage;
    if (cage.cell_m > 0.0) {
      json["cell"] = cage.cell_m;
    } else {
      json["tets"] = cage.target_tets;
    }
    json["clearance"] = cage.clearance;
    json["fit"] = FitMethodName(cage.fit);
    json["join_parts"] = cage.join_parts;
    json["lattice"] = cage.lattice == LatticeKind::kBcc ? "bcc" : "cube5";
    json["min_dihedral"] = cage.min_dihedral_deg;
  }
  if (!settings.materials_json.empty()) {
    json["material_map"] = nlohmann::json::parse(settings.materials_json, nullptr, false);
  }
  if (model.embed_hash != 0) {
    json["embed"] = HexHash(model.embed_hash);
    json["unit_option_m"] = settings.unit_m;
  }
  if (mesher == Mesher::kTetGen) {
    json["max_volume"] = settings.tetgen.max_volume_m3;
    json["ratio"] = settings.tetgen.ratio;
    json["split_surface"] = settings.tetgen.split_surface;
  }
  if (!settings.pins_json.empty()) {
    json["pins"] = nlohmann::json::parse(settings.pins_json, nullptr, false);
  }
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

const char* MesherName(Mesher mesher) {
  switch (mesher) {
    case Mesher::kAuto:
      return "auto";
    case Mesher::kLattice:
      return "lattice";
    case Mesher::kImport:
      return "import";
    case Mesher::kTetGen:
      return "tetgen";
  }
  return "auto";
}

}  // namespace plush::tools
