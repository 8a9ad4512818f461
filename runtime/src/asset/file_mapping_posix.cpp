// SPDX-License-Identifier: MIT
#include "asset/file_mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>

namespace plush {
namespace {

Status CannotRead(const char* reason) { return {StatusCode::kCannotRead, "file", reason, 0}; }

Status MapDescriptor(int fd, FileMapping* out_mapping) {
  struct stat info = {};
  if (::fstat(fd, &info) != 0) return CannotRead("the file cannot be examined");
  if (!S_ISREG(info.st_mode)) return CannotRead("this is not a regular file");
  if (info.st_size <= 0) return {StatusCode::kTruncated, "file", "the file is empty", 0};
  const auto num_bytes = static_cast<size_t>(info.st_size);
  // On 32-bit targets a file can have more bytes than there are addresses.
  if (static_cast<uint64_t>(num_bytes) != static_cast<uint64_t>(info.st_size)) {
    return CannotRead("the file cannot be mapped");
  }
  void* start = ::mmap(nullptr, num_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  if (start == MAP_FAILED) return CannotRead("the file cannot be mapped");
  *out_mapping = {start, num_bytes};
  return {};
}

}  // namespace

Status MapFile(const char* path, FileMapping* out_mapping) {
  // Non-blocking, so that opening a FIFO does not wait for a writer.
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return CannotRead("the file is missing or unreadable");
  const Status status = MapDescriptor(fd, out_mapping);
  ::close(fd);  // the mapping keeps the file open
  return status;
}

void UnmapFile(const FileMapping& mapping) {
  if (mapping.start != nullptr) ::munmap(mapping.start, mapping.num_bytes);
}

}  // namespace plush
