// SPDX-License-Identifier: MIT
#include "bake/depfile.h"

#include <catch2/catch.hpp>

using plush::tools::DepfileText;

TEST_CASE("A depfile lists each prerequisite on a line of its own") {
  CHECK(DepfileText("out/a.plush", {"a.obj", "a.mtl"}) == "out/a.plush: \\\n  a.obj \\\n  a.mtl\n");
  CHECK(DepfileText("a.plush", {}) == "a.plush:\n");
}

TEST_CASE("Characters that mean something to Make are escaped") {
  CHECK(DepfileText("a b.plush", {"c#d", "$e", "f\\g"}) ==
        "a\\ b.plush: \\\n  c\\#d \\\n  $$e \\\n  f\\g\n");
  CHECK(DepfileText("t", {"back\\ slash"}) == "t: \\\n  back\\\\\\ slash\n");
  CHECK(DepfileText("t", {"line\nend", "ok"}) == "t: \\\n  ok\n");
}
