// SPDX-License-Identifier: MIT
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include "asset/file_mapping.h"

#include <windows.h>

#include <cstdint>

namespace plush {
namespace {

// Longest path that Windows accepts [UTF-16 units], including the terminator.
constexpr int kMaxPath = 32768;

Status CannotRead(const char* reason) { return {StatusCode::kCannotRead, "file", reason, 0}; }

Status MapHandle(HANDLE file, FileMapping* out_mapping) {
  if (::GetFileType(file) != FILE_TYPE_DISK) return CannotRead("this is not a regular file");
  LARGE_INTEGER size = {};
  if (!::GetFileSizeEx(file, &size)) return CannotRead("the file cannot be examined");
  if (size.QuadPart <= 0) return {StatusCode::kTruncated, "file", "the file is empty", 0};
  if (static_cast<uint64_t>(size.QuadPart) > SIZE_MAX) {
    return CannotRead("the file cannot be mapped");
  }
  const HANDLE mapping = ::CreateFileMappingW(file, nullptr, PAGE_READONLY, 0, 0, nullptr);
  if (mapping == nullptr) return CannotRead("the file cannot be mapped");
  void* start = ::MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0);
  ::CloseHandle(mapping);  // the view keeps the mapping open
  if (start == nullptr) return CannotRead("the file cannot be mapped");
  *out_mapping = {start, static_cast<size_t>(size.QuadPart)};
  return {};
}

}  // namespace

Status MapFile(const char* path, FileMapping* out_mapping) {
  wchar_t wide_path[kMaxPath];
  if (::MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide_path, kMaxPath) == 0) {
    return CannotRead("the path is too long or not UTF-8");
  }
  const HANDLE file = ::CreateFileW(wide_path, GENERIC_READ, FILE_SHARE_READ, nullptr,
                                    OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (file == INVALID_HANDLE_VALUE) return CannotRead("the file is missing or unreadable");
  const Status status = MapHandle(file, out_mapping);
  ::CloseHandle(file);  // the view keeps the file open
  return status;
}

void UnmapFile(const FileMapping& mapping) {
  if (mapping.start != nullptr) ::UnmapViewOfFile(mapping.start);
}

}  // namespace plush
