// SPDX-License-Identifier: MIT
// PNG: each row as its difference from the one above, equal bytes in a row as a repetition.
// Sources: W3C. Portable Network Graphics, 2nd edition. 2003; Deutsch. RFC 1950 and RFC 1951. 1996
#include "page/picture.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace plush::tools {
namespace {

void AppendBigEndian(uint32_t value, std::vector<uint8_t>* bytes) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes->push_back(static_cast<uint8_t>(value >> shift));
  }
}

// CRC-32 [PNG, annex D].
uint32_t Crc(std::span<const uint8_t> bytes) {
  uint32_t crc = UINT32_MAX;
  for (const uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1u) != 0 ? 0xedb88320u : 0u);
  }
  return ~crc;
}

// Adler-32 [RFC 1950, 9].
uint32_t Adler(std::span<const uint8_t> bytes) {
  uint32_t a = 1, b = 0;
  for (const uint8_t byte : bytes) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

// A block of RFC 1951 with the fixed codes of its section 3.2.6. Repeats only the last byte.
class Deflater {
 public:
  std::vector<uint8_t> Deflate(std::span<const uint8_t> bytes) {
    bytes_ = {0x78, 0x01};  // RFC 1950, 2.2
    Put(1, 1);              // the last block
    Put(1, 2);              // fixed codes
    for (size_t i = 0; i < bytes.size();) {
      size_t run = 0;
      if (i > 0) {
        while (run < kLongest && i + run < bytes.size() && bytes[i + run] == bytes[i - 1]) ++run;
      }
      if (run < kLengths.front()) {
        PutSymbol(bytes[i]);
        ++i;
        continue;
      }
      PutRun(static_cast<uint32_t>(run));
      i += run;
    }
    PutSymbol(256);
    if (num_bits_ > 0) Put(0, 8 - num_bits_);
    AppendBigEndian(Adler(bytes), &bytes_);
    return std::move(bytes_);
  }

 private:
  static constexpr size_t kLongest = 258;
  // The least length of each symbol from 257 on [RFC 1951, 3.2.5].
  static constexpr std::array<uint32_t, 29> kLengths = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                                        15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                                        67, 83, 99, 115, 131, 163, 195, 227, 258};

  // The lowest bit first.
  void Put(uint32_t bits, uint32_t number) {
    for (uint32_t i = 0; i < number; ++i) {
      if (num_bits_ == 0) bytes_.push_back(0);
      bytes_.back() = static_cast<uint8_t>(bytes_.back() | (bits >> i & 1u) << num_bits_);
      num_bits_ = (num_bits_ + 1) % 8;
    }
  }
  // A code's highest bit comes first.
  void PutCode(uint32_t code, uint32_t number) {
    for (uint32_t i = number; i-- > 0;) Put(code >> i & 1u, 1);
  }
  void PutSymbol(uint32_t symbol) {
    if (symbol < 144) {
      PutCode(0x30 + symbol, 8);
    } else if (symbol < 256) {
      PutCode(0x190 + symbol - 144, 9);
    } else if (symbol < 280) {
      PutCode(symbol - 256, 7);
    } else {
      PutCode(0xc0 + symbol - 280, 8);
    }
  }

  // The last byte, `length` times.
  void PutRun(uint32_t length) {
    const auto next = std::upper_bound(kLengths.begin(), kLengths.end(), length);
    const auto i = static_cast<uint32_t>(next - kLengths.begin() - 1);
    PutSymbol(257 + i);
    const uint32_t extra_bits = i < 8 || i == 28 ? 0 : i / 4 - 1;
    Put(length - kLengths[i], extra_bits);
    PutCode(0, 5);  // from a distance of 1
  }

  std::vector<uint8_t> bytes_;
  uint32_t num_bits_ = 0;  // in the last byte
};

void AppendChunk(std::string_view type, std::span<const uint8_t> content,
                 std::vector<uint8_t>* file) {
  AppendBigEndian(static_cast<uint32_t>(content.size()), file);
  const size_t begin = file->size();
  file->insert(file->end(), type.begin(), type.end());
  file->insert(file->end(), content.begin(), content.end());
  AppendBigEndian(Crc(std::span(*file).subspan(begin)), file);
}

// The filter's type and the differences from the row above, row by row [PNG, 9.2].
std::vector<uint8_t> Rows(const Picture& picture) {
  constexpr uint8_t kUp = 2;
  std::vector<uint8_t> rows;
  const size_t width = picture.width;
  for (size_t i = 0; i < picture.pixels.size(); ++i) {
    if (i % width == 0) rows.push_back(kUp);
    const Picture::Pixel above = i < width ? Picture::Pixel() : picture.pixels[i - width];
    const Picture::Pixel& p = picture.pixels[i];
    rows.push_back(static_cast<uint8_t>(p.r - above.r));
    rows.push_back(static_cast<uint8_t>(p.g - above.g));
    rows.push_back(static_cast<uint8_t>(p.b - above.b));
    rows.push_back(static_cast<uint8_t>(p.a - above.a));
  }
  return rows;
}

}  // namespace

std::vector<std::byte> PngBytes(const Picture& picture) {
  std::vector<uint8_t> file = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  std::vector<uint8_t> head;
  AppendBigEndian(picture.width, &head);
  AppendBigEndian(picture.height, &head);
  // Eight bits, colour with opacity, and the only ways to compress, filter and interlace.
  head.insert(head.end(), {8, 6, 0, 0, 0});
  AppendChunk("IHDR", head, &file);
  AppendChunk("IDAT", Deflater().Deflate(Rows(picture)), &file);
  AppendChunk("IEND", {}, &file);
  const auto bytes = std::as_bytes(std::span(file));
  return {bytes.begin(), bytes.end()};
}

}  // namespace plush::tools
