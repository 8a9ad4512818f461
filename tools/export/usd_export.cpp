// SPDX-License-Identifier: MIT
// Writes a body as a USD scene in text (.usda), with two spellings of the physics attributes.
// Sources: Pixar. OpenUSD, UsdGeomTetMesh and the usda format; AOUSD's draft of deformable physics
// (kDraft below); NVIDIA. Omni Physics Deformable Schema.
#include "plush/format/tet_block.h"
#include "plush/version.h"

#include "base/text.h"
#include "export/cage_exports.h"
#include "export/text_lines.h"
#include "lattice/cage_boundary.h"
#include "mesh/tet_mesh.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace plush::tools {
namespace {

// The commit of the proposal that the names of UsdSpelling::kDraft come from.
constexpr char kDraft[] =
    "github.com/aousd/OpenUSD-proposals, "
    "proposals/physics_deformables/wp_deformable_physics.md at "
    "5d89c0ed46a26de92f4d3fefef3bfad6500c07ce";

// Writes "name = value" lines and blocks, indented.
class UsdWriter {
 public:
  explicit UsdWriter(std::string* text) : text_(text) {}

  void Line(const std::string& line) { *text_ += indent_ + line + "\n"; }
  void Open(const std::string& line, std::span<const std::string> schemas = {}) {
    Line(line + (schemas.empty() ? "" : " ("));
    if (!schemas.empty()) {
      std::string list;
      for (const std::string& schema : schemas) {
        list += (list.empty() ? "\"" : ", \"") + schema + "\"";
      }
      Line("    prepend apiSchemas = [" + list + "]");
      Line(")");
    }
    Line("{");
    indent_ += "    ";
  }
  void Close() {
    indent_.resize(indent_.size() - 4);
    Line("}");
  }

  void Number(const std::string& name, float value) {
    std::string line = "float " + name + " = ";
    AppendWord(&line, value);
    Line(line);
  }

  // "name = [...]". append_item(i, text) appends item i.
  template <class AppendItem>
  void List(const std::string& name, size_t count, const AppendItem& append_item) {
    *text_ += indent_ + name + " = [";
    for (size_t i = 0; i < count; ++i) {
      if (i > 0) *text_ += ", ";
      append_item(i, text_);
    }
    *text_ += "]\n";
  }
  void Points(const std::string& name, std::span<const Vec3> points) {
    List(name, points.size(), [&](size_t i, std::string* text) {
      AppendTuple(text, points[i].x, points[i].y, points[i].z);
    });
  }

  template <class First, class... Others>
  static void AppendTuple(std::string* text, First first, Others... others) {
    *text += '(';
    AppendWord(text, first);
    ((*text += ", ", AppendWord(text, others)), ...);
    *text += ')';
  }

 private:
  std::string* text_;
  std::string indent_;
};

// `name` as the name of a prim that `taken` lacks, which gets it.
std::string Identifier(const std::string& name, std::set<std::string>* taken) {
  std::string identifier;
  for (const char c : name) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool is_digit = c >= '0' && c <= '9';
    if (is_digit && identifier.empty()) identifier += '_';
    identifier += is_letter || is_digit ? c : '_';
  }
  std::string free = identifier;
  for (int number = 2; !taken->insert(free).second; ++number) {
    free = identifier + "_" + std::to_string(number);
  }
  return free;
}

void WriteExtent(std::span<const Vec3> points, UsdWriter* usd) {
  Vec3 low = points.empty() ? Vec3{} : points[0], high = low;
  for (const Vec3& p : points) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
  }
  usd->Points("float3[] extent", std::vector<Vec3>{low, high});
}

std::string Binding(const std::string& material) {
  return "rel material:binding:physics = </Body/Materials/" + material + ">";
}

// The numbers of a material, or their mean over a body.
struct UsdMaterial {
  std::string prim;
  MaterialView view;
};

// Young's modulus and Poisson's ratio by volume, density by the body's mass.
MaterialView MeanMaterial(const Asset& asset) {
  const SimulationView& s = asset.simulation();
  double volume = 0.0, young = 0.0, poisson = 0.0, mass = 0.0;
  for (size_t t = 0; t < s.tets.size(); ++t) {
    const MaterialView material = asset.material(s.tet_materials[t]);
    const double of_tet = s.Volume(t);
    volume += of_tet;
    young += of_tet * double{material.young};
    poisson += of_tet * double{material.poisson};
  }
  for (const float m : s.masses) mass += double{m};
  MaterialView mean;
  mean.name = "mean";
  mean.young = static_cast<float>(young / volume);
  mean.poisson = static_cast<float>(poisson / volume);
  mean.density = static_cast<float>(mass / volume);
  mean.friction = mean.restitution = -1.0f;
  return mean;
}

class BodyWriter {
 public:
  BodyWriter(const CageTable& cage, UsdSpelling spelling, std::string* text)
      : asset_(*cage.asset), is_omni_(spelling == UsdSpelling::kOmni), usd_(text) {
    std::set<std::string> taken;
    for (uint32_t i = 0; i < asset_.num_materials(); ++i) {
      materials_.push_back({Identifier(cage.material_names[i], &taken), asset_.material(i)});
    }
    if (materials_.size() != 1) {
      materials_.push_back({Identifier("mean", &taken), MeanMaterial(asset_)});
    }
  }

  void Write() {
    usd_.Open("def Xform \"Body\"",
              is_omni_ ? std::vector<std::string>{"OmniPhysicsDeformableBodyAPI"}
                       : std::vector<std::string>{"PhysicsBodyAPI", "PhysicsDeformableBodyAPI"});
    usd_.Line(is_omni_ ? "bool omniphysics:deformableBodyEnabled = 1"
                       : "bool physics:bodyEnabled = 1");
    WriteCage();
    if (!asset_.visual().indices.empty()) WriteVisual();
    usd_.Open("def Scope \"Materials\"");
    for (const UsdMaterial& material : materials_) WriteMaterial(material);
    usd_.Close();
    usd_.Close();
  }

 private:
  void WriteCage() {
    const SimulationView& s = asset_.simulation();
    const auto tet = [&](size_t i, std::string* text) {
      UsdWriter::AppendTuple(text, s.tets[i].a, s.tets[i].b, s.tets[i].c, s.tets[i].d);
    };
    usd_.Open("def TetMesh \"Simulation\"",
              is_omni_ ? std::vector<std::string>{"OmniPhysicsVolumeDeformableSimAPI",
                                                  "PhysicsCollisionAPI", "MaterialBindingAPI"}
                       : std::vector<std::string>{"PhysicsVolumeDeformableSimAPI",
                                                  "PhysicsCollisionAPI", "MaterialBindingAPI"});
    usd_.Line("uniform token orientation = \"rightHanded\"");
    usd_.Line("uniform token purpose = \"guide\"");
    WriteExtent(s.nodes, &usd_);
    usd_.Points("point3f[] points", s.nodes);
    usd_.List("int4[] tetVertexIndices", s.tets.size(), tet);
    WriteBoundary();
    if (is_omni_) {
      usd_.Points("point3f[] omniphysics:restShapePoints", s.nodes);
      usd_.List("int4[] omniphysics:restTetVtxIndices", s.tets.size(), tet);
    } else {
      usd_.List("float[] physics:masses", s.masses.size(),
                [&](size_t i, std::string* text) { AppendWord(text, s.masses[i]); });
    }
    usd_.Line(Binding(materials_.back().prim));
    for (uint32_t i = 0; i + 1 < materials_.size(); ++i) WriteSubset(i);
    usd_.Close();
  }

  void WriteBoundary() {
    TetMesh mesh;
    for (const Vec3& x : asset_.simulation().nodes) mesh.nodes.push_back(ToDouble(x));
    for (const Tet& t : asset_.simulation().tets) mesh.tets.push_back({t.a, t.b, t.c, t.d});
    const auto faces = FindCageFaces(mesh).BoundaryNodes();
    usd_.List("int3[] surfaceFaceVertexIndices", faces.size(), [&](size_t i, std::string* text) {
      UsdWriter::AppendTuple(text, faces[i][0], faces[i][1], faces[i][2]);
    });
  }

  // The tets of a material.
  void WriteSubset(uint32_t material) {
    const auto& of_tets = asset_.simulation().tet_materials;
    std::vector<uint32_t> tets;
    for (uint32_t t = 0; t < of_tets.size(); ++t) {
      if (of_tets[t] == material) tets.push_back(t);
    }
    usd_.Open("def GeomSubset \"" + materials_[material].prim + "\"",
              std::vector<std::string>{"MaterialBindingAPI"});
    usd_.Line("uniform token elementType = \"tetrahedron\"");
    usd_.Line("uniform token familyName = \"materialBind\"");
    usd_.List("int[] indices", tets.size(),
              [&](size_t i, std::string* text) { AppendWord(text, tets[i]); });
    usd_.Line(Binding(materials_[material].prim));
    usd_.Close();
  }

  void WriteVisual() {
    const VisualView& v = asset_.visual();
    usd_.Open("def Mesh \"Visual\"");
    usd_.Line("uniform token subdivisionScheme = \"none\"");
    usd_.Line("uniform token orientation = \"rightHanded\"");
    WriteExtent(v.positions, &usd_);
    usd_.Points("point3f[] points", v.positions);
    usd_.List("int[] faceVertexCounts", v.indices.size() / 3,
              [](size_t, std::string* text) { *text += '3'; });
    usd_.List("int[] faceVertexIndices", v.indices.size(),
              [&](size_t i, std::string* text) { AppendWord(text, v.indices[i]); });
    usd_.Points("normal3f[] primvars:normals", v.normals);
    usd_.Line("uniform token primvars:normals:interpolation = \"vertex\"");
    if (!v.uvs.empty()) {
      // v grows upwards in USD, downwards in glTF.
      usd_.List("texCoord2f[] primvars:st", v.uvs.size(), [&](size_t i, std::string* text) {
        UsdWriter::AppendTuple(text, v.uvs[i].x, 1.0f - v.uvs[i].y);
      });
      usd_.Line("uniform token primvars:st:interpolation = \"vertex\"");
    }
    usd_.Close();
  }

  void WriteMaterial(const UsdMaterial& material) {
    const std::string prefix = is_omni_ ? "omniphysics:" : "physics:";
    usd_.Open("def Material \"" + material.prim + "\"",
              is_omni_ ? std::vector<std::string>{"OmniPhysicsDeformableMaterialAPI"}
                       : std::vector<std::string>{"PhysicsMaterialAPI",
                                                  "PhysicsVolumeDeformableMaterialAPI"});
    usd_.Number(prefix + "youngsModulus", material.view.young);
    usd_.Number(prefix + "poissonsRatio", material.view.poisson);
    usd_.Number(prefix + "density", material.view.density);
    if (material.view.friction >= 0.0f) {
      usd_.Number(prefix + "staticFriction", material.view.friction);
      usd_.Number(prefix + "dynamicFriction", material.view.friction);
    }
    if (material.view.restitution >= 0.0f && !is_omni_) {
      usd_.Number("physics:restitution", material.view.restitution);
    }
    usd_.Close();
  }

  const Asset& asset_;
  bool is_omni_;
  UsdWriter usd_;
  std::vector<UsdMaterial> materials_;  // the last one is the whole body's
};

}  // namespace

std::string UsdTextOf(const CageTable& cage, UsdSpelling spelling) {
  std::string text = "#usda 1.0\n(\n    defaultPrim = \"Body\"\n    doc = \"Written by plush ";
  text += std::string(kVersionString) + ". ";
  text += spelling == UsdSpelling::kOmni ? "Attributes of the Omni Physics Deformable Schema."
                                         : std::string("Attributes of the draft ") + kDraft + ".";
  text += "\"\n    kilogramsPerUnit = 1\n    metersPerUnit = 1\n    upAxis = \"Y\"\n)\n\n";
  BodyWriter(cage, spelling, &text).Write();
  return text;
}

}  // namespace plush::tools
