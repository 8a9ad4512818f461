// SPDX-License-Identifier: MIT
// Writes a frame as Wavefront .obj and .mtl text: positions, normals, texture coordinates, a group
// per part. Source: Wavefront, Advanced Visualizer Manual, Appendix B1 (object files).
#include "simulate/obj_export.h"

#include "base/text.h"
#include "report/source_report.h"
#include "simulate/draw_layers.h"
#include "simulate/palette.h"

#include <set>
#include <vector>

namespace plush::tools {
namespace {

// OBJ ends names at white space and has no quoting.
std::string ObjName(std::string_view name) {
  if (name.empty()) return "unnamed";
  std::string safe(name);
  for (char& c : safe) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= ' ' || byte == 0x7f || c == '#' || c == '\\') c = '_';
  }
  return safe;
}

void AppendNumbers(const char* keyword, std::initializer_list<float> numbers, std::string* out) {
  *out += keyword;
  for (const double number : numbers) *out += " " + NumberText(number);
  *out += '\n';
}

// "a/ta/na"; without texture coordinates "a//na".
std::string Corner(uint64_t vertex, uint64_t uv, bool has_uvs) {
  const std::string v = std::to_string(vertex);
  return " " + v + "/" + (has_uvs ? std::to_string(uv) : "") + "/" + v;
}

class ObjExporter {
 public:
  explicit ObjExporter(const SceneWorld& scene_world) : scene_world_(scene_world) {}

  Result<ObjFiles> Export(const std::string& mtl_name, uint32_t draw_flags) {
    obj_ = "mtllib " + mtl_name + "\n";
    for (const SceneWorldBody& body : scene_world_.bodies) AppendBody(body);
    if (!has_triangles_) {
      return Error{ExitCode::kInvalidInput, "no body has a triangle to export", ""};
    }
    for (const LineLayer& layer : DrawLayers(*scene_world_.world, draw_flags)) AppendLines(layer);
    return ObjFiles{std::move(obj_), MaterialLibrary()};
  }

 private:
  void AppendBody(const SceneWorldBody& body) {
    const Asset& asset = scene_world_.asset_of(body);
    const VisualView& visual = asset.visual();
    std::vector<Vec3> positions(visual.positions.size());
    std::vector<Vec3> normals(visual.positions.size());
    const SkinTarget target = {.positions = positions.data(),
                               .normals = normals.data(),
                               .num_vertices = static_cast<uint32_t>(positions.size())};
    if (!scene_world_.world->Skin(body.id, 1.0f, target).ok()) return;
    obj_ += "o " + ObjName(body.name) + "\n";
    for (const Vec3& p : positions) AppendNumbers("v", {p.x, p.y, p.z}, &obj_);
    for (const Vec2& uv : visual.uvs) AppendNumbers("vt", {uv.x, uv.y}, &obj_);
    for (const Vec3& n : normals) AppendNumbers("vn", {n.x, n.y, n.z}, &obj_);
    for (uint32_t i = 0; i < asset.num_parts(); ++i) AppendPart(visual, asset.part(i));
    first_vertex_ += positions.size();
    first_uv_ += visual.uvs.size();
  }

  void AppendPart(const VisualView& visual, const PartView& part) {
    palette_.IndexOf(ObjName(part.material));
    obj_ += "g " + ObjName(part.name) + "\nusemtl " + ObjName(part.material) + "\n";
    const auto indices = visual.indices.subspan(part.first_index, part.num_indices);
    for (size_t i = 0; i + 2 < indices.size(); i += 3) {
      obj_ += "f";
      for (size_t corner = 0; corner < 3; ++corner) {
        const uint32_t index = indices[i + corner];
        obj_ += Corner(first_vertex_ + index, first_uv_ + index, !visual.uvs.empty());
      }
      obj_ += '\n';
      has_triangles_ = true;
    }
  }

  void AppendLines(const LineLayer& layer) {
    obj_ += "o draw." + layer.name + "\n";
    for (const Vec3& p : layer.ends) AppendNumbers("v", {p.x, p.y, p.z}, &obj_);
    for (size_t i = 0; i < layer.colours.size(); ++i) {
      const uint32_t colour = layer.colours[i];
      line_colours_.insert(colour);
      if (i == 0 || layer.colours[i - 1] != colour) obj_ += "usemtl " + LineMaterial(colour) + "\n";
      obj_ += "l " + std::to_string(first_vertex_ + 2 * i) + " " +
              std::to_string(first_vertex_ + 2 * i + 1) + "\n";
    }
    first_vertex_ += layer.ends.size();
  }

  static std::string LineMaterial(uint32_t colour) { return Formatted("draw_%06x", colour); }

  std::string MaterialLibrary() const {
    std::string mtl;
    for (const uint32_t colour : line_colours_) {
      const Vec3 c = LinearColour(colour);
      mtl += "newmtl " + LineMaterial(colour) + "\n";
      AppendNumbers("Kd", {c.x, c.y, c.z}, &mtl);
    }
    for (const NamedColour& material : palette_.materials()) {
      const Vec3 c = material.linear_rgb;
      mtl += "newmtl " + material.name + "\n";
      AppendNumbers("Kd", {c.x, c.y, c.z}, &mtl);
      AppendNumbers("Ks", {0.04f, 0.04f, 0.04f}, &mtl);
      AppendNumbers("Ns", {10.0f}, &mtl);
    }
    return mtl;
  }

  const SceneWorld& scene_world_;
  Palette palette_;
  std::string obj_;
  uint64_t first_vertex_ = 1;  // OBJ counts from one over the whole file
  uint64_t first_uv_ = 1;
  bool has_triangles_ = false;
  std::set<uint32_t> line_colours_;
};

}  // namespace

Result<ObjFiles> ExportObj(const SceneWorld& scene_world, const std::string& mtl_name,
                           uint32_t draw_flags) {
  return ObjExporter(scene_world).Export(mtl_name, draw_flags);
}

}  // namespace plush::tools
