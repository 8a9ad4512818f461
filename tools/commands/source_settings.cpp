// SPDX-License-Identifier: MIT
#include "commands/source_settings.h"

#include "plush/asset.h"

#include "base/aligned_bytes.h"

#include <nlohmann/json.hpp>

namespace plush::tools {

ImportSettings SettingsOfBake(std::span<const std::byte> bytes) {
  ImportSettings import;
  const AlignedBytes file(bytes);
  Asset asset;
  if (!asset.Open(file.bytes(), Trust::kValidated).ok()) return import;
  const auto json = nlohmann::json::parse(asset.settings(), nullptr, false);
  if (!json.is_object()) return import;
  const auto positive = [&json](const char* key, double fallback) {
    if (!json.contains(key) || !json[key].is_number()) return fallback;
    const double value = json[key].get<double>();
    return value > 0.0 ? value : fallback;
  };
  // Source and render mesh may have different units: only the option as given holds for both.
  import.unit_m = positive(json.contains("unit_option_m") ? "unit_option_m" : "unit_m", 0.0);
  import.scale = positive("scale", 1.0);
  // The option as given: with --up, some importers leave the axes alone.
  if (json.contains("up_option")) {
    if (json["up_option"] == "y") import.up = UpAxis::kY;
    if (json["up_option"] == "z") import.up = UpAxis::kZ;
  }
  return import;
}

}  // namespace plush::tools
