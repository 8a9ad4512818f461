// SPDX-License-Identifier: MIT
// Reads accessors, which may be strided, normalised and sparse.
// Source: Khronos Group. glTF 2.0 Specification, 3.6.2 and 3.11. 2021
#include "import/gltf_document.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

namespace plush::tools {

using nlohmann::json;

namespace {

constexpr uint64_t kMaxStride = 65536;
// Zeros take no bytes of a file, so that small ones could ask for many.
constexpr uint64_t kZeroCost = 7;

// 0 for types other than those of NumberArray.
size_t ComponentsOf(const json& accessor) {
  static const std::map<std::string, size_t> kComponents = {
      {"SCALAR", 1}, {"VEC2", 2}, {"VEC3", 3}, {"VEC4", 4}, {"MAT4", 16}};
  const auto found = kComponents.find(GltfText(accessor, "type"));
  if (found == kComponents.end()) return 0;
  // Other matrices have padded columns, and no attribute needs them.
  const bool is_read = found->second < 16 || GltfNumber(accessor, "componentType") == 5126u;
  return is_read ? found->second : 0;
}

// Calls `use` with a zero of a componentType; not if there is no such type.
template <class Use>
void WithType(uint64_t type, const Use& use) {
  const auto with = [&](uint64_t number, auto zero) {
    if (type == number) use(zero);
  };
  with(5120, int8_t{});
  with(5121, uint8_t{});
  with(5122, int16_t{});
  with(5123, uint16_t{});
  with(5125, uint32_t{});
  with(5126, float{});
}

size_t SizeOf(uint64_t type) {
  size_t size = 0;
  WithType(type, [&size](auto zero) { size = sizeof(zero); });
  return size;
}

bool IsIndexType(uint64_t type) { return type == 5121 || type == 5123 || type == 5125; }

// All numbers one after another; zeros without a view. Floats are not for whole numbers.
template <class Number>
std::vector<Number> Converted(const NumberArray& from) {
  const size_t n = from.num_components;
  std::vector<Number> numbers(from.count * n);
  if (from.bytes.empty() || from.count == 0) return numbers;
  WithType(from.type, [&]<class Stored>(Stored) {
    if (std::is_same_v<Stored, Number> && from.stride == n * sizeof(Stored)) {
      std::memcpy(numbers.data(), from.bytes.data(), from.count * from.stride);
    } else if constexpr (std::is_integral_v<Stored> || std::is_floating_point_v<Number>) {
      constexpr bool may_be_normalized = std::is_integral_v<Stored> && !std::is_integral_v<Number>;
      const auto one = static_cast<double>(std::numeric_limits<Stored>::max());
      Number* to = numbers.data();
      for (uint64_t i = 0; i < from.count; ++i) {
        for (size_t k = 0; k < n; ++k) {
          Stored stored;
          std::memcpy(&stored, &from.bytes[i * from.stride + k * sizeof(Stored)], sizeof(Stored));
          *to++ = may_be_normalized && from.is_normalized
                      ? static_cast<Number>(std::max(static_cast<double>(stored) / one, -1.0))
                      : static_cast<Number>(stored);
        }
      }
    }
  });
  return numbers;
}

}  // namespace

void GltfDocument::Spend(uint64_t num_numbers) {
  if (num_numbers > numbers_left_) {
    RefuseGltf("the file asks for more than 2^28 numbers, or 2^25 without a view");
  }
  numbers_left_ -= num_numbers;
}

// Finds `numbers`, whose count, type and components are known, in the view that `place` names.
void GltfDocument::Locate(const json& place, NumberArray* numbers) {
  const std::span<const std::byte> bytes = View(GltfMember(place, "bufferView"));
  const auto offset = GltfNumber(place, "byteOffset", 0);
  const json& view = Top("bufferViews")[GltfMember(place, "bufferView").get<size_t>()];
  const uint64_t element = SizeOf(numbers->type) * numbers->num_components;
  const uint64_t stride = GltfNumber(view, "byteStride", 0).value_or(UINT64_MAX);
  const uint64_t count = numbers->count;
  numbers->stride = stride == 0 ? element : stride;
  if (!offset || *offset > bytes.size() || numbers->stride < element ||
      numbers->stride > kMaxStride) {
    RefuseGltf("impossible offset or stride");
  }
  // Nothing overflows: strides are small, and the view's bytes exist.
  const uint64_t room = bytes.size() - *offset;
  if (count > 0 && (room < element || count - 1 > (room - element) / numbers->stride)) {
    RefuseGltf(std::to_string(count) + " elements do not fit into its view of " +
               std::to_string(bytes.size()) + " bytes");
  }
  numbers->bytes = bytes.subspan(*offset);
}

NumberArray GltfDocument::FindNumbers(const json& accessor, const NumberArray* decoded) {
  NumberArray numbers = decoded != nullptr ? *decoded : NumberArray();
  const auto count = GltfNumber(accessor, "count");
  const size_t n = ComponentsOf(accessor);
  if (decoded == nullptr) numbers.type = GltfNumber(accessor, "componentType").value_or(0);
  if (!count || n == 0 || SizeOf(numbers.type) == 0) RefuseGltf("impossible count or type");
  if (decoded != nullptr && (*count != decoded->count || n != decoded->num_components)) {
    RefuseGltf(std::to_string(*count) + " elements, but " + std::to_string(decoded->count) +
               " were decoded");
  }
  Spend(*count);
  Spend(*count * (n - 1));
  numbers.count = *count;
  numbers.num_components = n;
  numbers.is_normalized = GltfMember(accessor, "normalized") == json(true);
  if (decoded == nullptr && accessor.contains("bufferView")) {
    Locate(accessor, &numbers);
  } else if (decoded == nullptr) {
    Spend(*count * n * kZeroCost);
  }
  return numbers;
}

template <class Number>
void GltfDocument::ApplySparse(const json& sparse, NumberArray numbers,
                               std::vector<Number>* values) {
  const uint64_t limit = numbers.count;
  const size_t n = numbers.num_components;
  const json& indices = GltfMember(sparse, "indices");
  numbers.count = GltfNumber(sparse, "count").value_or(UINT64_MAX);
  NumberArray places = {{}, numbers.count, 0, 1, GltfNumber(indices, "componentType").value_or(0)};
  if (numbers.count > limit || !IsIndexType(places.type)) {
    RefuseGltf("impossible count or type of sparse values");
  }
  Locate(indices, &places);
  Locate(GltfMember(sparse, "values"), &numbers);
  const std::vector<Number> from = Converted<Number>(numbers);
  auto next = from.begin();
  for (const uint32_t to : Converted<uint32_t>(places)) {
    if (to >= limit) RefuseGltf("a sparse value has the index " + std::to_string(to));
    std::copy_n(next, n, values->begin() + static_cast<std::ptrdiff_t>(to * n));
    next += static_cast<std::ptrdiff_t>(n);
  }
}

template <class Number>
GltfValues<Number> GltfDocument::Load(const json& index, const NumberArray* decoded) {
  const json& accessor = Find("accessors", index);
  try {
    const NumberArray numbers = FindNumbers(accessor, decoded);
    if (std::is_integral_v<Number> && (!IsIndexType(numbers.type) || numbers.num_components != 1)) {
      RefuseGltf("no unsigned whole numbers");
    }
    std::vector<Number> values = Converted<Number>(numbers);
    const json& sparse = GltfMember(accessor, "sparse");
    if (!sparse.is_null()) ApplySparse(sparse, numbers, &values);
    return {numbers.count, numbers.num_components, std::move(values)};
  } catch (const Error& error) {
    throw error.WithContext("accessor " + index.dump());
  }
}

GltfValues<float> GltfDocument::ReadAccessor(const json& index, const NumberArray* decoded) {
  return Load<float>(index, decoded);
}

std::vector<uint32_t> GltfDocument::ReadIndices(const json& index) {
  return Load<uint32_t>(index, nullptr).values;
}

}  // namespace plush::tools
