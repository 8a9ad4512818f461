// SPDX-License-Identifier: MIT
// Files, FIFOs, devices, links and permissions through the one reader and the one writer.
#include "base/files.h"

#include "skip.h"
#include "tools/procedural_meshes.h"
#include "tools/run_plush.h"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <thread>

using plush::tests::FilesIn;
using plush::tests::TemporaryFolder;
using plush::tools::CheckWritable;
using plush::tools::ExitCode;
using plush::tools::FileContent;
using plush::tools::ReadFile;
using plush::tools::ScratchFolder;
using plush::tools::WriteFileAtomically;
using plush::tools::WriteFilesAtomically;

namespace files_test {

std::span<const std::byte> Bytes(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// Reads a FIFO in a thread, from its construction until Text().
class FifoReader {
 public:
  explicit FifoReader(const std::string& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_NONBLOCK)), thread_([this] { Read(); }) {
    REQUIRE(fd_ >= 0);
  }
  ~FifoReader() {
    Stop();
    ::close(fd_);
  }
  std::string Text() {
    Stop();
    return text_;
  }

 private:
  void Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  void Read() {
    std::array<char, 4096> buffer;
    for (bool last = false; !last;) {
      last = stop_;  // a last round, for data that came before
      for (ssize_t n; (n = ::read(fd_, buffer.data(), buffer.size())) > 0;) {
        text_.append(buffer.data(), static_cast<size_t>(n));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

  int fd_;
  std::atomic<bool> stop_ = false;
  std::string text_;
  std::thread thread_;
};

mode_t ModeOf(const std::string& path) {
  struct stat info = {};
  REQUIRE(::lstat(path.c_str(), &info) == 0);
  return info.st_mode;
}

std::string TextOf(const std::string& path) {
  const auto bytes = ReadFile(path);
  REQUIRE(bytes.ok());
  return {reinterpret_cast<const char*>(bytes.value().data()), bytes.value().size()};
}

TEST_CASE("What is written is read back, over an older file too") {
  TemporaryFolder folder;
  const std::string path = folder / "file";
  for (const std::string text : {"first and long", "", "second"}) {
    REQUIRE(WriteFileAtomically(path, Bytes(text)).ok());
    const auto read = ReadFile(path);
    REQUIRE(read.ok());
    CHECK(std::string(reinterpret_cast<const char*>(read.value().data()), read.value().size()) ==
          text);
    CHECK(FilesIn(folder.path()) == 1);
  }
}

TEST_CASE("Files that cannot be read give an error that names them") {
  TemporaryFolder folder;
  CHECK(ReadFile(folder / "missing").error().exit_code == ExitCode::kIo);
  CHECK(ReadFile(folder / "missing").error().message.find("missing") != std::string::npos);
  CHECK(ReadFile(folder.path()).error().exit_code == ExitCode::kIo);
  REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
  CHECK(ReadFile(folder / "fifo").error().exit_code == ExitCode::kIo);  // without waiting
  plush::tests::WriteText(folder / "ten", "0123456789");
  CHECK(ReadFile(folder / "ten", 10).ok());
  CHECK(ReadFile(folder / "ten", 9).error().exit_code == ExitCode::kLimit);
}

TEST_CASE("Several files are written, or none") {
  TemporaryFolder folder;
  plush::tests::WriteText(folder / "a", "old");
  std::filesystem::create_directory(folder / "directory");
  const auto write = [&](const std::string& second) {
    const std::string text = "new", more = "more";
    const FileContent files[] = {{folder / "a", Bytes(text)}, {second, Bytes(more)}};
    return WriteFilesAtomically(files);
  };
  CHECK(write(folder / "directory").error().exit_code == ExitCode::kIo);
  CHECK(write(folder / "missing/b").error().exit_code == ExitCode::kIo);
  CHECK(ReadFile(folder / "a").value().size() == 3);
  CHECK(ReadFile(folder / "a").value()[0] == std::byte{'o'});
  CHECK(FilesIn(folder.path()) == 2);
  REQUIRE(write(folder / "b").ok());
  CHECK(ReadFile(folder / "a").value()[0] == std::byte{'n'});
  CHECK(ReadFile(folder / "b").value().size() == 4);
  CHECK(FilesIn(folder.path()) == 3);
}

TEST_CASE("A directory or a missing folder cannot be written and nothing is left behind") {
  TemporaryFolder folder;
  std::filesystem::create_directory(folder / "directory");
  for (const std::string& path : {folder / "directory", folder / "missing/file"}) {
    CHECK(CheckWritable(path).error().exit_code == ExitCode::kIo);
    CHECK(WriteFileAtomically(path, Bytes("x")).error().exit_code == ExitCode::kIo);
  }
  CHECK(CheckWritable(folder / "file").ok());
  CHECK(FilesIn(folder.path()) == 1);
}

TEST_CASE("A FIFO receives the bytes and stays a FIFO") {
  TemporaryFolder folder;
  REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
  const std::string text(100000, 'x');  // more than a pipe holds
  FifoReader reader(folder / "fifo");
  CHECK(CheckWritable(folder / "fifo").ok());
  REQUIRE(WriteFileAtomically(folder / "fifo", Bytes(text)).ok());
  CHECK(reader.Text() == text);
  CHECK(S_ISFIFO(ModeOf(folder / "fifo")));
  CHECK(FilesIn(folder.path()) == 1);
}

TEST_CASE("A FIFO whose reader leaves is an error, and the other files stay old") {
  TemporaryFolder folder;
  REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
  plush::tests::WriteText(folder / "a", "old");
  const int fd = ::open((folder / "fifo").c_str(), O_RDONLY | O_NONBLOCK);
  std::thread leaver([fd] {
    char byte = 0;
    while (::read(fd, &byte, 1) != 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ::close(fd);
  });
  const std::string text(1 << 20, 'x');
  const std::string small = "new";
  const FileContent files[] = {{folder / "a", Bytes(small)}, {folder / "fifo", Bytes(text)}};
  CHECK(WriteFilesAtomically(files).error().exit_code == ExitCode::kIo);
  leaver.join();
  CHECK(TextOf(folder / "a") == "old");
  CHECK(FilesIn(folder.path()) == 2);
}

TEST_CASE("A device is written, never replaced") {
  TemporaryFolder folder;
  if (::mknod((folder / "null").c_str(), S_IFCHR | 0600, ::makedev(1, 3)) != 0) {
    plush::tests::Skip("this user may not make device nodes");
    return;
  }
  if (const int fd = ::open((folder / "null").c_str(), O_WRONLY); fd >= 0) {
    ::close(fd);
  } else {
    plush::tests::Skip("device nodes do not work in the temporary folder");
    return;
  }
  CHECK(CheckWritable(folder / "null").ok());
  CHECK(WriteFileAtomically(folder / "null", Bytes("text")).ok());
  CHECK(S_ISCHR(ModeOf(folder / "null")));
  CHECK(FilesIn(folder.path()) == 1);
}

TEST_CASE("Links stay, and the files behind them are replaced or made") {
  TemporaryFolder folder;
  std::filesystem::create_directory(folder / "inner");
  plush::tests::WriteText(folder / "inner/file", "old");
  std::filesystem::create_symlink("inner/file", folder / "relative");
  std::filesystem::create_symlink(folder / "relative", folder / "chain");
  std::filesystem::create_symlink("inner/new", folder / "dangling");
  for (const char* link : {"relative", "chain", "dangling"}) {
    INFO(link);
    CHECK(CheckWritable(folder / link).ok());
    REQUIRE(WriteFileAtomically(folder / link, Bytes(link)).ok());
    CHECK(S_ISLNK(ModeOf(folder / link)));
    CHECK(TextOf(folder / link) == link);
  }
  CHECK(TextOf(folder / "inner/file") == "chain");
  CHECK(S_ISREG(ModeOf(folder / "inner/new")));
  CHECK(FilesIn(folder / "inner") == 2);
  CHECK(FilesIn(folder.path()) == 4);
}

TEST_CASE("Links in a circle or into a missing folder are errors") {
  TemporaryFolder folder;
  std::filesystem::create_symlink("b", folder / "a");
  std::filesystem::create_symlink("a", folder / "b");
  std::filesystem::create_symlink("missing/file", folder / "nowhere");
  for (const char* link : {"a", "nowhere"}) {
    CHECK(CheckWritable(folder / link).error().exit_code == ExitCode::kIo);
    CHECK(WriteFileAtomically(folder / link, Bytes("x")).error().exit_code == ExitCode::kIo);
  }
  CHECK(FilesIn(folder.path()) == 3);
}

TEST_CASE("A file that nobody may write is refused, even for root, and behind a link") {
  TemporaryFolder folder;
  plush::tests::WriteText(folder / "file", "old");
  REQUIRE(::chmod((folder / "file").c_str(), 0444) == 0);
  std::filesystem::create_symlink("file", folder / "link");
  for (const char* name : {"file", "link"}) {
    CHECK(CheckWritable(folder / name).error().exit_code == ExitCode::kIo);
    const auto written = WriteFileAtomically(folder / name, Bytes("new"));
    REQUIRE_FALSE(written.ok());
    CHECK(written.error().message.find(name) != std::string::npos);
  }
  CHECK(TextOf(folder / "file") == "old");
  CHECK(FilesIn(folder.path()) == 2);
}

TEST_CASE("A replaced file keeps its permissions") {
  TemporaryFolder folder;
  plush::tests::WriteText(folder / "file", "old");
  REQUIRE(::chmod((folder / "file").c_str(), 0640) == 0);
  REQUIRE(WriteFileAtomically(folder / "file", Bytes("new")).ok());
  CHECK((ModeOf(folder / "file") & 0777) == 0640);
}

TEST_CASE("A file may have the longest name that there can be") {
  TemporaryFolder folder;
  const std::string path = folder / std::string(NAME_MAX, 'n');
  CHECK(CheckWritable(path).ok());
  for (const char* text : {"old", "new"}) {
    REQUIRE(WriteFileAtomically(path, Bytes(text)).ok());
    CHECK(TextOf(path) == text);
  }
  CHECK(FilesIn(folder.path()) == 1);
  CHECK_FALSE(WriteFileAtomically(path + "n", Bytes("new")).ok());
  CHECK(FilesIn(folder.path()) == 1);
}

TEST_CASE("A left-over temporary file of the same process id is no obstacle") {
  TemporaryFolder folder;
  const std::string left = folder / (".plush.tmp" + std::to_string(::getpid()) + "-0");
  plush::tests::WriteText(left, "of another");
  REQUIRE(WriteFileAtomically(folder / "file", Bytes("new")).ok());
  CHECK(TextOf(left) == "of another");
  CHECK(TextOf(folder / "file") == "new");
}

TEST_CASE("Writers of one path at once all succeed, and a reader sees whole files only") {
  TemporaryFolder folder;
  const std::string path = folder / "file";
  std::array<std::string, 4> texts;
  for (size_t i = 0; i < texts.size(); ++i) {
    texts[i] = std::string(200000 + i, static_cast<char>('a' + i));
  }
  REQUIRE(WriteFileAtomically(path, Bytes(texts[0])).ok());
  std::atomic<int> failures = 0;
  std::atomic<int> running = 0;
  std::vector<std::thread> writers;
  for (const std::string& text : texts) {
    ++running;
    writers.emplace_back([&] {
      for (int i = 0; i < 20; ++i) failures += WriteFileAtomically(path, Bytes(text)).ok() ? 0 : 1;
      --running;
    });
  }
  int torn = 0;
  do {
    const std::string text = TextOf(path);
    torn += std::find(texts.begin(), texts.end(), text) == texts.end() ? 1 : 0;
  } while (running > 0);
  for (std::thread& writer : writers) writer.join();
  CHECK(failures == 0);
  CHECK(torn == 0);
  CHECK(FilesIn(folder.path()) == 1);
}

TEST_CASE("A scratch folder is empty, private, and gone with its content at the end") {
  std::string path;
  {
    const auto folder = ScratchFolder::Create();
    REQUIRE(folder.ok());
    path = folder.value()->path();
    CHECK(std::filesystem::is_empty(path));
    CHECK(std::filesystem::status(path).permissions() == std::filesystem::perms::owner_all);
    std::filesystem::create_directory(*folder.value() / "inner");
    plush::tests::WriteText(*folder.value() / "inner/file", "text");
    const auto other = ScratchFolder::Create();
    REQUIRE(other.ok());
    CHECK(other.value()->path() != path);
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("Without a place for temporary files there is no scratch folder") {
  ::setenv("TMPDIR", "/no/such/folder", 1);
  const auto folder = ScratchFolder::Create();
  ::unsetenv("TMPDIR");
  REQUIRE_FALSE(folder.ok());
  CHECK(folder.error().exit_code == plush::tools::ExitCode::kIo);
}

}  // namespace files_test
