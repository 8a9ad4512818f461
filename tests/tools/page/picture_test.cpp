// SPDX-License-Identifier: MIT
// Pictures: what a PNG file holds is what was drawn, and models fill their pictures.
#include "page/picture.h"

#include "base/aligned_bytes.h"
#include "page/model_picture.h"
#include "page/picture_sheet.h"
#include "shapes/shape_asset.h"
#include "shapes/tet_shapes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <set>

using namespace plush::tools;

namespace picture_test {

uint32_t BigEndian(const std::vector<std::byte>& file, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<uint32_t>(file[at + i]);
  return value;
}

// Bit by bit, CRC-32 [PNG, annex D].
uint32_t Crc(const std::vector<std::byte>& file, size_t begin, size_t end) {
  uint32_t crc = UINT32_MAX;
  for (size_t i = begin; i < end; ++i) {
    crc ^= static_cast<uint32_t>(file[i]);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (0xedb88320u & (0u - (crc & 1u)));
  }
  return ~crc;
}

// The content of a stream of one block with fixed codes, whose matches are 1 byte back.
std::vector<uint8_t> Inflated(const std::vector<std::byte>& file, size_t begin) {
  size_t at = 8 * begin;
  const auto bit = [&] {
    const auto byte = static_cast<uint32_t>(file[at / 8]);
    return byte >> (at++ % 8) & 1u;
  };
  const auto code = [&](uint32_t known, int more) {
    for (int i = 0; i < more; ++i) known = known << 1 | bit();
    return known;
  };
  REQUIRE(static_cast<int>(file[begin]) == 0x78);
  at += 16;
  REQUIRE(bit() == 1);
  REQUIRE(bit() + 2 * bit() == 1);
  std::vector<uint8_t> bytes;
  for (;;) {
    uint32_t symbol = code(0, 7);
    if (symbol < 24) {
      symbol += 256;
    } else if (symbol < 0x60) {
      symbol = code(symbol, 1) - 0x30;
    } else if (symbol < 0x64) {
      symbol = code(symbol, 1) - 0xc0 + 280;
    } else {
      symbol = code(symbol, 2) - 0x190 + 144;
    }
    if (symbol == 256) break;
    if (symbol < 256) {
      bytes.push_back(static_cast<uint8_t>(symbol));
      continue;
    }
    // Four symbols for each number of further bits [RFC 1951, 3.2.5].
    uint32_t length = 258;
    if (symbol < 285) {
      const uint32_t i = symbol - 257, bits = i < 8 ? 0 : i / 4 - 1;
      length = i < 8 ? 3 + i : 3 + ((4 + i % 4) << bits);
      for (uint32_t k = 0; k < bits; ++k) length += bit() << k;
    }
    REQUIRE(code(0, 5) == 0);
    REQUIRE(!bytes.empty());
    bytes.insert(bytes.end(), length, bytes.back());
  }
  uint32_t a = 1, b = 0;
  for (const uint8_t byte : bytes) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  CHECK(BigEndian(file, (at + 7) / 8) == (b << 16 | a));
  return bytes;
}

// Reads what PngBytes writes.
Picture ReadPng(const std::vector<std::byte>& file) {
  Picture picture = {.width = BigEndian(file, 16), .height = BigEndian(file, 20)};
  std::vector<uint8_t> rows;
  size_t at = 8, chunks = 0;
  while (at < file.size()) {
    const size_t size = BigEndian(file, at);
    CHECK(BigEndian(file, at + 8 + size) == Crc(file, at + 4, at + 8 + size));
    if (static_cast<char>(file[at + 5]) == 'D') rows = Inflated(file, at + 8);
    at += 12 + size;
    ++chunks;
  }
  CHECK(chunks == 3);
  REQUIRE(rows.size() == size_t{picture.height} * (4 * picture.width + 1));
  picture.pixels.resize(size_t{picture.width} * picture.height);
  for (size_t y = 0, i = 0; y < picture.height; ++y) {
    REQUIRE(rows[i++] == 2);
    for (size_t x = 0; x < picture.width; ++x, i += 4) {
      const Picture::Pixel above =
          y == 0 ? Picture::Pixel() : picture.pixels[(y - 1) * picture.width + x];
      picture.pixels[y * picture.width + x] = {
          static_cast<uint8_t>(above.r + rows[i]), static_cast<uint8_t>(above.g + rows[i + 1]),
          static_cast<uint8_t>(above.b + rows[i + 2]), static_cast<uint8_t>(above.a + rows[i + 3])};
    }
  }
  return picture;
}

bool Same(const Picture::Pixel& a, const Picture::Pixel& b) {
  return a.r == b.r && a.g == b.g && a.b == b.b && a.a == b.a;
}

// A bar, open.
struct Bar {
  AlignedBytes bytes =
      AlignedBytes(plush::test::AssetBytesOf(plush::test::TetBox(4, 2, 1, 0.1, 0.05), {}));
  plush::Asset asset;

  Bar() { REQUIRE(asset.Open(bytes.bytes()).ok()); }
};

TEST_CASE("A PNG file holds the picture") {
  const uint32_t seed = GENERATE(1u, 2u, 3u, 4u);
  CAPTURE(seed);
  std::mt19937 random(seed);
  Picture picture;
  picture.width = 1 + random() % 300;
  picture.height = 1 + random() % 40;
  // Noise in some rows, one colour in others, so that there are long and short runs.
  for (uint32_t y = 0; y < picture.height; ++y) {
    const bool is_noise = random() % 2 == 0;
    for (uint32_t x = 0; x < picture.width; ++x) {
      const auto value = is_noise ? static_cast<uint32_t>(random()) : 0x11223344u * (y % 3);
      picture.pixels.push_back({static_cast<uint8_t>(value), static_cast<uint8_t>(value >> 8),
                                static_cast<uint8_t>(value >> 16), 255});
    }
  }
  const Picture back = ReadPng(PngBytes(picture));
  REQUIRE(back.width == picture.width);
  REQUIRE(back.height == picture.height);
  CHECK(std::equal(back.pixels.begin(), back.pixels.end(), picture.pixels.begin(), Same));
}

TEST_CASE("A model fills its picture from every side") {
  const Bar bar;
  const auto colours =
      GENERATE(ModelColours::kMaterial, ModelColours::kQuality, ModelColours::kDihedral);
  const double turn = GENERATE(0.0, 30.0, 90.0, 180.0);
  CAPTURE(static_cast<int>(colours), turn);
  constexpr uint32_t kWidth = 120, kHeight = 90;
  const Picture picture = DrawModel(bar.asset, {turn, 20.0, colours}, kWidth, kHeight);
  uint32_t low = kWidth, high = 0, top = kHeight, bottom = 0;
  for (uint32_t i = 0; i < picture.pixels.size(); ++i) {
    if (picture.pixels[i].a == 0) continue;
    low = std::min(low, i % kWidth);
    high = std::max(high, i % kWidth);
    top = std::min(top, i / kWidth);
    bottom = std::max(bottom, i / kWidth);
  }
  // 94 of 100 of the width or of the height, in the middle.
  CHECK(std::max((high - low) / double{kWidth}, (bottom - top) / double{kHeight}) > 0.9);
  CHECK(std::abs(int(low + high) - int(kWidth)) <= 3);
  CHECK(std::abs(int(top + bottom) - int(kHeight)) <= 3);
}

TEST_CASE("Letters are all different, and those beyond the edge are left out") {
  std::set<std::vector<uint8_t>> shapes;
  const std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,-_/:%()[]+=?";
  for (const char c : letters) {
    Picture picture = {8, 12, std::vector<Picture::Pixel>(96)};
    DrawText(std::string_view(&c, 1), 0, 0, &picture);
    std::vector<uint8_t> shape;
    for (const Picture::Pixel& pixel : picture.pixels) shape.push_back(pixel.a);
    CHECK(std::count(shape.begin(), shape.end(), 255) > 0);
    shapes.insert(shape);
  }
  CHECK(shapes.size() == letters.size());
  Picture small = {3, 3, std::vector<Picture::Pixel>(9)};
  DrawText("WWW", 1, 1, &small);
  CHECK(small.pixels[0].a == 0);
}

TEST_CASE("A sheet has a row of four pictures for each model that opens") {
  const Bar bar;
  PageModel good, broken;
  good.file = "bar.plush";
  good.asset = &bar.asset;
  const PageModel* const models[] = {&good, &broken, &good};
  const Picture sheet = DrawSheet(models);
  CHECK(sheet.width == 4 * 368 + 8);
  CHECK(sheet.height == 2 * 324 + 8);
  for (uint32_t row = 0; row < 2; ++row) {
    for (uint32_t column = 0; column < 4; ++column) {
      size_t drawn = 0;
      const Picture::Pixel back =
          sheet.pixels[size_t{8 + 324 * row} * sheet.width + 8 + 368 * column];
      for (uint32_t y = 0; y < 270; ++y) {
        for (uint32_t x = 0; x < 360; ++x) {
          const size_t at = size_t{8 + 324 * row + y} * sheet.width + 8 + 368 * column + x;
          drawn += Same(sheet.pixels[at], back) ? 0 : 1;
        }
      }
      CHECK(drawn > 5000);
    }
  }
}

}  // namespace picture_test
