// SPDX-License-Identifier: MIT
// Reading of buffers and accessors, and refusal of those that are invalid or edited.
#include "import/gltf_document.h"

#include "base/files.h"
#include "tools/gltf_builder.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <fstream>
#include <random>

namespace gltf_document_test {

using nlohmann::json;
using plush::tests::GltfBuilder;
using plush::tests::TemporaryFolder;
using plush::tools::GltfDocument;
using Floats = std::vector<float>;
using AccessorValues = plush::tools::GltfValues<float>;

// A document with the bytes of its file, which it refers to.
class OpenedFile {
 public:
  explicit OpenedFile(const std::string& path) {
    auto read = plush::tools::ReadFile(path);
    if (read.ok()) bytes_ = std::move(read.value());
    document_.emplace(GltfDocument::Parse(bytes_, path));
  }
  explicit OpenedFile(const GltfBuilder& builder) {
    TemporaryFolder folder;
    builder.WriteEmbedded(folder / "m.gltf");
    *this = OpenedFile(folder / "m.gltf");
    REQUIRE(ok());
  }
  bool ok() const { return document_->ok(); }
  std::string message() const { return ok() ? "" : document_->error().message; }
  // Nothing if the accessor is refused.
  std::optional<AccessorValues> ReadAccessor(size_t index) {
    try {
      return document_->value().ReadAccessor(index);
    } catch (const plush::tools::Error& error) {
      CHECK_FALSE(error.message.empty());
      return std::nullopt;
    }
  }

 private:
  std::vector<std::byte> bytes_;
  std::optional<plush::tools::Result<GltfDocument>> document_;
};

std::optional<AccessorValues> Read(const GltfBuilder& builder, size_t accessor) {
  return OpenedFile(builder).ReadAccessor(accessor);
}

// Values of a document's buffer, given as base64 `text` and `num_bytes` long; nothing if the text
// does not decode to that.
std::optional<Floats> Decoded(const std::string& text, size_t num_bytes) {
  TemporaryFolder folder;
  const json document = {
      {"asset", {{"version", "2.0"}}},
      {"buffers", {{{"byteLength", num_bytes}, {"uri", "data:;base64," + text}}}},
      {"bufferViews", {{{"buffer", 0}, {"byteLength", num_bytes}}}},
      {"accessors",
       {{{"bufferView", 0}, {"count", num_bytes}, {"componentType", 5121}, {"type", "SCALAR"}}}}};
  plush::tests::WriteText(folder / "m.gltf",
                          document.dump(-1, ' ', false, json::error_handler_t::replace));
  OpenedFile opened(folder / "m.gltf");
  REQUIRE(opened.ok());
  const auto accessor = opened.ReadAccessor(0u);
  return accessor ? std::optional(accessor->values) : std::nullopt;
}

Floats BytesOf(const std::string& text) {
  Floats bytes;
  for (const char c : text) bytes.push_back(static_cast<unsigned char>(c));
  return bytes;
}

TEST_CASE("The base64 test vectors of RFC 4648 decode, padded or not") {
  const std::pair<const char*, const char*> vectors[] = {{"", ""},
                                                         {"Zg==", "f"},
                                                         {"Zg", "f"},
                                                         {"Zm8=", "fo"},
                                                         {"Zm9v", "foo"},
                                                         {"Zm9vYg==", "foob"},
                                                         {"+/+/", "\xFB\xFF\xBF"},
                                                         {"Zm9vYmFy", "foobar"}};
  for (const auto& [text, expected] : vectors) {
    INFO(text);
    const size_t size = std::string(expected).size();
    CHECK(Decoded(text, size) == BytesOf(expected));
    CHECK_FALSE(Decoded(text, size + 1).has_value());
  }
}

TEST_CASE("Text that is not base64 leaves its buffer empty") {
  for (const char* text : {"Z", "Zm9vY", "Zm 9v", "Zm9v\n", "Zm=v", "Zm9-", "\xFF\xFF"}) {
    INFO(text);
    CHECK_FALSE(Decoded(text, 1).has_value());
  }
}

TEST_CASE("Every component type is read, plain and normalised") {
  GltfBuilder b;
  const auto values = [&b](size_t accessor) { return Read(b, accessor)->values; };
  CHECK(values(b.AddAccessor<int8_t>({-128, 127}, "SCALAR")) == Floats{-128, 127});
  CHECK(values(b.AddAccessor<int8_t>({-128, 127, 0}, "SCALAR", true)) == Floats{-1, 1, 0});
  CHECK(values(b.AddAccessor<uint8_t>({0, 255}, "SCALAR", true)) == Floats{0, 1});
  CHECK(values(b.AddAccessor<int16_t>({-32768, 32767}, "SCALAR", true)) == Floats{-1, 1});
  CHECK(values(b.AddAccessor<uint16_t>({0, 65535}, "SCALAR", true)) == Floats{0, 1});
  CHECK(values(b.AddAccessor<uint16_t>({7, 65535}, "SCALAR")) == Floats{7, 65535});
  CHECK(values(b.AddAccessor<uint32_t>({7, 1 << 24}, "SCALAR")) == Floats{7, 1 << 24});
  CHECK(values(b.AddAccessor<float>({1.5f, -2.5f}, "SCALAR")) == Floats{1.5f, -2.5f});
  const auto vectors = Read(b, b.AddAccessor<float>({1, 2, 3, 4, 5, 6}, "VEC3"));
  CHECK(vectors->count == 2);
  CHECK(vectors->num_components == 3);
}

TEST_CASE("Matrices are read if they are 4 x 4 and of floats") {
  GltfBuilder b;
  Floats numbers;
  for (int i = 0; i < 32; ++i) numbers.push_back(static_cast<float>(i));
  const size_t view = b.AddView(numbers.data(), numbers.size() * sizeof(float));
  b.json["accessors"].push_back(
      {{"bufferView", view}, {"count", 2}, {"componentType", 5126}, {"type", "MAT4"}});
  const auto matrices = Read(b, 0);
  REQUIRE(matrices.has_value());
  CHECK(matrices->num_components == 16);
  CHECK(matrices->values == numbers);
  b.json["accessors"][0]["componentType"] = 5123;
  CHECK_FALSE(Read(b, 0).has_value());
}

TEST_CASE("Strides, offsets and sparse substitutions are followed") {
  GltfBuilder b;
  const Floats interleaved = {1, 10, 2, 20, 3, 30};
  const size_t view = b.AddView(interleaved.data(), interleaved.size() * sizeof(float));
  b.json["bufferViews"][view]["byteStride"] = 8;
  b.json["accessors"].push_back({{"bufferView", view},
                                 {"byteOffset", 4},
                                 {"count", 3},
                                 {"componentType", 5126},
                                 {"type", "SCALAR"}});
  CHECK(Read(b, 0)->values == Floats{10, 20, 30});

  const std::vector<uint16_t> where = {0, 3};
  const Floats what = {7, 9};
  const size_t where_view = b.AddView(where.data(), 4), what_view = b.AddView(what.data(), 8);
  b.json["accessors"].push_back({{"count", 4}, {"componentType", 5126}, {"type", "SCALAR"}});
  b.json["accessors"][1]["sparse"] = {
      {"count", 2},
      {"indices", {{"bufferView", where_view}, {"componentType", 5123}}},
      {"values", {{"bufferView", what_view}}}};
  CHECK(Read(b, 1)->values == Floats{7, 0, 0, 9});
  b.json["accessors"][1]["count"] = 3;  // the second index is now out of range
  CHECK_FALSE(Read(b, 1).has_value());
}

TEST_CASE("Accessors that reach beyond their view or make no sense are refused") {
  GltfBuilder b;
  const size_t a = b.AddAccessor<float>({1, 2, 3, 4}, "SCALAR");
  REQUIRE(Read(b, a).has_value());
  const auto refused = [&b, a](const char* array, const char* key, const json& value) {
    GltfBuilder edited = b;
    edited.json[array][a][key] = value;
    return !Read(edited, a).has_value();
  };
  CHECK(refused("accessors", "count", 5));
  CHECK(refused("accessors", "count", -1));
  CHECK(refused("accessors", "count", 1e300));
  CHECK(refused("accessors", "count", 1ull << 62));
  CHECK(refused("accessors", "byteOffset", 4));
  CHECK(refused("accessors", "componentType", 5124));
  CHECK(refused("accessors", "type", "MAT4"));
  CHECK(refused("accessors", "type", "MAT3"));
  CHECK(refused("accessors", "type", 7));
  CHECK(refused("accessors", "bufferView", 1));
  CHECK(refused("accessors", "bufferView", "0"));
  CHECK(refused("bufferViews", "byteStride", 8));
  CHECK(refused("bufferViews", "byteStride", -4));
  CHECK(refused("bufferViews", "byteOffset", 1ull << 63));
  CHECK(refused("bufferViews", "byteOffset", 4));
  CHECK(refused("bufferViews", "byteLength", 12));
  CHECK(refused("bufferViews", "buffer", 3));
  CHECK_FALSE(Read(b, 99).has_value());
}

TEST_CASE("Values handed out are bounded however often an accessor is named", "[long]") {
  GltfBuilder b;
  b.json["accessors"].push_back(
      {{"count", 15'000'000}, {"componentType", 5126}, {"type", "SCALAR"}});
  OpenedFile document(b);
  CHECK(document.ReadAccessor(0u).has_value());
  CHECK(document.ReadAccessor(0u).has_value());
  CHECK_FALSE(document.ReadAccessor(0u).has_value());
}

TEST_CASE("Anything but glTF 2.0 is refused") {
  TemporaryFolder folder;
  const auto opens = [&folder](const std::string& text) {
    plush::tests::WriteText(folder / "m.gltf", text);
    return OpenedFile(folder / "m.gltf").ok();
  };
  CHECK(opens("{\"asset\":{\"version\":\"2.0\"}}"));
  CHECK_FALSE(opens(""));
  CHECK_FALSE(opens("[]"));
  CHECK_FALSE(opens("{\"asset\":{\"version\":\"1.0\"}}"));
  CHECK_FALSE(opens("{\"asset\":{\"version\":2}}"));
  CHECK_FALSE(opens("{\"asset\":{\"version\":\"2.0\"}"));
  CHECK_FALSE(opens("{\"asset\":{\"version\":\"2.0\"},\"x\":" + std::string(200, '[') +
                    std::string(200, ']') + "}"));
  CHECK_FALSE(opens(std::string(1'000'000, '[')));
  CHECK_FALSE(OpenedFile(folder / "missing").ok());
}

TEST_CASE("Edited .glb files are refused or read within their bytes", "[long]") {
  GltfBuilder b;
  b.AddAccessor<float>({1, 2, 3, 4}, "SCALAR");
  TemporaryFolder folder;
  b.WriteGlb(folder / "m.glb");
  OpenedFile sound(folder / "m.glb");
  REQUIRE(sound.ok());
  CHECK(sound.ReadAccessor(0u)->values == Floats{1, 2, 3, 4});
  std::ifstream file(folder / "m.glb", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::mt19937 random(6);
  int opened = 0;
  for (int i = 0; i < 500; ++i) {
    std::string edited = bytes.substr(0, i % 3 == 0 ? random() % bytes.size() : bytes.size());
    if (edited.empty()) continue;
    edited[random() % edited.size()] = static_cast<char>(random());
    plush::tests::WriteText(folder / "e.glb", edited);
    OpenedFile document(folder / "e.glb");
    if (!document.ok()) continue;
    ++opened;
    document.ReadAccessor(0u);
  }
  CHECK(opened > 20);
}

}  // namespace gltf_document_test
