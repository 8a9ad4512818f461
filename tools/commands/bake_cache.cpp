// SPDX-License-Identifier: MIT
#include "commands/bake_cache.h"

#include "base/files.h"
#include "report/source_report.h"

#include <sys/stat.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <span>
#include <utility>

namespace plush::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr char kScheme[] = "plush bake cache 3";
constexpr char kAbsent[] = "absent";

std::span<const std::byte> Bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

json Parsed(std::span<const std::byte> bytes) {
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  return json::parse(text, text + bytes.size(), nullptr, false);
}

// A result: the length of a JSON text, the text, the .plush file.
std::vector<std::byte> EncodeBake(const CachedBake& bake) {
  const json head = {{"findings", FindingsJson(bake.findings)}, {"document", bake.document}};
  const std::string text = head.dump(-1, ' ', false, json::error_handler_t::replace);
  const uint64_t size = text.size();
  std::vector<std::byte> bytes;
  const auto append = [&bytes](std::span<const std::byte> part) {
    bytes.insert(bytes.end(), part.begin(), part.end());
  };
  append(std::as_bytes(std::span(&size, 1)));
  append(Bytes(text));
  append(bake.bytes);
  return bytes;
}

// False if the entry is not one that EncodeBake made.
bool DecodeBake(std::span<const std::byte> bytes, CachedBake* bake) {
  uint64_t size = 0;
  if (bytes.size() < sizeof(size)) return false;
  std::copy_n(bytes.begin(), sizeof(size), std::as_writable_bytes(std::span(&size, 1)).begin());
  bytes = bytes.subspan(sizeof(size));
  if (size > bytes.size()) return false;
  const json head = Parsed(bytes.first(size));
  if (!head.is_object() || !head.contains("document") || !head.contains("findings")) return false;
  bake->document = head["document"];
  bake->bytes.assign(bytes.begin() + static_cast<ptrdiff_t>(size), bytes.end());
  return bake->document.is_object() && ReadFindings(head["findings"], &bake->findings);
}

// Names a file of this host as it is now: whoever writes it changes the key. Empty if it changed
// lately.
std::string IdentityKey(const std::string& path) {
  constexpr time_t kLeastAge = 60;  // [s]
  struct stat info = {};
  struct utsname host = {};
  if (::stat(path.c_str(), &info) != 0 || ::uname(&host) != 0) return "";
  if (std::time(nullptr) - info.st_ctim.tv_sec < kLeastAge) return "";
  KeyMaker key;
  key.Add("content of a file");
  key.Add(host.nodename);
  key.Add(path);
  for (const auto number :
       {static_cast<int64_t>(info.st_dev), static_cast<int64_t>(info.st_ino),
        static_cast<int64_t>(info.st_size), static_cast<int64_t>(info.st_mtim.tv_sec),
        static_cast<int64_t>(info.st_mtim.tv_nsec), static_cast<int64_t>(info.st_ctim.tv_sec),
        static_cast<int64_t>(info.st_ctim.tv_nsec)}) {
    key.Add(std::to_string(number));
  }
  return key.Key();
}

}  // namespace

BakeCache::BakeCache(const CacheOptions& options, BakeCacheInputs inputs)
    : store_(options.folder, options.max_bytes), inputs_(std::move(inputs)) {}

Result<std::string> FileKeys::Of(const std::string& path, const CacheStore& store) {
  const std::scoped_lock lock(mutex_);
  std::string& known = keys_[path];
  if (!known.empty()) return known;
  const std::string identity = IdentityKey(path);
  if (!identity.empty()) {
    for (const std::byte letter : store.Load(identity).bytes) known += static_cast<char>(letter);
    if (!known.empty()) return known;
  }
  KeyMaker content;
  if (auto done = content.AddFile(path); !done.ok()) return done.error();
  known = content.Key();
  // It may have changed while it was read.
  if (!identity.empty() && IdentityKey(path) == identity) unnoted_[identity] = known;
  return known;
}

void FileKeys::Note(const CacheStore& store) {
  const std::scoped_lock lock(mutex_);
  for (const auto& [identity, key] : unnoted_) {
    if (!store.Store(identity, Bytes(key)).ok()) break;  // this costs time only
  }
  unnoted_.clear();
}

Result<std::string> BakeCache::MainKey(FileKeys* programs) const {
  KeyMaker key;
  key.Add(kScheme);
  for (const std::string& program : inputs_.programs) {
    const Result<std::string> content = programs->Of(program, store_);
    if (!content.ok()) return content.error();
    key.Add(content.value());
  }
  for (const std::string& option : inputs_.options) key.Add(option);
  // Importers choose by the name, name parts after it, and look for others beside it.
  key.Add(fs::path(inputs_.source).filename().string());
  if (auto done = key.AddFile(inputs_.source); !done.ok()) return done.error();
  for (const std::string& path : inputs_.side_cars) {
    key.Add(fs::path(path).filename().string());
    if (path.empty()) continue;
    if (auto done = key.AddFile(path); !done.ok()) return done.error();
  }
  return key.Key();
}

std::string BakeCache::Relative(const std::string& path) const {
  const fs::path folder = fs::absolute(inputs_.source).lexically_normal().parent_path();
  return fs::absolute(path).lexically_normal().lexically_relative(folder).string();
}

std::string BakeCache::Located(const std::string& relative) const {
  const fs::path folder = fs::absolute(inputs_.source).lexically_normal().parent_path();
  return (folder / relative).lexically_normal().string();
}

std::string BakeCache::ResultKey(const std::vector<std::string>& files) const {
  KeyMaker key;
  key.Add(main_key_);
  for (const std::string& file : files) {
    key.Add(file);
    KeyMaker content;
    key.Add(content.AddFile(Located(file)).ok() ? content.Key() : kAbsent);
  }
  return key.Key();
}

std::optional<CachedBake> BakeCache::Find(FileKeys* programs, FindingList* findings) {
  const Result<std::string> main_key = MainKey(programs);
  if (!main_key.ok()) return std::nullopt;  // the bake itself says what is wrong
  main_key_ = main_key.value();
  const auto damaged = [findings](const std::string& key) {
    findings->Add("CACHE_DAMAGED", 1, "the cache's entry " + key + " is damaged; baked anew");
    return std::nullopt;
  };
  const CacheContent list = store_.Load(main_key_);
  if (list.lookup == CacheLookup::kDamaged) return damaged(main_key_);
  if (list.lookup == CacheLookup::kMiss) return std::nullopt;
  const json lists = Parsed(list.bytes);
  std::vector<std::string> files;
  CachedBake bake;
  try {
    lists.at("files").get_to(files);
    lists.at("read").get_to(bake.sources);
  } catch (const json::exception&) {
    return damaged(main_key_);
  }
  const std::string key = ResultKey(files);
  const CacheContent result = store_.Load(key);
  if (result.lookup == CacheLookup::kMiss) return std::nullopt;
  if (result.lookup == CacheLookup::kDamaged || !DecodeBake(result.bytes, &bake)) {
    return damaged(key);
  }
  for (const std::string& file : files) {
    const bool was_read = std::ranges::find(bake.sources, file) != bake.sources.end();
    if (!was_read) bake.missing.push_back(Located(file));
  }
  for (std::string& source : bake.sources) source = Located(source);
  programs->Note(store_);
  return bake;
}

void BakeCache::BeginBake() {
  const auto now = [] {
    struct timespec time = {};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &time);  // the clock of file times
    return time;
  };
  // A file of the same tick could have changed before or after.
  const struct timespec before = now();
  do {
    const struct timespec tenth = {0, 100'000};
    ::nanosleep(&tenth, nullptr);
    start_ = now();
  } while (start_.tv_sec == before.tv_sec && start_.tv_nsec == before.tv_nsec);
}

void BakeCache::Keep(const CachedBake& bake, FindingList* findings) {
  FileKeys programs;
  const Result<std::string> main_key = MainKey(&programs);
  if (main_key_.empty() || !main_key.ok() || main_key.value() != main_key_) return;
  // A file that changed after BeginBake may have been read before or after, and one that was missed
  // may be there by now.
  if (AnyChangedSince(start_, bake.sources)) return;
  const auto is_there = [](const std::string& path) { return KeyMaker().AddFile(path).ok(); };
  if (std::ranges::any_of(bake.missing, is_there)) return;
  std::vector<std::string> read;
  for (const std::string& source : bake.sources) read.push_back(Relative(source));
  std::vector<std::string> files = read;
  for (const std::string& path : bake.missing) files.push_back(Relative(path));
  std::ranges::sort(files);
  // Names in a foreign encoding do not fit into JSON: such a bake is not kept.
  std::string lists;
  try {
    lists = json{{"files", files}, {"read", read}}.dump();
  } catch (const json::exception&) {
    return;
  }
  // The result first: a list without one is looked up in vain.
  auto done = store_.Store(ResultKey(files), EncodeBake(bake));
  if (done.ok()) done = store_.Store(main_key_, Bytes(lists));
  if (!done.ok()) {
    findings->Add("CACHE_NOT_WRITTEN", 1, done.error().message);
  } else {
    programs.Note(store_);
  }
}

}  // namespace plush::tools
