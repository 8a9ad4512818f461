// SPDX-License-Identifier: MIT
#include "batch/ninja_file.h"

#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <map>

namespace plush::tools::ninja_file_test {
namespace {

BatchAsset Asset(const std::string& name, uint64_t bytes) {
  return {name, "/models/" + name, name + ".plush", bytes, {}};
}

TEST_CASE("Costs of the last run come from Ninja's log, the latest entry of each output") {
  const tests::TemporaryFolder folder;
  CHECK(LoggedCosts(folder.path()).empty());
  std::filesystem::create_directories(folder / ".batch");
  std::ofstream(folder / ".batch/.ninja_log") << "# ninja log v5\n"
                                              << "0\t100\t7\ta.plush\tabc\n"
                                              << "50\t1050\t7\tb c.plush\tabc\n"
                                              << "broken line\n5\t\n"
                                              << "0\t300\t8\ta.plush\tabc\n";
  const auto costs = LoggedCosts(folder.path());
  REQUIRE(costs.size() == 2);
  CHECK(costs.at("a.plush") == Approx(0.3));
  CHECK(costs.at("b c.plush") == Approx(1.0));
}

TEST_CASE("Kept costs read back, whatever the names are") {
  const tests::TemporaryFolder folder;
  CHECK(KeptCosts(folder.path()).empty());
  std::filesystem::create_directories(folder / ".batch");
  const std::map<std::string, double> costs = {{"a b\tc.plush", 0.25}, {"d/e.plush", 12.5}};
  REQUIRE(KeepCosts(folder.path(), costs).ok());
  CHECK(KeptCosts(folder.path()) == costs);
  std::ofstream(folder / ".batch/costs") << "nan\tx.plush\n-1\ty.plush\n\n3\n2\tz.plush";
  CHECK(KeptCosts(folder.path()) == std::map<std::string, double>{{"z.plush", 2.0}});
}

TEST_CASE("Long bakes start first, and unknown costs go by the size of the input") {
  std::vector<BatchAsset> assets = {Asset("small", 10), Asset("known", 100), Asset("big", 1000)};
  const auto costs = SortByCost({{"known.plush", 2.0}}, &assets);
  CHECK(assets[0].name == "big");
  CHECK(assets[1].name == "known");
  CHECK(assets[2].name == "small");
  CHECK(costs[0] == Approx(20.0));
  CHECK(costs[1] == Approx(2.0));
  CHECK(costs[2] == Approx(0.2));
}

}  // namespace
}  // namespace plush::tools::ninja_file_test
