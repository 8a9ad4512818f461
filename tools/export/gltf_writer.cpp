// SPDX-License-Identifier: MIT
// Writes a .glb: a header, a JSON chunk and one binary chunk, each padded to four bytes.
// Source: Khronos Group. glTF 2.0 Specification. 2021
#include "export/gltf_writer.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace plush::tools {
namespace {

static_assert(std::endian::native == std::endian::little, "glTF buffers are little-endian");

constexpr uint32_t kGlbMagic = 0x46546C67;   // "glTF"
constexpr uint32_t kJsonChunk = 0x4E4F534A;  // "JSON"
constexpr uint32_t kBinChunk = 0x004E4942;   // "BIN"
constexpr size_t kHeaderBytes = 12;
constexpr size_t kChunkHeaderBytes = 8;

size_t PaddedTo4(size_t bytes) { return (bytes + 3) / 4 * 4; }

void AppendBinary(uint32_t word, std::vector<std::byte>* out) {
  for (int shift = 0; shift < 32; shift += 8) {
    out->push_back(static_cast<std::byte>(word >> shift & 0xff));
  }
}

void AppendChunk(uint32_t type, std::span<const std::byte> bytes, char padding,
                 std::vector<std::byte>* out) {
  const size_t padded = PaddedTo4(bytes.size());
  AppendBinary(static_cast<uint32_t>(padded), out);
  AppendBinary(type, out);
  out->insert(out->end(), bytes.begin(), bytes.end());
  out->insert(out->end(), padded - bytes.size(), static_cast<std::byte>(padding));
}

}  // namespace

GltfWriter::GltfWriter(const std::string& generator) {
  document_["asset"] = {{"version", "2.0"}, {"generator", generator}};
}

uint32_t GltfWriter::Add(const char* array, nlohmann::json object) {
  document_[array].push_back(std::move(object));
  return static_cast<uint32_t>(document_[array].size() - 1);
}

uint32_t GltfWriter::AddView(std::span<const std::byte> bytes, GltfTarget target) {
  buffer_.resize(PaddedTo4(buffer_.size()));
  nlohmann::json view = {
      {"buffer", 0}, {"byteOffset", buffer_.size()}, {"byteLength", bytes.size()}};
  if (target != GltfTarget::kNone) view["target"] = static_cast<int>(target);
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  return Add("bufferViews", std::move(view));
}

uint32_t GltfWriter::AddAccessor(uint32_t view, size_t byte_offset, GltfComponent component,
                                 size_t count, const char* type) {
  nlohmann::json accessor = {{"bufferView", view},
                             {"componentType", static_cast<int>(component)},
                             {"count", count},
                             {"type", type}};
  if (byte_offset > 0) accessor["byteOffset"] = byte_offset;
  return Add("accessors", std::move(accessor));
}

uint32_t GltfWriter::AddPositions(std::span<const Vec3> positions) {
  Vec3 low = positions.empty() ? Vec3{} : positions[0];
  Vec3 high = low;
  for (const Vec3& p : positions) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
  }
  const uint32_t accessor =
      AddArray(positions, GltfTarget::kVertices, GltfComponent::kFloat, "VEC3");
  document_["accessors"][accessor]["min"] = {low.x, low.y, low.z};
  document_["accessors"][accessor]["max"] = {high.x, high.y, high.z};
  return accessor;
}

uint32_t GltfWriter::AddTimes(std::span<const float> times) {
  const auto [low, high] = std::minmax_element(times.begin(), times.end());
  const uint32_t accessor = AddArray(times, GltfTarget::kNone, GltfComponent::kFloat, "SCALAR");
  document_["accessors"][accessor]["min"] = {*low};
  document_["accessors"][accessor]["max"] = {*high};
  return accessor;
}

Result<std::vector<std::byte>> GltfWriter::Finish() {
  if (!buffer_.empty()) {
    buffer_.resize(PaddedTo4(buffer_.size()));
    document_["buffers"] = nlohmann::json::array({{{"byteLength", buffer_.size()}}});
  }
  const std::string text = document_.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const size_t binary = buffer_.empty() ? 0 : kChunkHeaderBytes + buffer_.size();
  const size_t total = kHeaderBytes + kChunkHeaderBytes + PaddedTo4(text.size()) + binary;
  if (total > UINT32_MAX) {
    return Error{ExitCode::kLimit,
                 "the .glb would have " + std::to_string(total) +
                     " bytes, more than its 32-bit length holds; lower --fps or --steps",
                 ""};
  }
  std::vector<std::byte> file;
  file.reserve(total);
  AppendBinary(kGlbMagic, &file);
  AppendBinary(2, &file);
  AppendBinary(static_cast<uint32_t>(total), &file);
  AppendChunk(kJsonChunk, std::as_bytes(std::span(text)), ' ', &file);
  if (!buffer_.empty()) AppendChunk(kBinChunk, buffer_, '\0', &file);
  return file;
}

}  // namespace plush::tools
