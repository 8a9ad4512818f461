// SPDX-License-Identifier: MIT
#include "import/file_ending.h"

#include <catch2/catch.hpp>

TEST_CASE("Endings of file names match in any case") {
  using plush::tools::HasEnding;
  CHECK(HasEnding("a.msh", ".msh"));
  CHECK(HasEnding("A.MsH", ".msh"));
  CHECK(HasEnding(".msh", ".msh"));
  CHECK_FALSE(HasEnding("msh", ".msh"));
  CHECK_FALSE(HasEnding("a.msh2", ".msh"));
  CHECK_FALSE(HasEnding("", ".msh"));
}
