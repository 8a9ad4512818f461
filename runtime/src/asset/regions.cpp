// SPDX-License-Identifier: MIT
// Reads regions from the bytes of an opened asset, and finds them by name.
#include "asset/regions.h"

#include "plush_generated.h"

namespace plush {

uint32_t NumRegions(std::span<const std::byte> bytes) {
  if (bytes.empty()) return 0;
  const format::Simulation* simulation = format::GetAsset(bytes.data())->simulation();
  const auto* regions = simulation == nullptr ? nullptr : simulation->regions();
  return regions == nullptr ? 0 : regions->size();
}

RegionView RegionOf(std::span<const std::byte> bytes, uint32_t index) {
  const auto* region = format::GetAsset(bytes.data())->simulation()->regions()->Get(index);
  RegionView view;
  if (const auto* name = region->name()) view.name = name->string_view();
  if (const auto* nodes = region->nodes()) view.nodes = {nodes->data(), nodes->size()};
  if (const format::Pose* rest = region->rest()) {
    view.rest = *reinterpret_cast<const Pose*>(rest);
    view.has_joint = true;
  }
  return view;
}

Status FindRegion(const Asset& asset, std::string_view name, uint32_t* out_region) {
  if (out_region == nullptr) {
    return {StatusCode::kInvalidArgument, "out_region", "must not be null", 0};
  }
  // Names ascend.
  uint32_t begin = 0;
  uint32_t end = asset.num_regions();
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    if (asset.region(middle).name < name) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  if (begin == asset.num_regions() || asset.region(begin).name != name) {
    return {StatusCode::kInvalidArgument, "region", "the asset has no region of this name", 0};
  }
  *out_region = begin;
  return {};
}

}  // namespace plush
