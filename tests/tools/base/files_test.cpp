// SPDX-License-Identifier: MIT
#include "base/files.h"

#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>
#include <sys/stat.h>

#include <filesystem>

using plush::tests::TemporaryFolder;
using plush::tools::CheckWritable;
using plush::tools::ExitCode;
using plush::tools::FileContent;
using plush::tools::ReadFile;
using plush::tools::WriteFileAtomically;
using plush::tools::WriteFilesAtomically;

namespace {

std::span<const std::byte> Bytes(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

size_t CountFiles(const std::string& folder) {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

}  // namespace

TEST_CASE("What is written is read back, over an older file too") {
  TemporaryFolder folder;
  const std::string path = folder / "file";
  for (const std::string text : {"first and long", "", "second"}) {
    REQUIRE(WriteFileAtomically(path, Bytes(text)).ok());
    const auto read = ReadFile(path);
    REQUIRE(read.ok());
    CHECK(std::string(reinterpret_cast<const char*>(read.value().data()), read.value().size()) ==
          text);
    CHECK(CountFiles(folder.path()) == 1);
  }
}

TEST_CASE("Files that cannot be read give an error that names them") {
  TemporaryFolder folder;
  CHECK(ReadFile(folder / "missing").error().exit_code == ExitCode::kIo);
  CHECK(ReadFile(folder / "missing").error().message.find("missing") != std::string::npos);
  CHECK(ReadFile(folder.path()).error().exit_code == ExitCode::kIo);
  REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
  CHECK(ReadFile(folder / "fifo").error().exit_code == ExitCode::kIo);  // and does not wait
  plush::tests::WriteText(folder / "ten", "0123456789");
  CHECK(ReadFile(folder / "ten", 10).ok());
  CHECK(ReadFile(folder / "ten", 9).error().exit_code == ExitCode::kLimit);
}

TEST_CASE("Several files are written, or none") {
  TemporaryFolder folder;
  plush::tests::WriteText(folder / "a", "old");
  std::filesystem::create_directory(folder / "directory");
  const auto write = [&](const std::string& second) {
    const std::string text = "new";
    const std::string more = "more";
    const FileContent files[] = {{folder / "a", Bytes(text)}, {second, Bytes(more)}};
    return WriteFilesAtomically(files);
  };
  CHECK(write(folder / "directory").error().exit_code == ExitCode::kIo);
  CHECK(write(folder / "missing/b").error().exit_code == ExitCode::kIo);
  CHECK(ReadFile(folder / "a").value().size() == 3);
  CHECK(ReadFile(folder / "a").value()[0] == std::byte{'o'});
  CHECK(CountFiles(folder.path()) == 2);
  REQUIRE(write(folder / "b").ok());
  CHECK(ReadFile(folder / "a").value()[0] == std::byte{'n'});
  CHECK(ReadFile(folder / "b").value().size() == 4);
  CHECK(CountFiles(folder.path()) == 3);
}

TEST_CASE("A directory or a missing folder cannot be written and nothing is left behind") {
  TemporaryFolder folder;
  std::filesystem::create_directory(folder / "directory");
  for (const std::string& path : {folder / "directory", folder / "missing/file"}) {
    CHECK(CheckWritable(path).error().exit_code == ExitCode::kIo);
    CHECK(WriteFileAtomically(path, Bytes("x")).error().exit_code == ExitCode::kIo);
  }
  CHECK(CheckWritable(folder / "file").ok());
  CHECK(CountFiles(folder.path()) == 1);
}
