// SPDX-License-Identifier: MIT
#include "import/source_hash.h"

#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>
#include <sys/stat.h>

#include <filesystem>

using plush::tests::TemporaryFolder;
using plush::tests::WriteText;
using plush::tools::ExitCode;
using plush::tools::HashSource;

TEST_CASE("The hash is XXH3-64 of the whole content") {
  TemporaryFolder folder;
  WriteText(folder / "empty", "");
  WriteText(folder / "long", std::string(3'000'001, 'x'));
  WriteText(folder / "longer", std::string(3'000'002, 'x'));
  CHECK(HashSource(folder / "empty").value().hash == 0x2d06800538d394c2);  // published value
  CHECK(HashSource(folder / "empty").value().num_bytes == 0);
  CHECK(HashSource(folder / "long").value().num_bytes == 3'000'001);
  CHECK(HashSource(folder / "long").value().hash != HashSource(folder / "longer").value().hash);
}

TEST_CASE("What is no readable file, or too large, is refused") {
  TemporaryFolder folder;
  CHECK(HashSource(folder / "missing").error().exit_code == ExitCode::kIo);
  CHECK(HashSource(folder.path()).error().exit_code == ExitCode::kIo);
  REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
  CHECK(HashSource(folder / "fifo").error().exit_code == ExitCode::kIo);
  WriteText(folder / "huge", "");
  std::filesystem::resize_file(folder / "huge", plush::tools::kMaxSourceBytes + 1);  // sparse
  CHECK(HashSource(folder / "huge").error().exit_code == ExitCode::kLimit);
  CHECK(HashSource(folder / "huge").error().finding_code == "IMPORT_LIMIT");
}
