// SPDX-License-Identifier: MIT
// `plush simulate`: a headless run with statistics and exports.
// tools/README.md documents scenes and options.

#include "plush/version.h"

#include "base/files.h"
#include "base/material_limits.h"
#include "commands/commands.h"
#include "commands/options.h"
#include "commands/output.h"
#include "import/tet_files.h"
#include "simulate/draw_layers.h"
#include "simulate/event_record.h"
#include "simulate/glb_export.h"
#include "simulate/obj_export.h"
#include "simulate/pc2_export.h"
#include "simulate/run_statistics.h"
#include "simulate/scene.h"
#include "simulate/scene_state.h"
#include "simulate/scene_world.h"
#include "simulate/simulation_run.h"

#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

namespace plush::tools {
namespace {

constexpr char kSimulateVerb[] = "simulate";
constexpr uint64_t kMaxStateBytes = 8ull << 30;

struct SimulateOptions {
  std::string input;
  std::optional<uint32_t> steps;
  std::optional<double> dt;
  std::optional<uint32_t> threads;
  std::optional<float> young;
  std::optional<float> poisson;
  std::optional<float> damping;
  std::optional<float> density;
  std::string stats;
  std::string events;
  std::string export_path;
  std::string save_state;
  std::string load_state;
  std::optional<double> fps;
  std::optional<uint32_t> frame;
  std::string draw;         // as given
  uint32_t draw_flags = 0;  // what it says
  OutputOptions output;
};

struct Exports {
  std::optional<EventRecord> events;          // for --events
  std::optional<AnimationRecorder> recorder;  // for .glb
  std::optional<Result<ObjFiles>> frame;      // for .obj
  std::optional<PointCacheRecorder> points;   // for .pc2
};

// Set by Ctrl-C: the run ends after the current step and writes nothing.
volatile std::sig_atomic_t interrupted = 0;

void Interrupt(int /*signal*/) { interrupted = 1; }

std::string MtlPath(const std::string& obj_path) {
  return std::filesystem::path(obj_path).replace_extension(".mtl").string();
}

// One line that overwrites itself, on a terminal only.
class Progress {
 public:
  Progress(uint32_t steps, bool quiet) : steps_(steps), shown_(!quiet && ::isatty(2) == 1) {}
  ~Progress() {
    if (shown_) std::fputs("\r\033[K", stderr);
  }
  void Show(uint32_t done) const {
    const uint32_t stride = std::max(1u, steps_ / 100);
    if (shown_ && done % stride == 0) std::fprintf(stderr, "\rstep %u of %u", done, steps_);
  }

 private:
  uint32_t steps_;
  bool shown_;
};

Result<Scene> ReadInput(const SimulateOptions& options) {
  if (HasEnding(options.input, ".plush")) return DropScene(options.input);
  if (HasEnding(options.input, ".json")) return LoadScene(options.input);
  return Error{ExitCode::kUnsupported,
               options.input + ": expected a scene (.json) or a baked body (.plush)", ""};
}

void ApplyOverrides(const SimulateOptions& options, Scene* scene) {
  scene->steps = options.steps.value_or(scene->steps);
  scene->dt = options.dt.value_or(scene->dt);
  scene->threads = options.threads.value_or(scene->threads);
  for (SceneBody& body : scene->bodies) {
    body.material.young = options.young.value_or(body.material.young);
    body.material.poisson = options.poisson.value_or(body.material.poisson);
    body.material.density = options.density.value_or(body.material.density);
    body.material.damping = options.damping.value_or(body.material.damping);
  }
}

// Refuses wrong options before the first step.
Result<Done> CheckOptions(const SimulateOptions& options, const Scene& scene) {
  if (!options.draw.empty() && options.export_path.empty()) {
    return Error{ExitCode::kUsage, "--draw adds lines to an export; give --export too", ""};
  }
  const bool is_obj = HasEnding(options.export_path, ".obj");
  const bool is_pc2 = HasEnding(options.export_path, ".pc2");
  if (!options.export_path.empty() && !is_obj && !is_pc2 &&
      !HasEnding(options.export_path, ".glb")) {
    return Error{ExitCode::kUnsupported,
                 options.export_path +
                     ": --export writes .glb (animated), .obj (one frame) or .pc2 (point cache)",
                 ""};
  }
  if (is_pc2 && !options.draw.empty()) {
    return Error{ExitCode::kUsage, "a .pc2 holds no lines; leave --draw out", ""};
  }
  if (options.frame && !is_obj) {
    return Error{ExitCode::kUsage, "--frame chooses the step of an .obj; give --export .obj too",
                 ""};
  }
  if (options.fps && (is_obj || options.export_path.empty())) {
    return Error{ExitCode::kUsage, "--fps is for a .glb or .pc2; give --export of one too", ""};
  }
  if (options.frame.value_or(0) > scene.steps) {
    return Error{ExitCode::kUsage,
                 "--frame " + std::to_string(*options.frame) + " lies after the last of " +
                     std::to_string(scene.steps) + " steps",
                 ""};
  }
  if (!options.load_state.empty() &&
      (options.young || options.poisson || options.density || options.damping)) {
    return Error{ExitCode::kUsage,
                 "--load-state brings the materials; leave --young, --poisson, --density and "
                 "--damping out",
                 ""};
  }
  const std::string mtl = is_obj ? MtlPath(options.export_path) : "";
  return CheckOutputs({options.export_path, mtl, options.stats, options.events, options.save_state,
                       options.output.report},
                      {options.input});
}

// Sets the built scene to the state of --load-state.
Result<Done> LoadState(const std::string& path, double dt, SceneWorld* scene_world) {
  const auto bytes = ReadFile(path, kMaxStateBytes);
  if (!bytes.ok()) return bytes.error();
  const auto loaded = LoadSceneState(bytes.value(), dt, scene_world);
  return loaded.ok() ? loaded : loaded.error().WithContext(path);
}

Result<RunRecord> Run(const SimulateOptions& options, const Scene& scene, SceneWorld* scene_world,
                      Exports* exports) {
  const bool wants_obj = HasEnding(options.export_path, ".obj");
  const uint32_t obj_frame = options.frame.value_or(scene.steps);
  const Progress progress(scene.steps, options.output.quiet);
  bool has_room = true;
  interrupted = 0;
  const auto old_handler = std::signal(SIGINT, Interrupt);
  auto record = RunScene(scene, scene_world, [&](const SceneWorld& world, uint32_t done) {
    progress.Show(done);
    if (exports->recorder) exports->recorder->Observe(world, done);
    if (exports->points) exports->points->Observe(world, done);
    if (wants_obj && done == obj_frame) {
      const std::filesystem::path mtl = MtlPath(options.export_path);
      exports->frame = ExportObj(world, mtl.filename().string(), options.draw_flags);
    }
    has_room = !exports->events || exports->events->Observe(done);
    return has_room && interrupted == 0;
  });
  std::signal(SIGINT, old_handler);
  if (record.ok() && !has_room) {
    return Error{ExitCode::kLimit,
                 "the events of " + std::to_string(record.value().steps.size()) + " of " +
                     std::to_string(scene.steps) + " steps exceed 1 GiB; nothing was written",
                 ""};
  }
  if (record.ok() && interrupted != 0) {
    return Error{ExitCode::kLimit,
                 "interrupted after " + std::to_string(record.value().steps.size()) + " of " +
                     std::to_string(scene.steps) + " steps; nothing was written",
                 ""};
  }
  return record;
}

// Writes the statistics, the exports and the state: all or none.
Result<Done> WriteResults(const SimulateOptions& options, const SceneWorld& scene_world, double dt,
                          const Exports& exports, const nlohmann::json& statistics) {
  std::vector<FileContent> files;
  const auto add_text = [&files](const std::string& path, const std::string& text) {
    files.push_back({path, std::as_bytes(std::span(text))});
  };
  Result<std::vector<std::byte>> glb = std::vector<std::byte>();
  if (exports.recorder) {
    glb = ExportGlb(scene_world, exports.recorder->animation());
    if (!glb.ok()) return glb.error().WithContext(options.export_path);
    files.push_back({options.export_path, glb.value()});
  }
  std::vector<std::byte> points;
  if (exports.points) {
    points = exports.points->File();
    files.push_back({options.export_path, points});
  }
  if (exports.frame) {
    if (!exports.frame->ok()) return exports.frame->error().WithContext(options.export_path);
    add_text(MtlPath(options.export_path), exports.frame->value().mtl);
    add_text(options.export_path, exports.frame->value().obj);
  }
  Result<std::vector<std::byte>> state = std::vector<std::byte>();
  if (!options.save_state.empty()) {
    state = SaveSceneState(scene_world, dt);
    if (!state.ok()) return state.error().WithContext(options.save_state);
    files.push_back({options.save_state, state.value()});
  }
  const std::string events = exports.events ? exports.events->Document() : "";
  if (exports.events) add_text(options.events, events);
  const std::string text = statistics.dump(1) + "\n";
  if (!options.stats.empty()) add_text(options.stats, text);
  return WriteFilesAtomically(files);
}

// The whole verb; `document` receives the statistics.
Result<Done> Simulate(SimulateOptions options, FindingList* findings, nlohmann::json* document) {
  if (!options.draw.empty()) {
    const auto flags = ParseDrawLayers(options.draw);
    if (!flags.ok()) return flags.error().WithContext("--draw");
    options.draw_flags = flags.value();
  }
  Result<Scene> scene = ReadInput(options);
  if (!scene.ok()) return scene.error();
  ApplyOverrides(options, &scene.value());
  const auto writable = CheckOptions(options, scene.value());
  if (!writable.ok()) return writable;
  Result<SceneWorld> scene_world = BuildSceneWorld(scene.value(), findings);
  if (!scene_world.ok()) return scene_world.error();
  if (!options.load_state.empty()) {
    const auto loaded = LoadState(options.load_state, scene.value().dt, &scene_world.value());
    if (!loaded.ok()) return loaded;
  }
  Exports exports;
  const uint32_t stride = FrameStride(scene.value().dt, options.fps.value_or(60.0));
  if (HasEnding(options.export_path, ".pc2")) {
    const auto fits = CheckPointCache(scene_world.value(), scene.value().steps, stride);
    if (!fits.ok()) return fits;
    exports.points.emplace(scene.value().steps, stride);
  }
  if (HasEnding(options.export_path, ".glb")) {
    const auto fits = CheckAnimationSize(scene_world.value(), scene.value().steps, stride);
    if (!fits.ok()) return fits;
    exports.recorder.emplace(scene.value().steps, stride, scene.value().dt, options.draw_flags);
  }
  if (!options.events.empty()) exports.events.emplace(&scene_world.value(), scene.value().dt);
  const auto record = Run(options, scene.value(), &scene_world.value(), &exports);
  if (!record.ok()) return record.error();
  if (exports.events) exports.events->Finish();
  const auto sound = JudgeRun(record.value(), findings);
  *document = StatisticsJson(scene.value(), scene_world.value(), record.value());
  (*document)["tool_version"] = kVersionString;
  if (!options.output.json && !options.output.quiet) {
    const std::string text = StatisticsText(scene.value(), scene_world.value(), record.value());
    std::fputs(text.c_str(), stdout);
  }
  const auto written =
      WriteResults(options, scene_world.value(), scene.value().dt, exports, *document);
  if (!written.ok()) return written;
  return sound;
}

void AddRunOptions(CLI::App* verb, SimulateOptions* options) {
  OptionGroup group(verb, "Run (in place of the scene's own values)");
  group.Number("--steps", &options->steps, {1.0, kMaxSceneSteps}, "N",
               "number of steps (default 300)");
  group.Number("--dt", &options->dt, kTimeStepRange, "SECONDS", "time step [s] (default 0.01)");
  group.Text("--load-state", &options->load_state, "FILE",
             "start from the state that --save-state wrote, of the same scene");
  group.Number("--threads", &options->threads, {1.0, kMaxSceneThreads}, "N",
               "threads; results do not depend on it (default 1)");
  group.Number("--young", &options->young, kYoungRange, "PA",
               "Young's modulus [Pa] (default: as baked)");
  group.Number("--poisson", &options->poisson, kPoissonRange, "NU",
               "Poisson's ratio (default: as baked)");
  group.Number("--density", &options->density, kDensityRange, "KG_M3",
               "mean density [kg/m^3] (default: as baked)");
  group.Number("--damping", &options->damping, kDampingRange, "SECONDS",
               "Kelvin-Voigt relaxation time [s] (default: as baked)");
}

void AddExportOptions(CLI::App* verb, SimulateOptions* options) {
  OptionGroup group(verb, "Results");
  group.Text("--stats", &options->stats, "FILE", "write statistics of every step as JSON");
  group.Text("--events", &options->events, "FILE",
             "write what touched, slept, woke and broke in each step as JSON");
  group.Text("--save-state", &options->save_state, "FILE",
             "write the state at the end, for --load-state");
  group.Text("--export", &options->export_path, "FILE",
             "write the animation (.glb), one frame (.obj with its .mtl) or a point cache (.pc2)");
  group.Number("--fps", &options->fps, {0.001, 10000.0}, "FPS",
               "frames per second of a .glb or .pc2, at most one per step (default 60)");
  group.Number("--frame", &options->frame, {0.0, kMaxSceneSteps}, "N",
               "number of steps before the frame of an .obj (default: all)");
  group.Text("--draw", &options->draw, "LAYERS",
             "add lines to the export: " + DrawLayerNames() + ", or some of them");
}

}  // namespace

void AddSimulateCommand(CLI::App* app, int* exit_code) {
  CLI::App* verb = app->add_subcommand(
      kSimulateVerb, "Runs a scene, or drops one body from 0.3 of its height on the plane y = 0.");
  auto options = std::make_shared<SimulateOptions>();
  verb->add_option("FILE", options->input, "scene (.json) or baked body (.plush)")->required();
  AddRunOptions(verb, options.get());
  AddExportOptions(verb, options.get());
  AddOutputOptions(verb, &options->output);
  verb->callback([options, exit_code] {
    FindingList findings;
    nlohmann::json document = nlohmann::json::object();
    const auto done = Simulate(*options, &findings, &document);
    const Error* error = done.ok() ? nullptr : &done.error();
    *exit_code = FinishRun(kSimulateVerb, options->input, options->output, findings, error,
                           std::move(document));
  });
}

}  // namespace plush::tools
