// SPDX-License-Identifier: MIT
#include "tools/validate/damage.h"

#include "bake/content_hash.h"
#include "shapes/shape_asset.h"
#include "validate/validate.h"

#include <catch2/catch.hpp>

#include <cstring>

namespace plush::tests {

std::string Text(const tools::FindingList& findings) {
  std::string text;
  for (const auto& finding : findings.all()) text += finding.code + ": " + finding.message + "\n";
  return text;
}

tools::FindingList FindingsAfter(std::span<const std::byte> sound,
                                 const std::function<void(const Asset&)>& damage) {
  test::ExactBuffer file(sound);
  Asset asset;
  REQUIRE(asset.Open(file.bytes()).ok());
  damage(asset);
  const auto field = tools::FindContentHash(file.bytes());
  REQUIRE(field.has_value());
  const uint64_t hash = tools::ContentHash(file.bytes(), *field);
  std::memcpy(file.bytes().data() + *field, &hash, sizeof(hash));
  tools::FindingList findings;
  ValidateAsset(file.bytes(), &findings);
  return findings;
}

}  // namespace plush::tests
