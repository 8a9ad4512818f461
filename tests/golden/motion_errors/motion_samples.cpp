// SPDX-License-Identifier: MIT
#include "golden/motion_errors/motion_samples.h"

#include "plush/world.h"

#include "bench/reference_motion.h"

#include <cmath>
#include <cstdio>
#include <fstream>

namespace plush::tests {
namespace {

using reference::Points;
using reference::Trajectory;

constexpr Eigen::Index kNodes = 64;
constexpr size_t kEvery = 11;
constexpr double kUnit = 1.0e-6;  // [m]

Points SampledNodes(const Trajectory::Positions& all) {
  Points out(3, kNodes);
  for (Eigen::Index i = 0; i < kNodes; ++i) {
    out.col(i) = all.col(i * all.cols() / kNodes).cast<double>();
  }
  return out;
}

}  // namespace

std::string KeyOf(const bench::SwingingArm& body, float dt) {
  char start[96];
  std::snprintf(start, sizeof(start), "asset %016llx dt %g gravity %g pins",
                static_cast<unsigned long long>(body.asset.content_hash()), double{dt},
                double{WorldDesc().gravity.y});
  std::string key = start;
  for (const uint32_t node : body.pinned) key += " " + std::to_string(node);
  return key;
}

Trajectory Sampled(const Trajectory& all) {
  Trajectory out(SampledNodes(all.rest));
  for (size_t k = kEvery - 1; k < all.num_steps(); k += kEvery) out.Add(SampledNodes(all.steps[k]));
  return out;
}

bool WriteSamples(const std::string& path, const std::string& key, const Trajectory& samples) {
  std::ofstream file(path);
  file << key << '\n';
  for (const Trajectory::Positions& x : samples.steps) {
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      file << (i > 0 ? " " : "") << std::llround(double{x.data()[i]} / kUnit);
    }
    file << '\n';
  }
  file.close();
  return !file.fail();
}

std::string ReadSamples(const std::string& path, const std::string& key, Trajectory* samples) {
  std::ifstream file(path);
  std::string found;
  if (!std::getline(file, found)) return "there is no " + path;
  if (found != key) return path + " is stale: it belongs to\n  " + found + "\nnot to\n  " + key;
  for (size_t k = 0; k < bench::kMotionSteps / kEvery; ++k) {
    Points x(3, samples->rest.cols());
    for (Eigen::Index i = 0; i < x.size(); ++i) file >> x.data()[i];
    samples->Add(x * kUnit);
  }
  return file.fail() ? path + " is cut off" : "";
}

}  // namespace plush::tests
