// SPDX-License-Identifier: MIT
#include "tools/import/zip_text.h"

#include <cstdint>

namespace plush::tests {
namespace {

// In little-endian order, with zeros behind.
std::string Number(uint32_t value, size_t bytes) {
  std::string text;
  for (; bytes > 0; --bytes, value >>= 8) text += static_cast<char>(value & 0xff);
  return text;
}

uint32_t Crc32(const std::string& text) {
  uint32_t crc = ~0u;
  for (const char c : text) {
    crc ^= static_cast<uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320u : 0u);
  }
  return ~crc;
}

}  // namespace

std::string ZipOf(const std::vector<std::pair<std::string, std::string>>& files) {
  std::string zip, directory;
  for (const auto& [name, text] : files) {
    const auto size = static_cast<uint32_t>(text.size());
    const std::string common = Number(20, 2) + Number(0, 8) + Number(Crc32(text), 4) +
                               Number(size, 4) + Number(size, 4) +
                               Number(static_cast<uint32_t>(name.size()), 2) + Number(0, 2);
    directory += "PK\x01\x02" + Number(20, 2) + common + Number(0, 10) +
                 Number(static_cast<uint32_t>(zip.size()), 4) + name;
    zip += "PK\x03\x04" + common + name + text;
  }
  const auto count = static_cast<uint32_t>(files.size());
  return zip + directory + "PK\x05\x06" + Number(0, 4) + Number(count, 2) + Number(count, 2) +
         Number(static_cast<uint32_t>(directory.size()), 4) +
         Number(static_cast<uint32_t>(zip.size()), 4) + Number(0, 2);
}

}  // namespace plush::tests
