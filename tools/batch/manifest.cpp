// SPDX-License-Identifier: MIT
#include "batch/manifest.h"

#include "base/files.h"
#include "base/json_object.h"
#include "base/text.h"
#include "batch/ninja_file.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <unordered_map>

namespace plush::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr uint64_t kMaxManifestBytes = 16u << 20;
constexpr size_t kMaxPatterns = 10000;
constexpr char kStemWord[] = "{stem}";
constexpr char kExtension[] = ".plush";
constexpr char kLineEnds[] = "Ninja takes no line ends and no null characters";
constexpr char kRemedy[] = ": exclude one, or set \"names\" to \"full\"";

constexpr NamedValue<AssetNames> kNames[] = {{"stem", AssetNames::kStem},
                                             {"full", AssetNames::kFull}};

std::string Absolute(const fs::path& folder, const std::string& path) {
  std::string normal = fs::absolute(folder / path).lexically_normal().string();
  if (normal.size() > 1 && normal.ends_with('/')) normal.pop_back();
  return normal;
}

class ManifestReader {
 public:
  ManifestReader(const json& document, const fs::path& folder,
                 std::span<const BakeOptionName> known, std::string* mistake)
      : object_(document, "", {"root", "output", "inputs", "exclude", "names", "options"}, mistake),
        folder_(folder),
        known_(known),
        mistake_(mistake) {}

  Manifest Read() {
    Manifest manifest;
    std::string root = ".";
    std::string output;
    object_.String("root", &root);
    if (object_.String("output", &output) && output.empty()) {
      object_.Mistake("output", "must not be empty");
    }
    manifest.root = Absolute(folder_, root);
    if (!FitsNinja(manifest.root)) object_.Mistake("root", kLineEnds);
    if (!output.empty()) manifest.output = Absolute(folder_, output);
    manifest.inputs = Patterns(object_, "inputs");
    if (manifest.inputs.empty()) object_.Mistake("inputs", "give at least one pattern");
    manifest.exclude = Patterns(object_, "exclude");
    manifest.names = ReadNames();
    size_t index = 0;
    for (const json& rule : object_.Array("options", kMaxPatterns)) {
      manifest.rules.push_back(ReadRule(rule, "options[" + std::to_string(index++) + "]"));
    }
    return manifest;
  }

 private:
  AssetNames ReadNames() {
    std::string word = "stem";
    object_.String("names", &word);
    std::vector<std::string_view> words;
    for (const NamedValue<AssetNames>& name : kNames) {
      if (word == name.name) return name.value;
      words.emplace_back(name.name);
    }
    object_.Mistake("names", UnknownNameMessage("value", word, words));
    return AssetNames::kStem;
  }

  // One pattern, or an array of patterns.
  std::vector<FilePattern> Patterns(const JsonObject& object, const char* key) {
    const json* value = object.Value(key);
    if (value == nullptr) return {};
    std::vector<FilePattern> patterns;
    const auto add = [&](const json& element) {
      const std::string text = element.is_string() ? element.get<std::string>() : "";
      const std::string mistake =
          element.is_string() ? PatternMistake(text)
                              : std::string("expected a pattern, found ") + element.type_name();
      if (!mistake.empty()) object.Mistake(key, mistake);
      patterns.emplace_back(text);
    };
    if (value->is_string()) {
      add(*value);
    } else {
      for (const json& element : object.Array(key, kMaxPatterns)) add(element);
    }
    return patterns;
  }

  Manifest::Rule ReadRule(const json& value, const std::string& path) {
    const JsonObject object(value, path, {"match", "bake"}, mistake_);
    Manifest::Rule rule;
    rule.match = Patterns(object, "match");
    if (rule.match.empty()) object.Mistake("match", "give at least one pattern");
    const json* bake = object.Value("bake");
    if (bake == nullptr || !bake->is_object()) {
      object.Mistake("bake", "expected an object with options of `plush bake`");
      return rule;
    }
    for (const auto& [name, option] : bake->items()) ReadOption(object, name, option, &rule);
    return rule;
  }

  void ReadOption(const JsonObject& object, const std::string& name, const json& value,
                  Manifest::Rule* rule) {
    const auto it = std::ranges::find(known_, name, &BakeOptionName::name);
    if (it == known_.end()) {
      std::vector<std::string_view> names;
      for (const BakeOptionName& option : known_) {
        if (option.kind != OptionKind::kReserved) names.push_back(option.name);
      }
      return object.Mistake("bake", UnknownNameMessage("option", name, names));
    }
    const std::string place = "bake." + name;
    if (it->kind == OptionKind::kReserved) {
      return object.Mistake(place, "`plush batch` gives this option itself");
    }
    if (value.is_null() || value == false) {
      rule->unset.push_back(name);
    } else if (it->kind == OptionKind::kFlag) {
      if (value != true) object.Mistake(place, "expected true or false");
      rule->set[name] = {};
    } else if (value.is_number()) {
      rule->set[name] = {value.dump()};
    } else if (value.is_string()) {
      const auto text = value.get<std::string>();
      if (!FitsNinja(text)) return object.Mistake(place, kLineEnds);
      rule->set[name] = {it->kind == OptionKind::kPath ? PathValue(text) : text};
    } else {
      object.Mistake(place,
                     std::string("expected a number or a string, found ") + value.type_name());
    }
  }

  // "{stem}" becomes an absolute path later, for each asset.
  std::string PathValue(const std::string& text) const {
    return text.starts_with(kStemWord) ? text : Absolute(folder_, text);
  }

  const JsonObject object_;
  const fs::path& folder_;
  std::span<const BakeOptionName> known_;
  std::string* mistake_;
};

bool AnyMatches(const std::vector<FilePattern>& patterns, std::string_view path) {
  return std::ranges::any_of(patterns, [path](const auto& p) { return p.Matches(path); });
}

std::string WithoutExtension(const std::string& path) {
  return fs::path(path).replace_extension().string();
}

std::vector<std::string> OptionsOf(const Manifest& manifest, const std::string& name,
                                   const std::string& input) {
  OptionValues values;
  for (const Manifest::Rule& rule : manifest.rules) {
    if (!AnyMatches(rule.match, name)) continue;
    for (const std::string& option : rule.unset) values.erase(option);
    for (const auto& [option, value] : rule.set) values[option] = value;
  }
  std::vector<std::string> arguments;
  for (const auto& [option, value] : values) {
    // "--name=value": a value may begin with a dash.
    std::string argument = "--" + option;
    if (!value.empty()) {
      const bool by_stem = value[0].starts_with(kStemWord);
      argument += "=" + (by_stem ? WithoutExtension(input) + value[0].substr(sizeof(kStemWord) - 1)
                                 : value[0]);
    }
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

Result<Done> CheckOutputsDiffer(const std::vector<BatchAsset>& assets) {
  std::unordered_map<std::string_view, const BatchAsset*> by_output;
  for (const BatchAsset& asset : assets) {
    const auto [it, is_new] = by_output.emplace(asset.output, &asset);
    if (is_new) continue;
    return Error{ExitCode::kUsage, "'" + it->second->name + "' and '" + asset.name +
                                       "' would both become '" + asset.output + "'" + kRemedy};
  }
  for (const BatchAsset& asset : assets) {
    const std::string_view output = asset.output;
    for (size_t end = output.find('/'); end != output.npos; end = output.find('/', end + 1)) {
      const auto it = by_output.find(output.substr(0, end));
      if (it == by_output.end()) continue;
      return Error{ExitCode::kUsage, "'" + it->second->name + "' would become '" +
                                         it->second->output + "', the folder of what '" +
                                         asset.name + "' becomes" + kRemedy};
    }
  }
  return Done{};
}

// A pattern without any match is a spelling mistake more often than not.
void ReportUnmatched(const Manifest& manifest, const std::vector<BatchAsset>& assets,
                     FindingList* findings) {
  std::vector<Place> places;
  for (const FilePattern& pattern : manifest.inputs) {
    const auto matches = [&pattern](const BatchAsset& a) { return pattern.Matches(a.name); };
    if (std::ranges::any_of(assets, matches)) continue;
    places.push_back({{}, -1, -1, pattern.text(), false});
  }
  if (places.empty()) return;
  findings->Add("BATCH_UNMATCHED", places.size(),
                "no file below '" + manifest.root + "' matches '" + places.front().object +
                    "', or all that do are excluded",
                places);
}

}  // namespace

Result<Manifest> ReadManifest(const std::string& path, const std::string& output,
                              std::span<const BakeOptionName> known) {
  const auto bytes = ReadFile(path, kMaxManifestBytes);
  if (!bytes.ok()) return bytes.error();
  const auto document =
      ParseJson({reinterpret_cast<const char*>(bytes.value().data()), bytes.value().size()});
  if (!document.ok()) return document.error().WithContext(path);
  std::string mistake;
  const fs::path folder = fs::absolute(path).parent_path();
  Manifest manifest = ManifestReader(document.value(), folder, known, &mistake).Read();
  if (!output.empty()) manifest.output = Absolute(fs::current_path(), output);
  if (mistake.empty() && manifest.output.empty()) {
    mistake = "output: name the output tree here or by --output";
  }
  if (mistake.empty() && !FitsNinja(manifest.output)) mistake = std::string("output: ") + kLineEnds;
  if (!mistake.empty()) return Error{ExitCode::kUsage, path + ": " + mistake};
  return manifest;
}

Result<std::vector<BatchAsset>> FindAssets(const Manifest& manifest, FindingList* findings) {
  const bool is_one_tree = manifest.output == manifest.root;
  const std::string skipped = is_one_tree ? "" : manifest.output;
  const auto files = ListFiles(manifest.root, skipped);
  if (!files.ok()) return files.error();
  std::vector<BatchAsset> assets;
  for (const ListedFile& file : files.value()) {
    if (!AnyMatches(manifest.inputs, file.path) || AnyMatches(manifest.exclude, file.path)) {
      continue;
    }
    // What an earlier run has made.
    if (is_one_tree && file.path.ends_with(kExtension)) continue;
    if (!FitsNinja(file.path)) {
      return Error{ExitCode::kUsage, "'" + PrintableUtf8(file.path) +
                                         "': Ninja takes no line ends in names; rename the file"};
    }
    BatchAsset asset;
    asset.name = file.path;
    asset.input = manifest.root + "/" + file.path;
    const bool keeps_extension = manifest.names == AssetNames::kFull;
    asset.output = (keeps_extension ? file.path : WithoutExtension(file.path)) + kExtension;
    asset.input_bytes = file.num_bytes;
    asset.options = OptionsOf(manifest, asset.name, asset.input);
    assets.push_back(std::move(asset));
  }
  ReportUnmatched(manifest, assets, findings);
  if (auto done = CheckOutputsDiffer(assets); !done.ok()) return done.error();
  return assets;
}

}  // namespace plush::tools
