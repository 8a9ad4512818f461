// SPDX-License-Identifier: MIT
// Dependencies reach Ninja as lines on stdout (`deps = msvc`): its parser of depfiles cuts names at
// quotes, ampersands and the like, and would bake such assets again each time.
#include "batch/ninja_file.h"

#include "base/files.h"
#include "base/text.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

namespace plush::tools {
namespace {

// Lines of seconds and output, with a tab between them.
constexpr char kCostsFile[] = ".batch/costs";
constexpr uint64_t kMaxLogBytes = 1u << 30;

// Stands for '|', which ends a path and which '$' does not escape.
constexpr char kBarVariable[] = "bar";

// In paths of build lines, '$' escapes itself, spaces and colons.
std::string NinjaPath(std::string_view path) {
  std::string escaped;
  for (const char c : path) {
    if (c == '|') {
      escaped += std::string("${") + kBarVariable + "}";
      continue;
    }
    if (c == '$' || c == ' ' || c == ':') escaped += '$';
    escaped += c;
  }
  return escaped;
}

// In values of variables, '$' escapes itself.
std::string Doubled(std::string_view text) {
  std::string escaped;
  for (const char c : text) escaped.append(c == '$' ? 2 : 1, c);
  return escaped;
}

// A word of a command in a variable's value.
std::string NinjaWord(std::string_view word) { return Doubled(ShellWord(word)); }

std::string NinjaWords(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + NinjaWord(word);
  return text;
}

// Options of the time limit and the cache, if the environment has them.
std::string VariableWords() {
  const std::string time = kBakeTimeVariable;
  const std::string cache = kCacheVariable;
  return " $${" + time + ":+\"--bake-time=$$" + time + "\"} $${" + cache + ":+\"--cache=$$" +
         cache + "\"} $${" + cache + ":+\"--cache-size=$$" + kCacheSizeVariable + "\"}";
}

}  // namespace

bool FitsNinja(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
}

std::string ReportPath(const std::string& output) {
  // Not beside Ninja's logs: a folder of the inputs may have the name of one of them.
  return std::string(kBatchFolder) + "/reports/" + output + ".json";
}

std::string NinjaFileText(std::span<const BatchAsset> assets, const BatchTools& tools) {
  std::string text = "# Written by `plush batch`, which runs Ninja on it.\n";
  text += "ninja_required_version = 1.10\n";
  text += std::string("builddir = ") + kBatchFolder + "\n";
  text += std::string(kBarVariable) + " = |\n";
  text += "msvc_deps_prefix = " + std::string(kSourceLine) + "\n";
  text += "rule bake\n  command = done=\"$${" + std::string(kDoneVariable) +
          ":-/dev/null}\"/$dst; if [ -f \"$$done\" ]; then . \"$$done\"; else " +
          NinjaWord(tools.plush) +
          " bake $src -o $dst --report $report --list-sources --keep-unchanged --threads 1 -q " +
          NinjaWords(tools.options) + VariableWords() + " $options; fi || { code=$$?; echo '" +
          kExitCodeLine + "'$$code; exit $$code; }\n";
  text += "  deps = msvc\n  restat = 1\n";
  size_t index = 0;
  const std::string programs = NinjaPath(tools.plush) + " " + NinjaPath(tools.importer);
  for (const BatchAsset& asset : assets) {
    const std::string report = ReportPath(asset.output);
    text += "build " + NinjaPath(asset.output) + " | " + NinjaPath(report) + ": bake " +
            NinjaPath(asset.input) + " | " + programs + "\n";
    text += "  src = " + NinjaWord(asset.input) + "\n";
    text += "  dst = " + NinjaWord(asset.output) + "\n";
    text += "  description = " + std::to_string(index++) + " " + Doubled(asset.output) + "\n";
    text += "  report = " + NinjaWord(report) + "\n";
    if (!asset.options.empty()) text += "  options = " + NinjaWords(asset.options) + "\n";
  }
  return text;
}

std::map<std::string, double> LoggedCosts(const std::string& output_tree) {
  std::map<std::string, double> costs;
  const auto bytes = ReadFile(output_tree + "/" + kBatchFolder + "/.ninja_log", kMaxLogBytes);
  if (!bytes.ok()) return costs;
  std::string_view log(reinterpret_cast<const char*>(bytes.value().data()), bytes.value().size());
  while (!log.empty()) {
    std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(line.size() + 1, log.size()));
    // start [ms], end [ms], time of the inputs, output, hash of the command; by tabs
    double start = 0.0;
    double end = 0.0;
    if (!TakeNumber(&line, &start) || !line.starts_with('\t')) continue;
    line.remove_prefix(1);
    if (!TakeNumber(&line, &end) || !line.starts_with('\t')) continue;
    const size_t name = line.find('\t', 1);
    const size_t hash = line.rfind('\t');
    if (name == std::string_view::npos || hash <= name) continue;
    costs[std::string(line.substr(name + 1, hash - name - 1))] =
        std::max(end - start, 1.0) / 1000.0;
  }
  return costs;
}

std::map<std::string, double> KeptCosts(const std::string& output_tree) {
  std::map<std::string, double> costs;
  const auto bytes = ReadFile(output_tree + "/" + kCostsFile, kMaxLogBytes);
  if (!bytes.ok()) return costs;
  std::string_view text(reinterpret_cast<const char*>(bytes.value().data()), bytes.value().size());
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    double cost = 0.0;
    if (!TakeNumber(&line, &cost) || !(cost >= 0.0) || !line.starts_with('\t')) continue;
    costs[std::string(line.substr(1))] = cost;
  }
  return costs;
}

Result<Done> KeepCosts(const std::string& output_tree, const std::map<std::string, double>& costs) {
  std::string text;
  for (const auto& [output, cost] : costs) text += NumberText(cost, 4) + "\t" + output + "\n";
  return WriteFileAtomically(output_tree + "/" + kCostsFile, std::as_bytes(std::span(text)));
}

std::vector<double> SortByCost(const std::map<std::string, double>& logged,
                               std::vector<BatchAsset>* assets) {
  double known_cost = 0.0;
  double known_bytes = 0.0;
  for (const BatchAsset& asset : *assets) {
    const auto it = logged.find(asset.output);
    if (it == logged.end()) continue;
    known_cost += it->second;
    known_bytes += static_cast<double>(asset.input_bytes);
  }
  const double cost_per_byte = known_bytes > 0.0 ? known_cost / known_bytes : 1.0;
  std::vector<double> costs;
  for (const BatchAsset& asset : *assets) {
    const auto it = logged.find(asset.output);
    costs.push_back(it != logged.end() ? it->second
                                       : cost_per_byte * static_cast<double>(asset.input_bytes));
  }
  std::vector<size_t> order(costs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), [&](size_t i) { return costs[i]; });
  std::vector<BatchAsset> sorted_assets;
  std::vector<double> sorted_costs;
  for (const size_t i : order) {
    sorted_assets.push_back(std::move((*assets)[i]));
    sorted_costs.push_back(costs[i]);
  }
  *assets = std::move(sorted_assets);
  return sorted_costs;
}

}  // namespace plush::tools
