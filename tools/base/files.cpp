// SPDX-License-Identifier: MIT
// Reads and writes whole files with POSIX calls: temporary file, fsync, rename for regular files;
// direct writes for devices and FIFOs.
#include "base/files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>

namespace plush::tools {
namespace {

// Symbolic links in a row, as many as Linux follows.
constexpr int kMaxLinks = 40;
constexpr int kMaxTemporaries = 10000;
constexpr size_t kPieceBytes = 1 << 20;
constexpr mode_t kPermissions = 0777;
constexpr mode_t kAnyWrite = 0222;

Error IoError(const char* what, const std::string& path, int error) {
  return {ExitCode::kIo, std::string(what) + " '" + path + "': " + std::strerror(error)};
}

Error WriteError(const std::string& path, int error) {
  return IoError("cannot write", path, error);
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { Close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }
  bool Close() { return fd_ < 0 || ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

// Returns errno of a failed write, else 0. Goes on after short writes and interruptions.
int WriteAll(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : EIO;
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return 0;
}

// A path to write, and what it leads to before the write.
struct Target {
  std::string path;        // as given
  std::string file;        // the path behind all symbolic links
  bool is_new = false;     // there is no such file yet
  bool is_stream = false;  // a device or a FIFO
  mode_t permissions = 0;  // unless new
  std::string temporary;   // of the new content; empty if there is none
};

// The path behind all symbolic links; the last one may lead nowhere.
Result<std::string> FollowLinks(const std::string& path) {
  std::filesystem::path file = path;
  for (int i = 0; i < kMaxLinks; ++i) {
    std::error_code is_no_link;
    const std::filesystem::path next = std::filesystem::read_symlink(file, is_no_link);
    if (is_no_link) return file.string();
    file = file.parent_path() / next;
  }
  return WriteError(path, ELOOP);
}

// Root may write everything, so the mode bits count as well.
bool MayWrite(const std::string& path, mode_t mode) {
  return (mode & kAnyWrite) != 0 && ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0;
}

Result<Target> FindTarget(const std::string& path) {
  Target target;
  target.path = path;
  struct stat info = {};
  if (::stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) return WriteError(path, EISDIR);
    target.is_stream = S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode) || S_ISFIFO(info.st_mode);
    if (!target.is_stream && !S_ISREG(info.st_mode)) return WriteError(path, ENXIO);
    if (!MayWrite(path, info.st_mode)) return WriteError(path, EACCES);
    target.permissions = info.st_mode & kPermissions;
  } else {
    if (errno != ENOENT) return WriteError(path, errno);
    target.is_new = true;
  }
  if (target.is_stream) return target;
  Result<std::string> file = FollowLinks(path);
  if (!file.ok()) return file.error();
  target.file = std::move(file.value());
  return target;
}

// Opens a new file beside the target. O_EXCL keeps any two writers apart. Its name does not depend
// on the target's, which may be as long as names can be.
int OpenTemporary(Target* target) {
  const std::filesystem::path folder = std::filesystem::path(target->file).parent_path();
  const std::string stem = kTemporaryStem + std::to_string(::getpid()) + "-";
  for (int i = 0; i < kMaxTemporaries; ++i) {
    const std::string name = folder / (stem + std::to_string(i));
    const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) target->temporary = name;
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

Result<Done> WriteTemporary(std::span<const std::byte> bytes, Target* target) {
  Descriptor fd(OpenTemporary(target));
  if (!fd.ok()) return WriteError(target->path, errno);
  if (const int error = WriteAll(fd.get(), bytes); error != 0) {
    return WriteError(target->path, error);
  }
  const bool permitted = target->is_new || ::fchmod(fd.get(), target->permissions) == 0;
  if (!permitted || ::fsync(fd.get()) != 0 || !fd.Close()) return WriteError(target->path, errno);
  return Done{};
}

Result<Done> WriteStream(const Target& target, std::span<const std::byte> bytes) {
  const Descriptor fd(::open(target.path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (!fd.ok()) return WriteError(target.path, errno);
  // Ignored, this signal becomes the error EPIPE: no reader is left. Elsewhere it ends the process,
  // as a reader of its output expects.
  const auto old = std::signal(SIGPIPE, SIG_IGN);
  const int error = WriteAll(fd.get(), bytes);
  std::signal(SIGPIPE, old);
  if (error != 0) return WriteError(target.path, error);
  return Done{};
}

// Writes several files. The destructor removes temporary files that were not renamed.
class Transaction {
 public:
  Transaction() = default;
  ~Transaction() {
    for (const Target& target : targets_) {
      if (!target.temporary.empty()) ::unlink(target.temporary.c_str());
    }
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  Result<Done> Write(std::span<const FileContent> files) {
    for (const FileContent& file : files) {
      Result<Target> target = FindTarget(file.path);
      if (!target.ok()) return target.error();
      targets_.push_back(std::move(target.value()));
      if (targets_.back().is_stream) continue;
      if (auto done = WriteTemporary(file.bytes, &targets_.back()); !done.ok()) return done;
    }
    for (size_t i = 0; i < files.size(); ++i) {
      if (!targets_[i].is_stream) continue;
      if (auto done = WriteStream(targets_[i], files[i].bytes); !done.ok()) return done;
    }
    return RenameAll();
  }

 private:
  Result<Done> RenameAll() {
    for (Target& target : targets_) {
      if (target.is_stream) continue;
      if (std::rename(target.temporary.c_str(), target.file.c_str()) != 0) {
        return WriteError(target.path, errno);
      }
      target.temporary.clear();
    }
    return Done{};
  }

  std::vector<Target> targets_;
};

}  // namespace

Result<Done> ReadPieces(const std::string& path, uint64_t max_bytes,
                        const std::function<void(std::span<const std::byte>)>& use) {
  // Without O_NONBLOCK, opening a FIFO would wait for a writer.
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.ok()) return IoError("cannot read", path, errno);
  struct stat info = {};
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return Error{ExitCode::kIo, "cannot read '" + path + "': not a regular file"};
  }
  const uint64_t size = static_cast<uint64_t>(info.st_size);
  if (size > max_bytes) {
    return Error{ExitCode::kLimit, "'" + path + "' has " + std::to_string(size) +
                                       " bytes, more than the limit of " +
                                       std::to_string(max_bytes)};
  }
  std::vector<std::byte> piece(std::min<uint64_t>(size, kPieceBytes));
  for (uint64_t done = 0; done < size;) {
    const ssize_t n = ::read(fd.get(), piece.data(), std::min<uint64_t>(piece.size(), size - done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return IoError("cannot read", path, errno);
    if (n == 0) break;
    use(std::span(piece).first(static_cast<size_t>(n)));
    done += static_cast<uint64_t>(n);
  }
  return Done{};
}

Result<std::vector<std::byte>> ReadFile(const std::string& path, uint64_t max_bytes) {
  std::vector<std::byte> bytes;
  std::error_code error;
  const uint64_t size = std::filesystem::file_size(path, error);
  if (!error && size <= max_bytes) bytes.reserve(size);
  const auto read = ReadPieces(path, max_bytes, [&bytes](std::span<const std::byte> piece) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  });
  if (!read.ok()) return read.error();
  return bytes;
}

Result<Done> WriteFilesAtomically(std::span<const FileContent> files) {
  std::signal(SIGXFSZ, SIG_IGN);  // ignored, it becomes the error EFBIG (RLIMIT_FSIZE)
  return Transaction().Write(files);
}

Result<Done> WriteFileAtomically(const std::string& path, std::span<const std::byte> bytes) {
  const FileContent file = {path, bytes};
  return WriteFilesAtomically({&file, 1});
}

bool AnyChangedSince(const struct timespec& start, std::span<const std::string> paths) {
  return std::ranges::any_of(paths, [&start](const std::string& path) {
    struct stat info = {};
    if (::stat(path.c_str(), &info) != 0) return true;
    return std::pair(info.st_ctim.tv_sec, info.st_ctim.tv_nsec) >=
           std::pair(start.tv_sec, start.tv_nsec);
  });
}

Result<Done> CheckWritable(const std::string& path) {
  Result<Target> target = FindTarget(path);
  if (!target.ok()) return target.error();
  if (target.value().is_stream) return Done{};
  const Descriptor fd(OpenTemporary(&target.value()));
  if (!fd.ok()) return WriteError(path, errno);
  ::unlink(target.value().temporary.c_str());
  return Done{};
}

namespace {

// A name for the file that an output becomes, whatever the spelling and links of its path. Empty
// for devices and FIFOs, which take several outputs.
Result<std::string> NameOfOutput(const std::string& path) {
  const Result<Target> target = FindTarget(path);
  if (!target.ok()) return target.error();
  if (target.value().is_stream) return std::string();
  std::error_code error;
  const std::filesystem::path name = std::filesystem::weakly_canonical(target.value().file, error);
  return error ? target.value().file : name.string();
}

}  // namespace

Result<Done> CheckOutputs(std::initializer_list<std::string> outputs,
                          std::initializer_list<std::string> sources) {
  std::vector<std::string> names;
  for (const std::string& output : outputs) {
    if (output.empty()) continue;
    for (const std::string& source : sources) {
      std::error_code ignored;
      if (source.empty() || !std::filesystem::equivalent(output, source, ignored)) continue;
      return Error{ExitCode::kUsage, "'" + output + "' would overwrite a source"};
    }
    if (auto writable = CheckWritable(output); !writable.ok()) return writable;
    const Result<std::string> name = NameOfOutput(output);
    if (!name.ok()) return name.error();
    if (name.value().empty()) continue;
    if (std::ranges::find(names, name.value()) != names.end()) {
      return Error{ExitCode::kUsage, "'" + output + "' is the path of two outputs"};
    }
    names.push_back(name.value());
  }
  return Done{};
}

namespace {

std::mutex g_scratch_mutex;
std::set<std::string> g_scratch_folders;

}  // namespace

Result<std::unique_ptr<ScratchFolder>> ScratchFolder::Create() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error) {
    return Error{ExitCode::kIo, "there is no folder for temporary files: " + error.message()};
  }
  std::string path = (parent / "plush-XXXXXX").string();
  const std::lock_guard lock(g_scratch_mutex);
  if (::mkdtemp(path.data()) == nullptr) {
    return IoError("cannot make a folder in", parent.string(), errno);
  }
  g_scratch_folders.insert(path);
  return std::make_unique<ScratchFolder>(std::move(path));
}

ScratchFolder::~ScratchFolder() {
  const std::lock_guard lock(g_scratch_mutex);
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  g_scratch_folders.erase(path_);
}

void EndScratchFolders() {
  g_scratch_mutex.lock();  // for good
  std::error_code ignored;
  for (const std::string& path : g_scratch_folders) std::filesystem::remove_all(path, ignored);
}

}  // namespace plush::tools
