// SPDX-License-Identifier: MIT
// `plush tune`: the cheapest solver, iterations, time step and damping for an error that is small
// enough. Costs are times on this machine: runs need not choose the same.

#include "base/files.h"
#include "commands/commands.h"
#include "commands/options.h"
#include "commands/output.h"
#include "report/source_report.h"
#include "simulate/open_asset.h"
#include "tune/tuning_search.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>

namespace plush::tools {
namespace {

constexpr char kTuneVerb[] = "tune";
constexpr int kMostFrames = 10000;
constexpr NumberRange kFrameRange = {1.0e-4, 1.0};  // the reference's steps are an eighth [s]

struct TuneOptions {
  std::string input;
  std::string output_path = "tuning.json";
  double budget_us = 0.0;
  double error = 0.0;
  double frame = 1.0 / 60.0;
  double seconds = 1.0;
  OutputOptions output;
};

nlohmann::json TrialJson(const Trial& trial) {
  nlohmann::json json = TuningJson(trial.tuning);
  nlohmann::json& measured = json["measured"];
  measured = {{"cost_us", trial.cost_us}, {"steps_per_frame", trial.steps}, {"error", trial.error}};
  for (size_t m = 0; m < kMotionNames.size(); ++m) {
    measured["errors"][kMotionNames[m]] = trial.errors[m];
  }
  return json;
}

std::string TrialText(const Trial& trial) {
  const Tuning& t = trial.tuning;
  const bool is_implicit = t.solver == TunedSolver::kImplicit;
  std::string text =
      Formatted("%10.1f %9.5f  %-9s %3d %5s  dt %.6f s, damping %.4g s;", trial.cost_us,
                trial.error, NameOf(t.solver), t.newton_iterations,
                is_implicit ? std::to_string(t.linear_iterations).c_str() : "-", t.dt, t.damping);
  for (size_t m = 0; m < kMotionNames.size(); ++m) {
    text += Formatted(" %s %.5f", kMotionNames[m], trial.errors[m]);
  }
  return text + "\n";
}

void PrintFront(const std::vector<Trial>& front) {
  std::printf("%10s %9s  %-9s %3s %5s\n", "cost [us]", "error", "solver", "it.", "lin.");
  for (const Trial& trial : front) std::fputs(TrialText(trial).c_str(), stdout);
}

std::string Limits(const TuneOptions& options) {
  return Formatted("%.4g us a frame and an error of %.4g", options.budget_us, options.error);
}

// The whole verb; `document` receives the front and the choice.
Result<Done> Tune(const TuneOptions& options, nlohmann::json* document) {
  const double wanted = std::round(options.seconds / options.frame);
  if (!(wanted >= 1.0 && wanted <= kMostFrames)) {
    return Error{
        ExitCode::kUsage,
        "--seconds must be from 1 to " + std::to_string(kMostFrames) + " times as long as --frame",
        ""};
  }
  const Result<Asset> asset = OpenBody(options.input);
  if (!asset.ok()) return asset.error();
  const auto search = TuningSearch::Begin(asset.value(), options.frame, static_cast<int>(wanted));
  if (!search.ok()) return search.error();
  size_t count = 0;
  const auto trials = search.value().TryAll([&](const Trial& trial) {
    ++count;
    if (options.output.verbose) std::fputs(TrialText(trial).c_str(), stderr);
  });
  if (!trials.ok()) return trials.error();
  const std::vector<Trial> front = FrontOf(trials.value());
  (*document)["trials"] = count;
  (*document)["front"] = nlohmann::json::array();
  for (const Trial& trial : front) (*document)["front"].push_back(TrialJson(trial));
  if (!options.output.json && !options.output.quiet) PrintFront(front);
  const auto choice = Choose(front, options.budget_us, options.error);
  if (!choice) {
    return Error{ExitCode::kGateFailed,
                 "no settings reach " + Limits(options) + "; the front has what is possible", ""};
  }
  const auto again = search.value().Try(choice->tuning, choice->steps);
  if (!again.ok()) return again.error();
  const nlohmann::json chosen = TrialJson(again.value());
  (*document)["choice"] = chosen;
  if (!options.output.json && !options.output.quiet) {
    std::printf("the choice, measured again:\n%s", TrialText(again.value()).c_str());
  }
  if (again.value().cost_us > options.budget_us || again.value().error > options.error) {
    return Error{ExitCode::kGateFailed,
                 "measured again, the choice does not reach " + Limits(options), ""};
  }
  const std::string text = chosen.dump(2) + "\n";
  return WriteFileAtomically(options.output_path, std::as_bytes(std::span(text)));
}

}  // namespace

void AddTuneCommand(CLI::App* app, int* exit_code) {
  CLI::App* verb = app->add_subcommand(
      kTuneVerb,
      "Finds the cheapest solver, iterations, time step and damping whose motion is right enough. "
      "The body drops, swings, is twisted and squeezed.");
  const auto options = std::make_shared<TuneOptions>();
  verb->add_option("FILE", options->input, "baked body (.plush)")->required();
  OptionGroup group(verb, "Gate");
  group
      .Number("--budget-us", &options->budget_us, {0.0, 1e9, true}, "N",
              "most processor time of the steps in a frame, on this machine [us]")
      ->default_str("")
      ->required();
  group
      .Number("--error", &options->error, {0.0, 1e6, true}, "E",
              "largest rms distance of the nodes from the converged motion's, as a share of the "
              "body's size")
      ->default_str("")
      ->required();
  OptionGroup motion(verb, "Motion");
  motion.Number("--frame", &options->frame, kFrameRange, "SECONDS",
                "a frame of the game, made of 1, 2 or 4 time steps [s]");
  motion.Number("--seconds", &options->seconds, {1.0e-4, 1.0e4}, "SECONDS",
                "length of each motion, at most 10000 frames [s]");
  OptionGroup(verb, "Results")
      .Text("-o,--output", &options->output_path, "FILE", "file to write, for plush bake --tuning");
  AddOutputOptions(verb, &options->output);
  verb->callback([options, exit_code] {
    nlohmann::json document = {{"budget_us", options->budget_us},
                               {"error_limit", options->error},
                               {"frame_s", options->frame},
                               {"seconds", options->seconds}};
    OutputOptions output = options->output;
    Result<Done> done = CheckOutputs({options->output_path, output.report}, {options->input});
    if (done.ok()) {
      done = Tune(*options, &document);
    } else {
      output.report.clear();  // its path may be the wrong one
    }
    const Error* error = done.ok() ? nullptr : &done.error();
    *exit_code = FinishRun(kTuneVerb, options->input, output, {}, error, std::move(document));
  });
}

}  // namespace plush::tools
