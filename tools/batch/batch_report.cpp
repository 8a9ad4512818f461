// SPDX-License-Identifier: MIT
#include "batch/batch_report.h"

#include "base/child_process.h"
#include "base/files.h"
#include "batch/ninja_file.h"

#include <unistd.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace plush::tools {
namespace {

using nlohmann::json;

constexpr uint64_t kMaxReportBytes = 64u << 20;
constexpr int kFirstSignalCode = 128;

// The report of a bake; null if there is none that can be read.
json ReadReport(const std::string& path) {
  const auto bytes = ReadFile(path, kMaxReportBytes);
  if (!bytes.ok()) return nullptr;
  const auto* text = reinterpret_cast<const char*>(bytes.value().data());
  json report = json::parse(text, text + bytes.value().size(), nullptr, false);
  return report.is_object() ? report : json(nullptr);
}

void TakeFindings(const json& report, AssetResult* result) {
  result->findings = json::array();
  const auto findings = report.find("findings");
  if (findings == report.end() || !findings->is_array()) return;
  for (const json& finding : *findings) {
    json kept = finding;
    if (!kept.is_object()) continue;
    kept.erase("places");
    if (kept.value("severity", "") == SeverityName(Severity::kWarning)) ++result->num_warnings;
    result->findings.push_back(std::move(kept));
  }
}

// Says why a bake failed that left no report of it.
std::string ErrorOf(const BakeEnd& end) {
  const std::string line = LastLine(end.text);
  if (end.exit_code <= kFirstSignalCode) return line.empty() ? "the bake gave no reason" : line;
  return "the bake was ended by signal " + std::to_string(end.exit_code - kFirstSignalCode) +
         (line.empty() ? "" : " (" + line + ")");
}

// The first finding that is an error, else a sentence about `code`.
std::string ErrorOf(const json& findings, int code) {
  for (const json& finding : findings) {
    if (finding.value("severity", "") != SeverityName(Severity::kError)) continue;
    return finding.value("code", "") + ": " + finding.value("message", "");
  }
  if (code == static_cast<int>(ExitCode::kGateFailed)) return "there are warnings";
  return "the bake failed";
}

AssetResult ResultOf(const std::string& output_tree, const BatchAsset& asset, const BakeEnd* end) {
  AssetResult result;
  result.input = asset.name;
  result.output = asset.output;
  const std::string path = output_tree + "/" + ReportPath(asset.output);
  const json report = ReadReport(path);
  const int reported = report.is_object() ? report.value("exit_code", -1) : -1;
  if (end == nullptr ? reported >= 0 : reported == end->exit_code) {
    TakeFindings(report, &result);
    result.exit_code = reported;
    if (const auto stages = report.find("stages"); stages != report.end()) {
      for (const json& stage : *stages) {
        if (stage.is_object()) result.seconds += stage.value("seconds", 0.0);
      }
    }
    if (const auto missing = report.find("missing_files"); missing != report.end()) {
      for (const json& file : *missing) {
        if (file.is_string()) result.missing_files.push_back(file.get<std::string>());
      }
    }
    if (reported != 0) {
      result.error = report.value("error", "");
      if (result.error.empty()) result.error = ErrorOf(result.findings, reported);
    }
  } else if (end != nullptr) {
    const bool was_killed = end->exit_code > kFirstSignalCode;
    result.findings = json::array();
    result.exit_code = was_killed ? static_cast<int>(ExitCode::kHelperDied) : end->exit_code;
    result.error = ErrorOf(*end);
  } else {
    // Ninja has not come to this asset.
    result.findings = json::array();
    result.exit_code = static_cast<int>(ExitCode::kIo);
    result.error = "not baked: ninja stopped before";
  }
  if (result.exit_code != 0) {
    result.state = AssetState::kFailed;
    ::unlink(path.c_str());
  } else if (end != nullptr) {
    const bool is_hit = report.value("cache", "") == "hit";
    result.state = is_hit ? AssetState::kCached : AssetState::kBaked;
    if (is_hit) result.seconds = report.value("bake_seconds", 0.0);
  }
  return result;
}

}  // namespace

std::vector<AssetResult> CollectResults(const std::string& output_tree,
                                        std::span<const BatchAsset> assets,
                                        std::span<const BakeEnd> ends) {
  std::vector<const BakeEnd*> end_of(assets.size(), nullptr);
  for (const BakeEnd& end : ends) {
    if (end.index < end_of.size()) end_of[end.index] = &end;
  }
  std::vector<AssetResult> results;
  for (size_t i = 0; i < assets.size(); ++i) {
    results.push_back(ResultOf(output_tree, assets[i], end_of[i]));
  }
  std::ranges::sort(results, {}, [](const AssetResult& result) {
    return std::tuple(result.exit_code == 0, result.num_warnings == 0,
                      std::string_view(result.input));
  });
  return results;
}

bool ForgetStale(const std::string& output_tree, std::span<const AssetResult> results) {
  bool any = false;
  for (const AssetResult& result : results) {
    if (result.state != AssetState::kUnchanged) continue;
    const auto is_there = [](const std::string& path) { return ::access(path.c_str(), R_OK) == 0; };
    if (std::ranges::none_of(result.missing_files, is_there)) continue;
    ::unlink((output_tree + "/" + ReportPath(result.output)).c_str());
    any = true;
  }
  return any;
}

int WorstExitCode(std::span<const AssetResult> results) {
  int worst = 0;
  for (const AssetResult& result : results) worst = std::max(worst, result.exit_code);
  return worst;
}

json ResultsJson(std::span<const AssetResult> results) {
  json counts = {{"assets", results.size()}, {"with_warnings", 0}};
  for (const auto& state : kAssetStates) counts[state.name] = 0;
  json assets = json::array();
  for (const AssetResult& result : results) {
    const std::string state = NameOf<AssetState>(kAssetStates, result.state);
    counts[state] = counts[state].get<size_t>() + 1;
    if (result.num_warnings > 0) {
      counts["with_warnings"] = counts["with_warnings"].get<size_t>() + 1;
    }
    json asset = {{"input", result.input},
                  {"output", result.output},
                  {"state", state},
                  {"exit_code", result.exit_code},
                  {"findings", result.findings}};
    if (!result.error.empty()) asset["error"] = result.error;
    assets.push_back(std::move(asset));
  }
  return {{"counts", counts}, {"assets", assets}};
}

}  // namespace plush::tools
