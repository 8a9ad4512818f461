// SPDX-License-Identifier: MIT
#include "report/findings_report.h"

#include <cstdio>

namespace plush::tools {
namespace {

nlohmann::json PlaceJson(const Place& place) {
  nlohmann::json json = nlohmann::json::object();
  if (place.has_position) {
    json["position"] = {place.position.x, place.position.y, place.position.z};
  }
  if (place.triangle >= 0) json["triangle"] = place.triangle;
  if (place.element >= 0) json["element"] = place.element;
  if (!place.object.empty()) json["object"] = place.object;
  return json;
}

std::string PlaceText(const Place& place) {
  std::string line;
  const auto add = [&line](const std::string& part) {
    if (!line.empty()) line += ", ";
    line += part;
  };
  if (place.has_position) {
    char text[160];
    std::snprintf(text, sizeof(text), "(%.6g, %.6g, %.6g) m", place.position.x, place.position.y,
                  place.position.z);
    add(text);
  }
  if (place.triangle >= 0) add("triangle " + std::to_string(place.triangle));
  if (place.element >= 0) add("element " + std::to_string(place.element));
  if (!place.object.empty()) add("'" + place.object + "'");
  return line;
}

}  // namespace

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

}  // namespace plush::tools
