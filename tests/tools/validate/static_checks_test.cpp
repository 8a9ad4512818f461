// SPDX-License-Identifier: MIT
// Each rule that only `plush validate` checks of a static mesh is found if it is broken.
#include "plush/format/static_mesh.h"

#include "shapes/static_asset.h"
#include "tools/procedural_meshes.h"
#include "tools/validate/damage.h"
#include "validate/validate.h"

#include <catch2/catch.hpp>

using namespace plush;
using namespace plush::tests;
using Catch::Matchers::Contains;

namespace static_checks_test {

std::vector<std::byte> Sphere() { return test::StaticBytesOf(MakeSphere(1.0, 10, 12)); }

TEST_CASE("A static file validates without findings") {
  for (const SurfaceMesh& mesh : {MakeSphere(1.0, 10, 12), MakeTriangleSoup(300, 0.2, 1),
                                  MakeOpenBox({1e5, 1e5, 1e5}, {1e5 + 1, 1e5 + 2, 1e5 + 3})}) {
    tools::FindingList findings;
    tools::ValidateAsset(test::StaticBytesOf(mesh), &findings);
    INFO(Text(findings));
    CHECK(findings.all().empty());
  }
}

TEST_CASE("Damage of a static mesh's meaning is found, in files that open") {
  using Damage = std::function<void(const Asset&)>;
  const std::pair<const char*, Damage> cases[] = {
      {"repeat another",
       [](const Asset& a) { At(a.static_mesh().positions, 5) = a.static_mesh().positions[90]; }},
      {"box is not that",
       [](const Asset& a) {
         // The topmost vertex comes down.
         for (const Vec3& p : a.static_mesh().positions) {
           if (p.y == a.static_mesh().grid.high.y) const_cast<Vec3&>(p).y = 0.99f;
         }
       }},
      {"not the bounds", [](const Asset& a) { ++At(a.static_mesh().tree, 1).low[0][0]; }},
      {"without area",
       [](const Asset& a) {
         const StaticMeshView& m = a.static_mesh();
         const auto& v = m.triangles[7].vertices;
         At(m.positions, v[2]) = m.positions[v[1]];
       }},
  };
  for (const auto& [message, damage] : cases) {
    const tools::FindingList findings = FindingsAfter(Sphere(), damage);
    INFO(message << "\n" << Text(findings));
    CHECK(findings.Has("FILE_STATIC_MESH"));
    CHECK_THAT(Text(findings), Contains(message));
    CHECK_FALSE(findings.Has("FILE_CONTENT_HASH"));
  }
}

TEST_CASE("Damage of a static mesh's structure is found") {
  const tools::FindingList findings = FindingsAfter(Sphere(), [](const Asset& a) {
    At(a.static_mesh().triangles, 7).neighbours[0] = kNoTriangle;
    At(a.static_mesh().materials, 3) = 9;
  });
  INFO(Text(findings));
  CHECK(findings.Has("FILE_ORDER"));
  CHECK(findings.Has("FILE_INDEX"));
}

TEST_CASE("A changed byte of a static file breaks its content hash") {
  const tools::FindingList findings = [] {
    std::vector<std::byte> bytes = Sphere();
    bytes[bytes.size() / 2] ^= std::byte{1};
    tools::FindingList list;
    tools::ValidateAsset(bytes, &list);
    return list;
  }();
  INFO(Text(findings));
  CHECK_FALSE(findings.all().empty());
}

}  // namespace static_checks_test
