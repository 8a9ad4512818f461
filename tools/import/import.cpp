// SPDX-License-Identifier: MIT
// Imports a source file: hashes it, reads it, applies unit and axis, adds findings. A child process
// reads scenes; this process reads tet files.
#include "import/import.h"

#include "base/child_process.h"
#include "base/files.h"
#include "base/text.h"
#include "import/raw_scene.h"
#include "import/scene_flattening.h"
#include "import/tet_files.h"
#include "mesh/box3.h"
#include "mesh/tet_faces.h"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>
#include <vector>

namespace plush::tools {
namespace {

Error Limit(const std::string& what) { return {ExitCode::kLimit, what, "IMPORT_LIMIT"}; }

// Limit of wall-clock time over that of processor time: the machine may be busy.
constexpr double kWallTimes = 10.0;

Error Crash(const std::string& how) {
  return {ExitCode::kHelperDied, "the importer crashed (" + how + ")", "IMPORT_CRASHED"};
}

Error MemoryError(const ImportSettings& settings) {
  const double gib = static_cast<double>(settings.memory_limit_bytes) / double(1ull << 30);
  return Limit("the importer needs more than " + RoundedText(gib) + " GiB of memory");
}

// The scene that the helper wrote, or the reason why there is none.
Result<RawScene> SceneOf(const ImportSettings& settings, const ChildResult& child) {
  switch (child.end) {
    case ChildEnd::kSignalled:
      return Crash(::strsignal(child.signal_number));
    case ChildEnd::kProcessorLimit:
      return Limit("the importer was not done after " + RoundedText(settings.time_limit_s) +
                   " s of processor time");
    case ChildEnd::kTimeLimit:
      return Limit("the importer was not done after " +
                   RoundedText(kWallTimes * settings.time_limit_s) + " s, ten times its limit");
    case ChildEnd::kMemoryLimit:
    case ChildEnd::kOutputLimit:
      return MemoryError(settings);
    case ChildEnd::kExited:
      break;
  }
  const std::string last_line = LastLine(child.err);
  const std::string reason = last_line.empty() ? "it gives no reason" : last_line;
  switch (static_cast<HelperExit>(child.exit_code)) {
    case HelperExit::kOk:
      return ParseRawScene(child.out);
    case HelperExit::kRefused:
      return Error{ExitCode::kInvalidInput, reason, "IMPORT_FAILED"};
    case HelperExit::kUnsupported:
      return Error{ExitCode::kUnsupported, reason, "IMPORT_UNSUPPORTED"};
    case HelperExit::kUnreadable:
      return Error{ExitCode::kIo, reason, ""};
    case HelperExit::kOutOfMemory:
      return MemoryError(settings);
  }
  return Crash("exit code " + std::to_string(child.exit_code));
}

// Lets the helper read `path` within the limits of `settings`.
Result<RawScene> ImportWithHelper(const std::string& path, const ImportSettings& settings) {
  // An absolute path is never taken for an option ("-x") or a URI ("data:...").
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  std::vector<std::string> argv = {HelperPath(settings), error ? path : absolute.string()};
  if (settings.up != UpAxis::kAuto) argv.push_back("--keep-axes");
  ChildLimits limits;
  limits.time_s = kWallTimes * settings.time_limit_s;
  limits.processor_s = settings.time_limit_s;
  limits.memory_bytes = settings.memory_limit_bytes;
  limits.output_bytes = settings.memory_limit_bytes;
  const Result<ChildResult> child = RunChild(argv, limits);
  if (!child.ok()) return child.error().WithContext("the import helper");
  Result<RawScene> scene = SceneOf(settings, child.value());
  if (!scene.ok()) return scene.error().WithContext("'" + path + "'");
  return scene;
}

// Beyond these sizes, a wrong unit is more likely than such a model.
constexpr double kSuspectSmall = 0.01;  // [m]
constexpr double kSuspectLarge = 20.0;

char AxisOf(UpAxis up, char by_format) {
  if (up == UpAxis::kAuto) return by_format;
  return up == UpAxis::kY ? 'Y' : 'Z';
}

void AddMeshFindings(const FlatScene& flat, FindingList* findings) {
  const auto add = [findings](const char* code, uint64_t count, const std::string& what) {
    if (count > 0) findings->Add(code, count, std::to_string(count) + " " + what);
  };
  add("MESH_NON_FINITE", flat.num_non_finite, "triangles had corners that are not finite");
  add("MESH_INDEX_INVALID", flat.num_out_of_range, "triangles had corners that do not exist");
  add("MESH_UNREFERENCED_VERTEX", flat.num_unreferenced, "vertices belong to no triangle");
}

void CheckUnit(const ImportedModel& model, FindingList* findings) {
  Box3 box;
  for (const Vec3d& p : model.surface.positions) box.Add(p);
  if (box.empty()) return;
  const Vec3d extent = box.Extent();
  const double longest = std::max({extent.x, extent.y, extent.z});
  if (longest >= kSuspectSmall && longest <= kSuspectLarge) return;
  findings->Add("UNIT_SUSPECT", 1,
                "the longest side is " + RoundedText(longest) + " m, with a unit of " +
                    RoundedText(model.unit_m) + " m",
                {{box.Centre(), -1, -1, ""}});
}

Result<ImportedModel> ImportScene(const std::string& path, const ImportSettings& settings,
                                  FindingList* findings) {
  const Result<RawScene> scene = ImportWithHelper(path, settings);
  if (!scene.ok()) return scene.error();
  const RawScene& raw = scene.value();
  ImportedModel model;
  model.format = raw.format;
  model.unit_m = settings.unit_m > 0.0 ? settings.unit_m : raw.unit_m;
  model.up = AxisOf(settings.up, raw.up);
  model.dependencies = raw.dependencies;
  model.missing = raw.missing;
  // If the importer has applied the file's unit, and the user gives none, the first two cancel
  // exactly.
  const double scale = model.unit_m / raw.applied_unit_m * settings.scale;
  Result<FlatScene> flat = FlattenScene(raw, {scale, model.up});
  if (!flat.ok()) return flat.error().WithContext("'" + path + "'");
  for (const RawFinding& finding : raw.findings) {
    findings->Add(finding.code, finding.count, finding.message);
  }
  AddMeshFindings(flat.value(), findings);
  model.dropped_non_finite = flat.value().num_non_finite;
  model.surface = std::move(flat.value().surface);
  model.surface.v_downwards = raw.format == "glTF2";
  for (size_t i = 0; i < raw.colours.size(); ++i) {
    model.materials.push_back({raw.materials[i], raw.colours[i]});
  }
  return model;
}

Result<ImportedModel> ImportTets(const std::string& path, const std::string& format,
                                 const ImportSettings& settings, FindingList* findings) {
  Result<TetSource> source = ReadTetFile(path);
  if (!source.ok()) return source.error();
  ImportedModel model;
  model.format = format;
  model.unit_m = settings.unit_m > 0.0 ? settings.unit_m : 1.0;
  model.up = AxisOf(settings.up, 'Y');
  for (Vec3d& p : source.value().mesh.nodes) {
    p = (model.up == 'Z' ? Vec3d{p.x, p.z, -p.y} : p) * (model.unit_m * settings.scale);
  }
  DropTetsFlatInFloat(&source.value());
  AddTetFindings(source.value(), findings);
  if (source.value().mesh.tets.empty()) {
    return Error{ExitCode::kInvalidInput, "'" + path + "' holds no tetrahedra that can be used",
                 "IMPORT_FAILED"};
  }
  if (!source.value().other_path.empty()) model.dependencies = {source.value().other_path};
  model.tets = std::move(source.value().mesh);
  model.tet_tags = std::move(source.value().tags);
  model.surface = BoundarySurface(model.tets);
  return model;
}

Result<ImportedModel> ImportFile(const std::string& path, const ImportSettings& settings,
                                 FindingList* findings) {
  const bool unit_ok = std::isfinite(settings.unit_m) && settings.unit_m >= 0.0;
  const bool scale_ok = std::isfinite(settings.scale) && settings.scale > 0.0;
  if (!unit_ok || !scale_ok || !(settings.time_limit_s > 0.0)) {
    return Error{ExitCode::kUsage, "unit, scale and time limit must be positive numbers", ""};
  }
  const Result<SourceHash> hash = HashSource(path);
  if (!hash.ok()) return hash.error();
  if (hash.value().num_bytes == 0) {
    return Error{ExitCode::kInvalidInput, "'" + path + "' is empty", "IMPORT_FAILED"};
  }
  const std::string tet_format = TetFormatOf(path);
  Result<ImportedModel> model = tet_format.empty()
                                    ? ImportScene(path, settings, findings)
                                    : ImportTets(path, tet_format, settings, findings);
  if (!model.ok()) return model;
  model.value().source_hash = hash.value().hash;
  CheckUnit(model.value(), findings);
  return model;
}

// Reads `path`. Replaces the boundary of its tets by the surface of settings.embed, if given.
Result<ImportedModel> Import(const std::string& path, const ImportSettings& settings,
                             FindingList* findings) {
  Result<ImportedModel> model = ImportFile(path, settings, findings);
  if (!model.ok() || settings.embed.empty()) return model;
  if (model.value().tets.tets.empty()) {
    return Error{ExitCode::kUsage,
                 "--embed needs a source with tets (.node/.ele, .msh, .vtk), but this one has none",
                 ""};
  }
  Result<ImportedModel> embedded = ImportFile(settings.embed, settings, findings);
  if (!embedded.ok()) return embedded;
  ImportedModel& render = embedded.value();
  if (render.surface.triangles.empty()) {
    return Error{ExitCode::kInvalidInput, "'" + settings.embed + "' has no triangles",
                 "MESH_EMPTY"};
  }
  model.value().surface = std::move(render.surface);
  model.value().materials = std::move(render.materials);
  model.value().embed_hash = render.source_hash;
  model.value().dropped_non_finite = render.dropped_non_finite;
  std::vector<std::string>& dependencies = model.value().dependencies;
  dependencies.push_back(settings.embed);
  dependencies.insert(dependencies.end(), render.dependencies.begin(), render.dependencies.end());
  std::vector<std::string>& missing = model.value().missing;
  missing.insert(missing.end(), render.missing.begin(), render.missing.end());
  return model;
}

}  // namespace

std::string HelperPath(const ImportSettings& settings) {
  if (!settings.helper.empty()) return settings.helper;
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "plush-import" : (self.parent_path() / "plush-import").string();
}

Result<SourceHash> HashSource(const std::string& path) {
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(),
                                                                              XXH3_freeState);
  XXH3_64bits_reset(state.get());
  SourceHash result;
  const auto read = ReadPieces(path, kMaxSourceBytes, [&](std::span<const std::byte> piece) {
    XXH3_64bits_update(state.get(), piece.data(), piece.size());
    result.num_bytes += piece.size();
  });
  if (!read.ok() && read.error().exit_code == ExitCode::kLimit) return Limit(read.error().message);
  if (!read.ok()) return read.error();
  result.hash = XXH3_64bits_digest(state.get());
  return result;
}

Result<ImportedModel> ImportModel(const std::string& path, const ImportSettings& settings,
                                  FindingList* findings) {
  Result<ImportedModel> model = Import(path, settings, findings);
  if (!model.ok() && !model.error().finding_code.empty()) {
    findings->Add(model.error().finding_code, 1, model.error().message);
  }
  return model;
}

}  // namespace plush::tools
