// SPDX-License-Identifier: MIT
#include "bench/bench_models.h"

#include "base/float_rounding.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace plush::bench {
namespace {

[[noreturn]] void Exit(const tools::Error& error) {
  std::fprintf(stderr, "plush_bench: error: %s\n", error.message.c_str());
  std::exit(static_cast<int>(error.exit_code));
}

}  // namespace

std::string ModelFolder::Find(const std::string& file, const std::string& case_name) const {
  const std::string path = path_ + "/" + file;
  std::error_code error;
  if (!path_.empty() && std::filesystem::exists(path, error)) return path;
  std::fprintf(stderr, "skipped %s: there is no model %s\n", case_name.c_str(), file.c_str());
  return "";
}

tools::ImportedModel ImportOrExit(const std::string& path, double scale) {
  tools::ImportSettings settings = {.scale = scale, .helper = PLUSH_IMPORT_EXECUTABLE};
  tools::FindingList findings;
  auto model = tools::ImportModel(path, settings, &findings);
  if (!model.ok()) Exit(model.error());
  return std::move(model.value());
}

tools::SurfaceMesh RoundedToFloat(const tools::ImportedModel& model) {
  tools::SurfaceMesh surface = model.surface;
  for (tools::Vec3d& position : surface.positions) position = tools::RoundToFloat(position);
  return surface;
}

std::vector<std::byte> BakeOrExit(const tools::ImportedModel& model,
                                  const tools::BakeSettings& settings) {
  tools::FindingList findings;
  auto baked = tools::Bake(model, settings, &findings);
  if (!baked.ok()) Exit(baked.error());
  return std::move(baked.value().bytes);
}

AlignedBytes::AlignedBytes(std::span<const std::byte> bytes)
    : storage_(bytes.size() + kAssetAlignment), bytes_(CopyAligned(bytes, storage_)) {}

}  // namespace plush::bench
