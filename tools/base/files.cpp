// SPDX-License-Identifier: MIT
#include "base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

namespace plush::tools {
namespace {

Error IoError(const std::string& what, const std::string& path) {
  return {ExitCode::kIo, what + " '" + path + "': " + std::strerror(errno), ""};
}

std::string TemporaryPath(const std::string& path) {
  return path + ".tmp" + std::to_string(static_cast<long>(::getpid()));
}

// Writes all bytes, through short writes and interruptions.
bool WriteAll(int fd, std::span<const std::byte> bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

Result<Done> CheckNotDirectory(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    return IoError("cannot write", path);
  }
  return Done{};
}

// A write past RLIMIT_FSIZE raises SIGXFSZ; ignored, it becomes the error EFBIG.
void IgnoreFileSizeSignal() { std::signal(SIGXFSZ, SIG_IGN); }

// Writes the temporary file of `path`; on failure it is gone.
Result<Done> WriteTemporary(const std::string& path, std::span<const std::byte> bytes) {
  if (Result<Done> check = CheckNotDirectory(path); !check.ok()) return check;
  IgnoreFileSizeSignal();
  const std::string temporary = TemporaryPath(path);
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return IoError("cannot write", path);
  const bool written = WriteAll(fd, bytes) && ::fsync(fd) == 0;
  const Error error = IoError("cannot write", path);  // errno of the write, before close changes it
  const bool closed = ::close(fd) == 0;
  if (!written || !closed) {
    ::unlink(temporary.c_str());
    return error;
  }
  return Done{};
}

// Puts the temporary file of `path` in its place; on failure it is gone.
Result<Done> RenameTemporary(const std::string& path) {
  const std::string temporary = TemporaryPath(path);
  if (std::rename(temporary.c_str(), path.c_str()) == 0) return Done{};
  const Error error = IoError("cannot write", path);
  ::unlink(temporary.c_str());
  return error;
}

}  // namespace

Result<std::vector<std::byte>> ReadFile(const std::string& path, uint64_t max_bytes) {
  // Without O_NONBLOCK, a FIFO would hold the call up until somebody writes to it.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return IoError("cannot read", path);
  struct stat info = {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    return Error{ExitCode::kIo, "cannot read '" + path + "': not a regular file", ""};
  }
  const uint64_t size = static_cast<uint64_t>(info.st_size);
  if (size > max_bytes) {
    ::close(fd);
    return Error{ExitCode::kLimit,
                 "'" + path + "' has " + std::to_string(size) + " bytes, more than the limit of " +
                     std::to_string(max_bytes),
                 ""};
  }
  std::vector<std::byte> bytes(size);
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::read(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const Error error = IoError("cannot read", path);
      ::close(fd);
      return error;
    }
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  ::close(fd);
  bytes.resize(done);
  return bytes;
}

Result<Done> WriteFileAtomically(const std::string& path, std::span<const std::byte> bytes) {
  const FileContent file = {path, bytes};
  return WriteFilesAtomically({&file, 1});
}

Result<Done> WriteFilesAtomically(std::span<const FileContent> files) {
  const auto drop = [](std::span<const FileContent> unused) {
    for (const FileContent& file : unused) ::unlink(TemporaryPath(file.path).c_str());
  };
  for (size_t i = 0; i < files.size(); ++i) {
    if (auto written = WriteTemporary(files[i].path, files[i].bytes); !written.ok()) {
      drop(files.first(i));
      return written;
    }
  }
  for (size_t i = 0; i < files.size(); ++i) {
    if (auto renamed = RenameTemporary(files[i].path); !renamed.ok()) {
      drop(files.subspan(i + 1));
      return renamed;
    }
  }
  return Done{};
}

Result<Done> CheckWritable(const std::string& path) {
  if (Result<Done> check = CheckNotDirectory(path); !check.ok()) return check;
  const std::string temporary = TemporaryPath(path);
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return IoError("cannot write", path);
  ::close(fd);
  ::unlink(temporary.c_str());
  return Done{};
}

}  // namespace plush::tools
