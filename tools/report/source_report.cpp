// SPDX-License-Identifier: MIT
// Prints findings, boxes and the facts about a source mesh as text and as JSON.
// tools/README.md explains findings; base/finding.cpp lists them.
#include "report/source_report.h"

#include "base/text.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace plush::tools {
namespace {

nlohmann::json PointJson(const Vec3d& p) { return {p.x, p.y, p.z}; }

std::string PointText(const Vec3d& p) { return Formatted("(%.6g, %.6g, %.6g)", p.x, p.y, p.z); }

nlohmann::json PlaceJson(const Place& place) {
  nlohmann::json value = nlohmann::json::object();
  if (place.has_position) value["position"] = PointJson(place.position);
  if (place.triangle >= 0) value["triangle"] = place.triangle;
  if (place.element >= 0) value["element"] = place.element;
  if (!place.object.empty()) value["object"] = place.object;
  return value;
}

// A coordinate that is no finite number is null in JSON.
double CoordinateOf(const nlohmann::json& value) {
  return value.is_null() ? NAN : value.get<double>();
}

// What PlaceJson wrote. Throws nlohmann::json::exception if it did not.
Place PlaceOf(const nlohmann::json& value) {
  Place place;
  place.has_position = value.contains("position");
  if (place.has_position) {
    const nlohmann::json& p = value.at("position");
    place.position = {CoordinateOf(p.at(0)), CoordinateOf(p.at(1)), CoordinateOf(p.at(2))};
  }
  place.triangle = value.value("triangle", int64_t{-1});
  place.element = value.value("element", int64_t{-1});
  place.object = value.value("object", "");
  return place;
}

std::string PlaceText(const Place& place) {
  std::string line;
  const auto add = [&line](const std::string& part) {
    if (!line.empty()) line += ", ";
    line += part;
  };
  if (place.has_position) add(PointText(place.position) + " m");
  if (place.triangle >= 0) add("triangle " + std::to_string(place.triangle));
  if (place.element >= 0) add("element " + std::to_string(place.element));
  if (!place.object.empty()) add("'" + place.object + "'");
  return line;
}

Box3 BoxOf(const SurfaceMesh& surface) {
  Box3 box;
  for (const Vec3d& p : surface.positions) box.Add(p);
  return box;
}

double AreaOf(const SurfaceMesh& surface) {
  double area = 0.0;
  for (const auto& [a, b, c] : surface.triangles) {
    const Vec3d& p = surface.positions[a];
    area += 0.5 * Length(Cross(surface.positions[b] - p, surface.positions[c] - p));
  }
  return area;
}

nlohmann::json PartsJson(const SurfaceMesh& surface) {
  nlohmann::json parts = nlohmann::json::array();
  for (const SurfacePart& part : surface.parts) {
    parts.push_back({{"name", part.name},
                     {"material", part.material},
                     {"node", part.node},
                     {"first_triangle", part.first_triangle},
                     {"triangles", part.num_triangles}});
  }
  return parts;
}

nlohmann::json JointsJson(const SurfaceMesh& surface) {
  nlohmann::json joints = nlohmann::json::array();
  for (const SurfaceJoint& joint : surface.joints) {
    const Quat& q = joint.rotation;
    const std::string parent =
        joint.parent < 0 ? "" : surface.joints[static_cast<size_t>(joint.parent)].name;
    joints.push_back({{"name", joint.name},
                      {"parent", parent},
                      {"position", PointJson(joint.position)},
                      {"rotation", {q.x, q.y, q.z, q.w}},
                      {"vertices", joint.weights.size()}});
  }
  return joints;
}

nlohmann::json ExtrasJson(const SurfaceMesh& surface) {
  nlohmann::json extras = nlohmann::json::array();
  for (const SourceExtra& extra : surface.extras) {
    extras.push_back({{"owner", extra.owner}, {"json", extra.json}});
  }
  return extras;
}

}  // namespace

std::string Counted(uint64_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

nlohmann::json BoxJson(const Box3& box) {
  const Box3 shown = box.empty() ? Box3{{}, {}} : box;
  return {{"low", PointJson(shown.low)}, {"high", PointJson(shown.high)}};
}

std::string BoxText(const Box3& box) {
  const Box3 shown = box.empty() ? Box3{{}, {}} : box;
  const Vec3d size = shown.Extent();
  return Formatted("%.6g x %.6g x %.6g m, from %s to %s", size.x, size.y, size.z,
                   PointText(shown.low).c_str(), PointText(shown.high).c_str());
}

nlohmann::json FindingsJson(const FindingList& findings) {
  nlohmann::json array = nlohmann::json::array();
  for (const Finding& finding : findings.all()) {
    nlohmann::json places = nlohmann::json::array();
    for (const Place& place : finding.places) places.push_back(PlaceJson(place));
    array.push_back({{"code", finding.code},
                     {"severity", SeverityName(finding.severity)},
                     {"count", finding.count},
                     {"message", finding.message},
                     {"places", places},
                     {"remedy", finding.remedy}});
  }
  return array;
}

bool ReadFindings(const nlohmann::json& array, FindingList* findings) {
  try {
    for (const nlohmann::json& finding : array) {
      const std::string code = finding.at("code");
      if (FindFindingCode(code) == nullptr) return false;
      std::vector<Place> places;
      for (const nlohmann::json& place : finding.at("places")) places.push_back(PlaceOf(place));
      findings->Add(code, finding.at("count"), finding.at("message"), places);
    }
  } catch (const nlohmann::json::exception&) {
    return false;
  }
  return true;
}

std::string FindingsText(const std::string& verb, const std::string& file,
                         const FindingList& findings, int verbosity) {
  std::string text;
  for (const Finding& finding : findings.all()) {
    if (verbosity < 0 && finding.severity != Severity::kError) continue;
    text += "plush " + verb + ": " + SeverityName(finding.severity) + ": " + file + ": " +
            finding.code + ": " + finding.message + "\n";
    const size_t shown = verbosity > 0 ? finding.places.size() : (finding.places.empty() ? 0 : 1);
    for (size_t i = 0; i < shown; ++i) text += "    at " + PlaceText(finding.places[i]) + "\n";
    if (finding.severity != Severity::kInfo) text += "    note: " + finding.remedy + "\n";
  }
  return text;
}

nlohmann::json SourceJson(const std::string& file, const ImportedModel& model,
                          const SurfaceFacts& facts) {
  const SurfaceMesh& surface = model.surface;
  nlohmann::json attributes = nlohmann::json::array();
  for (const VertexAttribute& attribute : surface.attributes) attributes.push_back(attribute.name);
  return {{"file", file},
          {"format", model.format},
          {"unit_m", model.unit_m},
          {"up", std::string(1, model.up)},
          {"hash", HexHash(model.source_hash)},
          {"parts", PartsJson(surface)},
          {"vertices", surface.positions.size()},
          {"triangles", surface.triangles.size()},
          {"points", facts.num_points},
          {"components", facts.num_components},
          {"tets", model.tets.tets.size()},
          {"bounding_box", BoxJson(BoxOf(surface))},
          {"area_m2", AreaOf(surface)},
          {"has_uvs", !surface.uvs.empty()},
          {"attributes", attributes},
          {"joints", JointsJson(surface)},
          {"extras", ExtrasJson(surface)},
          {"dependencies", model.dependencies}};
}

std::string SourceText(const std::string& file, const ImportedModel& model,
                       const SurfaceFacts& facts) {
  const SurfaceMesh& surface = model.surface;
  std::string text = file + ": " + model.format + ", " +
                     Counted(surface.parts.size(), "part", "parts") + ", " +
                     Counted(surface.triangles.size(), "triangle", "triangles") + ", " +
                     Counted(surface.positions.size(), "vertex", "vertices") + " at " +
                     Counted(facts.num_points, "point", "points") + ", " +
                     Counted(facts.num_components, "component", "components");
  if (!model.tets.tets.empty()) text += ", " + Counted(model.tets.tets.size(), "tet", "tets");
  if (!surface.joints.empty()) {
    text += ", " + Counted(surface.joints.size(), "joint", "joints");
  }
  return text + "\n  " + BoxText(BoxOf(surface)) +
         Formatted("; unit %.6g m, %c up\n", model.unit_m, model.up);
}

}  // namespace plush::tools
