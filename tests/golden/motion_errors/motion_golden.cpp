// SPDX-License-Identifier: MIT
// Compares the errors of the motions in README's speed table with golden figures.
//   plush_motion_golden [--update] [NAME...]
//   plush_motion_golden --update-references FOLDER [NAME...]
// The second form computes what motions are compared with: seconds for the toys, minutes for
// arm_55k. FOLDER keeps the whole trajectories. Arms need PLUSH_TEST_MODELS; to be compared, also
// PLUSH_TEST_FULL, with which every row steps on each instruction set of this machine.

#include "plush/world.h"

#include "bench/reference_motion.h"
#include "bench/swinging_arm.h"
#include "golden/motion_errors/motion_samples.h"
#include "reference/elastic_body.h"
#include "reference/trajectory.h"
#include "runtime/simd_targets.h"
#include "skip.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace plush::tests {
namespace {

// This share and half the spread of the golden errors are allowed below and above them. Other
// instruction sets, and gravity larger by up to 1e-6, change an error by less than 1e-4 of it; but
// that of the octopus by 14%, because its motion magnifies every rounding.
constexpr double kTolerance = 0.005;
constexpr int kGravities = 8;

// A line of the file of golden figures.
struct Figure {
  std::string name;
  double least, most;  // errors, of all instruction sets and kGravities gravities
  std::string readme;  // what README says
};

std::string FiguresFile() { return std::string(PLUSH_GOLDEN_DIR) + "/motion_errors.txt"; }

std::vector<Figure> ReadFigures(std::string* head) {
  std::vector<Figure> out;
  std::ifstream file(FiguresFile());
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Figure figure;
    if (line.starts_with('#')) {
      *head += line + '\n';
    } else if (words >> figure.name >> figure.least >> figure.most >> figure.readme) {
      out.push_back(figure);
    }
  }
  return out;
}

bool WriteFigures(const std::string& head, const std::vector<Figure>& figures) {
  std::ofstream file(FiguresFile());
  file << head;
  for (const Figure& figure : figures) {
    char errors[32];
    std::snprintf(errors, sizeof(errors), "%.5g %.5g", figure.least, figure.most);
    file << figure.name << ' ' << errors << ' ' << figure.readme << '\n';
  }
  file.close();
  return !file.fail();
}

enum class Task { kCompare, kUpdate, kUpdateReferences };

// Empty if the body is skipped.
std::optional<bench::SwingingArm> BodyOrSkip(const std::string& name, Task task) {
  for (const bench::Toy& toy : bench::kStepToys) {
    if (name == toy.name) return bench::MakeToy(toy);
  }
  for (const bench::Arm& arm : bench::kStepArms) {
    if (name != arm.name) continue;
    if (task == Task::kCompare && !FullTests()) {
      Skip("PLUSH_TEST_FULL is not set, which " + name + " needs");
      return std::nullopt;
    }
    const std::string path = TestModelOrSkip(std::string("tets/") + arm.model + ".node");
    if (path.empty()) return std::nullopt;
    return bench::MakeArm(path, arm);
  }
  std::abort();  // the file of figures names a body that there is not
}

// Gravity is larger by so many units of rounding.
reference::Trajectory MotionOf(const bench::SwingingArm& body, int gravity) {
  WorldDesc desc = bench::SwingingWorld();
  desc.gravity.y *= 1.0f + static_cast<float>(gravity) * std::numeric_limits<float>::epsilon();
  World world(desc);
  BodyId id;
  if (!world.AddBody(body.asset, body.Desc(), &id).ok()) std::abort();
  return bench::FirstSteps(body, bench::kMotionDt, &world, id);
}

// Returns whether it could.
bool UpdateReference(const std::string& name, const bench::SwingingArm& body,
                     const std::string& file, const std::string& folder) {
  const reference::Trajectory* right =
      bench::ReferenceFolder(folder).Find(body, bench::kMotionDt, name);
  if (right == nullptr || !WriteSamples(file, KeyOf(body, bench::kMotionDt), Sampled(*right))) {
    std::printf("%s: cannot write %s\n", name.c_str(), file.c_str());
    return false;
  }
  for (const int64_t target : test::SimdTargets()) {
    const test::SimdTargetScope scope(target);
    std::printf("%s: error %.5f of all nodes and steps, on %s\n", name.c_str(),
                reference::TrajectoryError(MotionOf(body, 0), *right),
                test::NameOf(target).c_str());
  }
  return true;
}

bool CompareError(const std::string& name, const bench::SwingingArm& body, const std::string& file,
                  Task task, Figure* figure) {
  reference::Trajectory all(reference::ElasticBody(body.asset).rest);
  reference::Trajectory right = Sampled(all);
  const std::string why = ReadSamples(file, KeyOf(body, bench::kMotionDt), &right);
  if (!why.empty()) {
    std::printf("%s: %s\nrun plush_motion_golden --update-references FOLDER %s\n", name.c_str(),
                why.c_str(), name.c_str());
    return false;
  }
  std::vector<int64_t> targets = test::SimdTargets();
  if (task == Task::kCompare && !FullTests()) targets.resize(1);
  std::vector<double> errors;
  for (const int64_t target : targets) {
    const test::SimdTargetScope scope(target);
    for (int gravity = 0; gravity < (task == Task::kUpdate ? kGravities : 1); ++gravity) {
      errors.push_back(reference::TrajectoryError(Sampled(MotionOf(body, gravity)), right));
    }
  }
  const auto [least, most] = std::minmax_element(errors.begin(), errors.end());
  std::printf("%s: error %.6g to %.6g; golden %g to %g; in README %s\n", name.c_str(), *least,
              *most, figure->least, figure->most, figure->readme.c_str());
  if (task == Task::kUpdate) {
    figure->least = *least;
    figure->most = *most;
    return true;
  }
  const double margin = 0.5 * (figure->most - figure->least) + kTolerance * figure->most;
  const auto is_golden = [&](double error) {  // false for NaN
    return error >= figure->least - margin && error <= figure->most + margin;
  };
  if (std::all_of(errors.begin(), errors.end(), is_golden)) return true;
  std::printf(
      "%s: the error of its motion is not the golden one. If it is meant to change, run "
      "tests/golden.sh --update and say so in the commit\n",
      name.c_str());
  return false;
}

int Main(const std::vector<std::string>& arguments) {
  Task task = Task::kCompare;
  std::string head, folder;
  std::vector<Figure> figures = ReadFigures(&head);
  std::vector<std::string> names;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--update") {
      task = Task::kUpdate;
    } else if (arguments[i] == "--update-references" && i + 1 < arguments.size()) {
      task = Task::kUpdateReferences;
      folder = arguments[++i];
    } else {
      names.push_back(arguments[i]);
    }
  }
  if (names.empty()) {
    for (const Figure& figure : figures) names.push_back(figure.name);
  }
  bool all_right = true;
  for (const std::string& name : names) {
    const auto figure = std::find_if(figures.begin(), figures.end(),
                                     [&](const Figure& of) { return of.name == name; });
    if (figure == figures.end()) {
      std::printf("%s: %s has no such line\n", name.c_str(), FiguresFile().c_str());
      return 1;
    }
    const std::optional<bench::SwingingArm> body = BodyOrSkip(name, task);
    if (!body.has_value()) continue;
    const std::string file = std::string(PLUSH_GOLDEN_DIR) + "/motion_errors/" + name + ".txt";
    all_right &= task == Task::kUpdateReferences ? UpdateReference(name, *body, file, folder)
                                                 : CompareError(name, *body, file, task, &*figure);
  }
  if (task == Task::kUpdate) all_right &= WriteFigures(head, figures);
  return all_right ? 0 : 1;
}

}  // namespace
}  // namespace plush::tests

int main(int argc, char** argv) {
  return plush::tests::Main(std::vector<std::string>(argv + 1, argv + argc));
}
