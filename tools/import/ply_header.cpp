// SPDX-License-Identifier: MIT
#include "import/ply_header.h"

#include "base/text.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace plush::tools {
namespace {

constexpr auto kTypes = std::to_array<NamedValue<PlyType>>({
    {"char", PlyType::kInt8},
    {"int8", PlyType::kInt8},
    {"uchar", PlyType::kUint8},
    {"uint8", PlyType::kUint8},
    {"short", PlyType::kInt16},
    {"int16", PlyType::kInt16},
    {"ushort", PlyType::kUint16},
    {"uint16", PlyType::kUint16},
    {"int", PlyType::kInt32},
    {"int32", PlyType::kInt32},
    {"uint", PlyType::kUint32},
    {"uint32", PlyType::kUint32},
    {"float", PlyType::kFloat},
    {"float32", PlyType::kFloat},
    {"double", PlyType::kDouble},
    {"float64", PlyType::kDouble},
});

std::string_view TakeWord(std::string_view* line) {
  line->remove_prefix(std::min(line->find_first_not_of(" \t"), line->size()));
  const std::string_view word = line->substr(0, line->find_first_of(" \t"));
  line->remove_prefix(word.size());
  return word;
}

bool TakeType(std::string_view* line, PlyType* type) {
  const std::string_view word = TakeWord(line);
  const auto found = std::find_if(kTypes.begin(), kTypes.end(),
                                  [word](const auto& known) { return known.name == word; });
  if (found == kTypes.end()) return false;
  *type = found->value;
  return true;
}

bool TakeFormat(std::string_view* line, MixedReader::Numbers* numbers) {
  const std::string_view word = TakeWord(line);
  if (word == "binary_big_endian") {
    *numbers = MixedReader::Numbers::kSwapped;
  } else if (word == "binary_little_endian") {
    *numbers = MixedReader::Numbers::kNative;
  }
  return word == "ascii" || *numbers != MixedReader::Numbers::kText;
}

// Reads the line behind its keyword. False if it makes no sense.
bool ReadLine(std::string_view keyword, std::string_view line, PlyHeader* header) {
  if (keyword == "format") return TakeFormat(&line, &header->numbers);
  if (keyword == "comment") {
    if (TakeWord(&line) != "TextureFile" || line.empty()) return true;
    header->textures.emplace_back(
        line.substr(std::min(line.find_first_not_of(" \t"), line.size())));
    return true;
  }
  if (keyword == "element") {
    PlyElement element;
    element.name = TakeWord(&line);
    std::string_view count = TakeWord(&line);
    header->elements.push_back(element);
    return TakeNumber(&count, &header->elements.back().count) && count.empty();
  }
  if (keyword == "property") {
    PlyProperty property;
    std::string_view rest = line;
    property.is_list = TakeWord(&rest) == "list";
    if (property.is_list) line = rest;
    if (property.is_list && !TakeType(&line, &property.count_type)) return false;
    if (!TakeType(&line, &property.type) || header->elements.empty()) return false;
    property.name = TakeWord(&line);
    header->elements.back().properties.push_back(property);
    return true;
  }
  return true;  // "ply", "obj_info", and lines that programs have added
}

}  // namespace

Result<PlyHeader> ReadPlyHeader(std::span<const std::byte> bytes) {
  const std::string_view text = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  if (!text.starts_with("ply")) {
    return Error{ExitCode::kInvalidInput, "the file does not begin with 'ply'", "IMPORT_FAILED"};
  }
  const size_t first_end = text.find_first_of("\r\n");
  const std::string_view end_of_line = first_end == text.npos                ? ""
                                       : text[first_end] == '\n'             ? "\n"
                                       : text.substr(first_end, 2) == "\r\n" ? "\r\n"
                                                                             : "\r";
  PlyHeader header;
  std::string_view rest = text;
  for (size_t number = 1; !rest.empty() && !end_of_line.empty(); ++number) {
    const size_t end = std::min(rest.find(end_of_line), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + end_of_line.size(), rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::string_view whole = line;
    const std::string_view keyword = TakeWord(&line);
    if (keyword == "end_header") {
      header.data_begin = text.size() - rest.size();
      return header;
    }
    if (!ReadLine(keyword, line, &header)) {
      return Error{ExitCode::kInvalidInput,
                   "line " + std::to_string(number) + " of the header makes no sense: " +
                       PrintableUtf8(MixedReader::Quoted(whole)),
                   "IMPORT_FAILED"};
    }
  }
  return Error{ExitCode::kInvalidInput, "the file ends before the header's end_header",
               "IMPORT_FAILED"};
}

}  // namespace plush::tools
