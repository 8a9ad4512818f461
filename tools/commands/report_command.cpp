// SPDX-License-Identifier: MIT
// `plush report`: one HTML file that shows baked files, their faults and a simulation.

#include "plush/version.h"

#include "base/files.h"
#include "commands/commands.h"
#include "commands/options.h"
#include "commands/output.h"
#include "commands/report_models.h"
#include "commands/report_sheet.h"
#include "import/tet_files.h"
#include "page/motion_page.h"
#include "page/page_text.h"
#include "report/asset_diff.h"
#include "report/source_report.h"
#include "simulate/run_statistics.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace plush::tools {
namespace {

constexpr char kReportVerb[] = "report";

struct ReportOptions {
  std::vector<std::string> files;
  std::vector<std::string> compared;
  std::string output_path;
  std::string source;
  std::string bake_report;
  std::string scene;
  uint32_t frames = 300;
  std::string png;
  SheetBy png_by = SheetBy::kAuto;
  OutputOptions output;
};

// The page while it is made: models, and what they become.
struct ReportPage {
  std::vector<ReportModel> models;
  nlohmann::json model_pages = nlohmann::json::array();
  std::vector<std::string> blobs;
  std::optional<SceneWorld> scene_world;  // owns the assets of models that only it has
  nlohmann::json motion;
  nlohmann::json differences = nlohmann::json::array();
  FindingList run_findings;
  StageClock clock;
};

Result<Done> CheckOptions(const ReportOptions& options, size_t num_files) {
  if (num_files == 0) {
    return Error{ExitCode::kUsage, "name a .plush file or a folder of them, or --compare A B", ""};
  }
  if (num_files > 1 && !(options.source.empty() && options.bake_report.empty())) {
    return Error{ExitCode::kUsage,
                 "--source and --bake-report belong to one file, but " + std::to_string(num_files) +
                     " are given",
                 ""};
  }
  return Done{};
}

Result<Scene> SceneOf(const std::string& path) {
  if (HasEnding(path, ".plush")) return DropScene(path);
  return LoadScene(path);
}

// The model of each asset of the scene: the file of the same content, else a new one.
std::vector<size_t> ModelsOf(const SceneWorld& scene_world, ReportPage* page) {
  std::vector<size_t> models;
  for (const auto& asset : scene_world.assets) {
    size_t found = page->models.size();
    for (size_t i = 0; i < page->models.size(); ++i) {
      const Asset* known = page->models[i].page.asset;
      const auto bytes = asset->bytes();
      if (known != nullptr &&
          std::equal(bytes.begin(), bytes.end(), known->bytes().begin(), known->bytes().end())) {
        found = i;
        break;
      }
    }
    models.push_back(found);
    if (found < page->models.size()) continue;
    for (const SceneWorldBody& body : scene_world.bodies) {
      if (scene_world.assets[body.asset_index] != asset) continue;
      ReportModel model;
      model.page.file = body.name;
      model.page.asset = asset.get();
      page->models.push_back(std::move(model));
      break;
    }
  }
  return models;
}

void AddModelPages(size_t num_files, ReportPage* page) {
  for (size_t i = page->model_pages.size(); i < page->models.size(); ++i) {
    PackedArrays arrays;
    page->model_pages.push_back(ModelPage(page->models[i].page, num_files > 1, &arrays));
    page->model_pages.back()["listed"] = i < num_files;
    page->blobs.push_back(arrays.Base64());
  }
}

// Runs the scene, and adds it with the models that only it has.
Result<Done> AddMotion(const ReportOptions& options, size_t num_files, ReportPage* page) {
  page->clock.Begin("simulate");
  const Result<Scene> scene = SceneOf(options.scene);
  if (!scene.ok()) return scene.error().WithContext("--simulate");
  Result<SceneWorld> built = BuildSceneWorld(scene.value(), &page->run_findings);
  if (!built.ok()) return built.error().WithContext("--simulate");
  SceneWorld& scene_world = page->scene_world.emplace(std::move(built.value()));
  Result<MotionRecorder> recorder =
      MotionRecorder::Create(scene_world, scene.value().steps, options.frames);
  if (!recorder.ok()) return recorder.error();
  const auto record =
      RunScene(scene.value(), &scene_world, [&](const SceneWorld& world, uint32_t done) {
        recorder.value().Observe(world, done);
        return true;
      });
  if (!record.ok()) return record.error();
  (void)JudgeRun(record.value(), &page->run_findings);  // a freeze is a finding of the page
  page->clock.Begin("page");
  const std::vector<size_t> models = ModelsOf(scene_world, page);
  AddModelPages(num_files, page);
  PackedArrays arrays;
  page->motion =
      recorder.value().Page(scene_world, record.value(), scene.value().dt, models, &arrays);
  page->motion["scene"] = PrintableUtf8(options.scene);
  page->motion["findings"] = ExplainedFindings({"simulate", page->run_findings});
  page->blobs.push_back(arrays.Base64());
  return Done{};
}

// What differs between the first file and each other.
void AddDifferences(ReportPage* page) {
  for (size_t i = 1; i < page->models.size(); ++i) {
    const Asset* a = page->models[0].page.asset;
    const Asset* b = page->models[i].page.asset;
    page->differences.push_back(a != nullptr && b != nullptr ? AssetDiffJson(CompareAssets(*a, *b))
                                                             : nlohmann::json());
  }
}

nlohmann::json PageDocument(const ReportOptions& options, const ReportPage& page) {
  return {{"tool_version", kVersionString},
          {"models", page.model_pages},
          {"motion", page.motion},
          {"compare", !options.compared.empty()},
          {"differences", page.differences}};
}

Result<Done> MakePage(const ReportOptions& options, ReportPage* page, size_t* num_bytes) {
  const bool compares = !options.compared.empty();
  auto paths = options.files;
  paths.insert(paths.end(), options.compared.begin(), options.compared.end());
  const auto files = FilesOf(paths);
  if (!files.ok()) return files.error();
  const size_t num_files = files.value().size();
  if (auto sound = CheckOptions(options, num_files); !sound.ok()) return sound;
  for (const std::string& file : files.value()) {
    auto writable = CheckOutputs({options.output_path, options.png, options.output.report},
                                 {file, options.source, options.bake_report, options.scene});
    if (!writable.ok()) return writable;
  }
  page->clock.Begin("read");
  for (const std::string& file : files.value()) page->models.push_back(LoadModel(file));
  if (!options.source.empty()) {
    page->clock.Begin("source");
    if (auto added = AddSource(options.source, &page->models[0]); !added.ok()) return added;
  }
  if (!options.bake_report.empty()) {
    if (auto added = AddBakeReport(options.bake_report, &page->models[0]); !added.ok()) {
      return added;
    }
  }
  if (compares) AddDifferences(page);
  AddModelPages(num_files, page);
  if (!options.scene.empty()) {
    if (auto added = AddMotion(options, num_files, page); !added.ok()) return added;
  }
  page->clock.Begin("page");
  const auto text = PageText(PageDocument(options, *page), page->blobs);
  if (!text.ok()) return text.error();
  *num_bytes = text.value().size();
  auto written = WriteFileAtomically(options.output_path, std::as_bytes(std::span(text.value())));
  page->clock.End();
  if (!written.ok() || options.png.empty()) return written;
  page->clock.Begin("png");
  std::vector<const PageModel*> models;
  for (size_t i = 0; i < num_files; ++i) models.push_back(&page->models[i].page);
  written = WriteSheet(options.png_by, options.output_path, models, options.png);
  page->clock.End();
  return written;
}

// Findings of all files and of the run; those of the bake were judged by the bake.
FindingList JudgedFindings(const ReportPage& page) {
  FindingList all = page.run_findings;
  for (const ReportModel& model : page.models) {
    for (const PageFindings& from : model.page.findings) {
      if (from.verb == "bake") continue;
      for (const Finding& f : from.findings.all()) all.Add(f.code, f.count, f.message, f.places);
    }
  }
  return all;
}

int RunReport(const ReportOptions& options) {
  ReportPage page;
  size_t num_bytes = 0;
  const auto made = MakePage(options, &page, &num_bytes);
  const Error* error = made.ok() ? nullptr : &made.error();
  for (const ReportModel& model : page.models) {
    if (error == nullptr && model.page.error) error = &*model.page.error;
  }
  if (made.ok() && !options.output.quiet) {
    std::fprintf(stderr, "plush report: %s: %s, %zu bytes\n", options.output_path.c_str(),
                 Counted(page.models.size(), "model", "models").c_str(), num_bytes);
  }
  nlohmann::json document = {{"tool_version", kVersionString},
                             {"output", options.output_path},
                             {"bytes", num_bytes},
                             {"stages", StagesJson(page.clock.stages())}};
  const std::string name = page.models.size() == 1 ? page.models[0].page.file : options.output_path;
  return FinishRun(kReportVerb, name, options.output, JudgedFindings(page), error,
                   std::move(document));
}

}  // namespace

void AddReportCommand(CLI::App* app, int* exit_code) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* verb = app->add_subcommand(
      kReportVerb, "Writes one HTML file that shows .plush files, their faults and a simulation.");
  verb->add_option("files", options->files, "the .plush files, or folders of them")
      ->type_name("FILE.plush...");
  verb->add_option("-o,--output", options->output_path, "file to write")
      ->required()
      ->type_name("OUT.html");
  OptionGroup group(verb, "Content");
  group.Text("--source", &options->source, "IN",
             "source mesh of the bake: adds what check and validate find in it");
  group.Text("--bake-report", &options->bake_report, "JSON",
             "document of `plush bake --report`: adds the bake's findings, stages and times");
  group.Text("--simulate", &options->scene, "SCENE",
             "scene (.json) to run and play back, or a body (.plush) to drop");
  group.Number("--frames", &options->frames, {1.0, 10000.0}, "N",
               "most frames of the playback, evenly over the steps");
  group.Text("--png", &options->png, "OUT.png",
             "write a sheet of pictures as well: of files, comparison and simulation as the page "
             "shows them, drawn by it in chromium");
  group.Choice<SheetBy>("--png-by", kSheetBy, &options->png_by, "WHAT",
                        "what draws the sheet: chromium, cpu (surfaces and cages at rest only) or "
                        "auto: chromium if it is installed, else cpu");
  verb->add_option("--compare", options->compared, "files to show side by side, with a table")
      ->expected(2, 64)
      ->type_name("A B...")
      ->group("Content");
  verb->footer(
      "The page is written even if a file is not valid: it shows why. The exit code is then that "
      "of\n"
      "the first such file.");
  AddOutputOptions(verb, &options->output);
  verb->callback([options, exit_code] { *exit_code = RunReport(*options); });
}

}  // namespace plush::tools
