// SPDX-License-Identifier: MIT
// An entry is a file: kMagic, the XXH3-128 of key and content, the content.
#include "cache/cache_store.h"

#include "base/files.h"
#include "base/text.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <utility>

namespace plush::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "PLUSH CACHE ENTRY 1\n";
constexpr size_t kHashBytes = 16;
constexpr size_t kHeadBytes = kMagic.size() + kHashBytes;
constexpr uint64_t kMaxEntryBytes = 4ull << 30;
constexpr uint64_t kNumFolders = 16;
constexpr std::string_view kTemporaryPrefix = "tmp-";
constexpr time_t kTemporaryAge = 86400;  // [s]
// A folder is listed about once in so many parts of its limit that are written: to list it at each
// write would be thousands of requests to a shared file system.
constexpr double kListingsPerLimit = 256.0;

std::string Hex(XXH128_hash_t hash) { return HexHash(hash.high64) + HexHash(hash.low64); }

std::array<char, kHashBytes> HashOf(const std::string& key, std::span<const std::byte> bytes) {
  XXH128_canonical_t canonical;
  const uint64_t seed = XXH3_64bits(key.data(), key.size());
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed));
  std::array<char, kHashBytes> hash;
  std::memcpy(hash.data(), canonical.digest, kHashBytes);
  return hash;
}

Error WriteError(const std::string& path) {
  return {ExitCode::kIo, "cannot write '" + path + "': " + std::strerror(errno)};
}

// A name that no other process on any host makes. Empty if the system gives no random bytes.
std::string TemporaryName() {
  std::array<uint64_t, 2> random;
  if (::getrandom(random.data(), sizeof(random), 0) != static_cast<ssize_t>(sizeof(random))) {
    return "";
  }
  return std::string(kTemporaryPrefix) + HexHash(random[0]) + HexHash(random[1]);
}

// Whether a writer of `num_bytes` lists a folder of this limit: chance in proportion to the bytes,
// so that no writer needs to know of others.
bool IsListingDue(uint64_t num_bytes, uint64_t limit) {
  const double chance =
      kListingsPerLimit * static_cast<double>(num_bytes) / static_cast<double>(limit + 1);
  uint32_t random = 0;
  if (::getrandom(&random, sizeof(random), 0) != static_cast<ssize_t>(sizeof(random))) return true;
  return std::ldexp(static_cast<double>(random), -32) < chance;
}

bool WriteAll(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return true;
}

struct StoredFile {
  std::string path;
  uint64_t num_bytes = 0;
  struct timespec used = {};
};

}  // namespace

struct KeyMaker::State {
  XXH3_state_t* hash = XXH3_createState();
};

KeyMaker::KeyMaker() : state_(new State) { XXH3_128bits_reset(state_->hash); }

KeyMaker::~KeyMaker() {
  XXH3_freeState(state_->hash);
  delete state_;
}

void KeyMaker::Add(std::string_view part) {
  const uint64_t size = part.size();
  XXH3_128bits_update(state_->hash, &size, sizeof(size));
  XXH3_128bits_update(state_->hash, part.data(), part.size());
}

Result<Done> KeyMaker::AddFile(const std::string& path) {
  uint64_t size = 0;
  const auto read = ReadPieces(path, UINT64_MAX, [&](std::span<const std::byte> piece) {
    XXH3_128bits_update(state_->hash, piece.data(), piece.size());
    size += piece.size();
  });
  if (!read.ok()) return read;
  XXH3_128bits_update(state_->hash, &size, sizeof(size));
  return Done{};
}

std::string KeyMaker::Key() const { return Hex(XXH3_128bits_digest(state_->hash)); }

CacheContent CacheStore::Load(const std::string& key) const {
  const std::string path = PathOf(key);
  CacheContent content;
  auto file = ReadFile(path, kMaxEntryBytes);
  if (!file.ok()) return content;
  std::vector<std::byte>& bytes = file.value();
  content.lookup = CacheLookup::kDamaged;
  if (bytes.size() >= kHeadBytes && std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0) {
    const auto hash = HashOf(key, std::span(bytes).subspan(kHeadBytes));
    if (std::memcmp(bytes.data() + kMagic.size(), hash.data(), kHashBytes) == 0) {
      content.lookup = CacheLookup::kHit;
    }
  }
  if (content.lookup == CacheLookup::kHit) {
    ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // now; fails in a read-only cache
    bytes.erase(bytes.begin(), bytes.begin() + kHeadBytes);
    content.bytes = std::move(bytes);
  } else {
    ::unlink(path.c_str());
  }
  return content;
}

Result<Done> CacheStore::Store(const std::string& key, std::span<const std::byte> bytes) const {
  ::signal(SIGXFSZ, SIG_IGN);  // too large a file is an error
  const std::string folder = FolderOf(key);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return Error{ExitCode::kIo, "cannot make '" + folder + "': " + error.message()};
  const std::string name = TemporaryName();
  const std::string path = folder + "/" + name;
  const int fd =
      name.empty() ? -1 : ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return WriteError(folder);
  const auto hash = HashOf(key, bytes);
  // No fsync: Load finds out what a power cut has left.
  bool written = WriteAll(fd, std::as_bytes(std::span(kMagic))) &&
                 WriteAll(fd, std::as_bytes(std::span(hash))) && WriteAll(fd, bytes);
  if (::close(fd) != 0) written = false;
  if (!written || std::rename(path.c_str(), PathOf(key).c_str()) != 0) {
    const Error failed = WriteError(folder);
    ::unlink(path.c_str());
    return failed;
  }
  if (IsListingDue(bytes.size(), max_bytes_ / kNumFolders)) Evict(folder);
  return Done{};
}

void CacheStore::Evict(const std::string& folder) const {
  std::vector<StoredFile> files;
  uint64_t total = 0;
  std::error_code error;
  for (fs::directory_iterator it(folder, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    const std::string path = it->path().string();
    struct stat info = {};
    if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    if (it->path().filename().native().starts_with(kTemporaryPrefix)) {
      if (std::time(nullptr) - info.st_mtime > kTemporaryAge) ::unlink(path.c_str());
      continue;
    }
    const auto size = static_cast<uint64_t>(info.st_size);
    files.push_back({path, size, info.st_mtim});
    total += size;
  }
  const uint64_t limit = max_bytes_ / kNumFolders;
  if (total <= limit) return;
  std::ranges::sort(files, [](const StoredFile& a, const StoredFile& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  for (const StoredFile& file : files) {
    if (total <= limit) return;
    ::unlink(file.path.c_str());
    total -= file.num_bytes;
  }
}

}  // namespace plush::tools
