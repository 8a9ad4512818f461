// SPDX-License-Identifier: MIT
#include "bake/content_hash.h"

#include "plush_generated.h"

#include <xxhash.h>

#include <memory>

namespace plush::tools {
namespace {

constexpr size_t kMinFileBytes = 8;                   // root offset and identifier
constexpr size_t kMaxOffset = (size_t{1} << 31) - 1;  // of FlatBuffers' offsets

}  // namespace

std::optional<size_t> FindContentHash(std::span<const std::byte> bytes) {
  if (bytes.size() < kMinFileBytes || bytes.size() >= kMaxOffset) return std::nullopt;
  const auto* base = reinterpret_cast<const uint8_t*>(bytes.data());
  const flatbuffers::Verifier verifier(base, bytes.size());
  const flatbuffers::uoffset_t root = verifier.VerifyOffset(0);
  if (root == 0 || !flatbuffers::Verifier(verifier).VerifyTableStart(base + root)) {
    return std::nullopt;
  }
  const auto* table = reinterpret_cast<const flatbuffers::Table*>(base + root);
  const size_t offset = table->GetOptionalFieldOffset(format::Asset::VT_CONTENT_HASH);
  if (offset == 0 || !verifier.Verify<uint64_t>(root + offset)) return std::nullopt;
  return root + offset;
}

uint64_t ContentHash(std::span<const std::byte> bytes, size_t field) {
  constexpr std::byte kZeros[8] = {};
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(),
                                                                              XXH3_freeState);
  XXH3_64bits_reset(state.get());
  XXH3_64bits_update(state.get(), bytes.data(), field);
  XXH3_64bits_update(state.get(), kZeros, sizeof(kZeros));
  XXH3_64bits_update(state.get(), bytes.data() + field + 8, bytes.size() - field - 8);
  return XXH3_64bits_digest(state.get());
}

}  // namespace plush::tools
