// SPDX-License-Identifier: MIT
// Parses with nlohmann-json, watching depth and repeated keys; then reads typed values and keeps
// the first mistake.
#include "base/json_object.h"

#include "base/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace plush::tools {
namespace {

using nlohmann::json;

constexpr double kLargestCoordinate = 1.0e9;

// Watches the parser and notes what JSON allows but we refuse.
class StructureWatch {
 public:
  bool operator()(int depth, json::parse_event_t event, json& parsed) {
    if (depth > kMaxJsonDepth && mistake_.empty()) {
      mistake_ = "nested deeper than " + std::to_string(kMaxJsonDepth) + " levels";
    }
    if (event == json::parse_event_t::object_start) keys_.emplace_back();
    if (event == json::parse_event_t::object_end) keys_.pop_back();
    if (event == json::parse_event_t::key) {
      const std::string& key = parsed.get_ref<const std::string&>();
      if (!keys_.back().insert(key).second && mistake_.empty()) {
        mistake_ = "key '" + key + "' is given twice in one object";
      }
    }
    return mistake_.empty();  // false drops the value: nothing deep is built
  }
  const std::string& mistake() const { return mistake_; }

 private:
  std::vector<std::set<std::string>> keys_;  // of the open objects
  std::string mistake_;
};

}  // namespace

Result<json> ParseJson(std::string_view text) {
  StructureWatch watch;
  std::string mistake;
  json document;
  try {
    document = json::parse(text.begin(), text.end(), std::ref(watch));
  } catch (const json::exception& exception) {
    // "[json.exception.parse_error.101] parse error at line 3, column 5: ...": keep the sentence.
    mistake = exception.what();
    const size_t tag = mistake.find("] ");
    if (tag != std::string::npos) mistake.erase(0, tag + 2);
  }
  if (!watch.mistake().empty()) mistake = watch.mistake();
  if (!mistake.empty()) return Error{ExitCode::kUsage, mistake};
  return document;
}

JsonObject::JsonObject(const json& value, std::string path,
                       std::initializer_list<std::string_view> known_keys, std::string* mistake)
    : value_(value), path_(std::move(path)), mistake_(mistake) {
  if (!value_.is_object()) {
    Mistake("", std::string("expected an object, found ") + value_.type_name());
    return;
  }
  const std::span<const std::string_view> known(known_keys.begin(), known_keys.size());
  for (const auto& [key, unused] : value_.items()) {
    const bool is_known = std::find(known.begin(), known.end(), key) != known.end();
    if (!is_known) Mistake("", UnknownNameMessage("key", key, known));
  }
}

const json* JsonObject::Value(const char* key) const {
  if (!value_.is_object()) return nullptr;
  const auto it = value_.find(key);
  return it == value_.end() || it->is_null() ? nullptr : &*it;
}

const json* JsonObject::ValueOf(const char* key, bool (json::*is_type)() const noexcept,
                                const char* type) const {
  const json* value = Value(key);
  if (value == nullptr || (value->*is_type)()) return value;
  Mistake(key, std::string("expected ") + type + ", found " + value->type_name());
  return nullptr;
}

bool JsonObject::Has(const char* key) const { return Value(key) != nullptr; }

bool JsonObject::Number(const char* key, const NumberRange& range, double* out_number) const {
  const json* value = ValueOf(key, &json::is_number, "a number");
  if (value == nullptr) return false;
  const double number = value->get<double>();
  if (!Contains(range, number)) {
    Mistake(key, OutsideMessage(NumberText(number), range));
    return false;
  }
  *out_number = number;
  return true;
}

bool JsonObject::Number(const char* key, const NumberRange& range, float* out_number) const {
  double number = 0.0;
  if (!Number(key, range, &number)) return false;
  *out_number = static_cast<float>(number);
  return true;
}

bool JsonObject::Integer(const char* key, int64_t low, int64_t high, uint32_t* out_integer) const {
  double number = 0.0;
  const NumberRange range = {static_cast<double>(low), static_cast<double>(high)};
  if (!Number(key, range, &number)) return false;
  if (number != std::floor(number)) {
    Mistake(key, "expected a whole number, found " + NumberText(number));
    return false;
  }
  *out_integer = static_cast<uint32_t>(static_cast<int64_t>(number));  // -1 becomes 2^32 - 1
  return true;
}

bool JsonObject::Integer(const char* key, int64_t low, int64_t high, int* out_integer) const {
  uint32_t integer = 0;
  if (!Integer(key, low, high, &integer)) return false;
  *out_integer = static_cast<int>(integer);
  return true;
}

bool JsonObject::Boolean(const char* key, bool* out_boolean) const {
  const json* value = ValueOf(key, &json::is_boolean, "true or false");
  if (value == nullptr) return false;
  *out_boolean = value->get<bool>();
  return true;
}

bool JsonObject::String(const char* key, std::string* out_string) const {
  const json* value = ValueOf(key, &json::is_string, "a string");
  if (value == nullptr) return false;
  *out_string = value->get<std::string>();
  return true;
}

bool JsonObject::Vector(const char* key, std::span<double> out_numbers) const {
  if (!Has(key)) return false;
  const std::span<const json> elements = Array(key, out_numbers.size());
  if (elements.size() != out_numbers.size()) {
    Mistake(key, "expected " + std::to_string(out_numbers.size()) + " numbers");
    return false;
  }
  for (size_t i = 0; i < elements.size(); ++i) {
    const double number = elements[i].is_number() ? elements[i].get<double>() : NAN;
    if (!(std::fabs(number) <= kLargestCoordinate)) {
      Mistake(key, "element " + std::to_string(i) + " is not a number of magnitude at most " +
                       NumberText(kLargestCoordinate));
      return false;
    }
    out_numbers[i] = number;
  }
  return true;
}

std::span<const json> JsonObject::Array(const char* key, size_t max_count) const {
  const json* value = ValueOf(key, &json::is_array, "an array");
  if (value == nullptr) return {};
  if (value->size() > max_count) {
    Mistake(key,
            std::to_string(value->size()) + " elements are more than " + std::to_string(max_count));
    return {};
  }
  return value->get_ref<const json::array_t&>();
}

std::string JsonObject::PathOf(std::string_view key) const {
  if (path_.empty()) return std::string(key);
  return key.empty() ? path_ : path_ + "." + std::string(key);
}

void JsonObject::Mistake(std::string_view key, const std::string& what) const {
  if (!mistake_->empty()) return;
  const std::string place = PathOf(key);
  *mistake_ = place.empty() ? what : place + ": " + what;
}

}  // namespace plush::tools
