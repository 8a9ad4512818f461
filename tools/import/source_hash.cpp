// SPDX-License-Identifier: MIT
#include "import/source_hash.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

namespace plush::tools {
namespace {

constexpr size_t kPieceBytes = 1 << 20;

Error CannotRead(const std::string& path, const std::string& why) {
  return {ExitCode::kIo, "cannot read '" + path + "': " + why, ""};
}

// Closes at the end of the scope.
struct OpenFile {
  int fd = -1;
  ~OpenFile() {
    if (fd >= 0) ::close(fd);
  }
};

}  // namespace

Result<SourceHash> HashSource(const std::string& path) {
  // O_NONBLOCK: opening a FIFO must not wait for a writer.
  const OpenFile file = {::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat info = {};
  if (file.fd < 0 || ::fstat(file.fd, &info) != 0) return CannotRead(path, std::strerror(errno));
  if (!S_ISREG(info.st_mode)) return CannotRead(path, "not a regular file");
  if (static_cast<uint64_t>(info.st_size) > kMaxSourceBytes) {
    return Error{ExitCode::kLimit,
                 "'" + path + "' has " + std::to_string(info.st_size) +
                     " bytes, more than the limit of " + std::to_string(kMaxSourceBytes),
                 "IMPORT_LIMIT"};
  }
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(),
                                                                              XXH3_freeState);
  XXH3_64bits_reset(state.get());
  std::vector<char> piece(kPieceBytes);
  SourceHash result;
  while (true) {
    const ssize_t n = ::read(file.fd, piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return CannotRead(path, std::strerror(errno));
    if (n == 0) break;
    XXH3_64bits_update(state.get(), piece.data(), static_cast<size_t>(n));
    result.num_bytes += static_cast<uint64_t>(n);
  }
  result.hash = XXH3_64bits_digest(state.get());
  return result;
}

}  // namespace plush::tools
