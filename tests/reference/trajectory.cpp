// SPDX-License-Identifier: MIT
// Compares trajectories, and keeps them in files.
// Source: none; the file is a header, then floats by step, node and axis in the machine's own
// order.
#include "reference/trajectory.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>

namespace plush::reference {
namespace {

constexpr uint64_t kMagic = 0x706c7573'68747231;  // changes with the layout

struct FileHeader {
  uint64_t magic, key, num_nodes, num_steps;
};

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

}  // namespace

double TrajectoryError(const Trajectory& measured, const Trajectory& right) {
  double distances = 0.0, displacements = 0.0;
  const size_t count = std::min(measured.num_steps(), right.num_steps());
  for (size_t k = 0; k < count; ++k) {
    distances += (measured.steps[k] - right.steps[k]).cast<double>().squaredNorm();
    displacements += (right.steps[k] - right.rest).cast<double>().squaredNorm();
  }
  return std::sqrt(distances / displacements);
}

size_t HalfSwingStep(const Trajectory& trajectory, const Eigen::Vector3d& direction) {
  size_t out = 0;
  double least = std::numeric_limits<double>::max();
  for (size_t k = 0; k < trajectory.num_steps(); ++k) {
    const Eigen::Vector3d mean = trajectory.steps[k].cast<double>().rowwise().mean();
    const double along = direction.dot(mean);
    if (along < least) {
      least = along;
      out = k;
    }
  }
  return out;
}

double LowestY(const Trajectory& trajectory) {
  double lowest = std::numeric_limits<double>::max();
  for (const auto& x : trajectory.steps) {
    lowest = std::min(lowest, static_cast<double>(x.row(1).minCoeff()));
  }
  return lowest;
}

bool WriteTrajectory(const std::string& path, uint64_t key, const Trajectory& trajectory) {
  const std::string unfinished = path + ".part";
  {
    const File file(std::fopen(unfinished.c_str(), "wb"), std::fclose);
    if (file == nullptr) return false;
    const FileHeader header = {kMagic, key, static_cast<uint64_t>(trajectory.rest.cols()),
                               trajectory.num_steps()};
    if (std::fwrite(&header, sizeof(header), 1, file.get()) != 1) return false;
    for (const auto& x : trajectory.steps) {
      const size_t count = static_cast<size_t>(x.size());
      if (std::fwrite(x.data(), sizeof(float), count, file.get()) != count) return false;
    }
    if (std::fflush(file.get()) != 0) return false;
  }
  return std::rename(unfinished.c_str(), path.c_str()) == 0;
}

bool ReadTrajectory(const std::string& path, uint64_t key, Trajectory* trajectory) {
  const File file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (file == nullptr) return false;
  FileHeader header;
  if (std::fread(&header, sizeof(header), 1, file.get()) != 1) return false;
  const Eigen::Index num_nodes = trajectory->rest.cols();
  if (header.magic != kMagic || header.key != key ||
      header.num_nodes != static_cast<uint64_t>(num_nodes)) {
    return false;
  }
  std::vector<Trajectory::Positions> steps;
  for (uint64_t k = 0; k < header.num_steps; ++k) {
    Trajectory::Positions x(3, num_nodes);
    const size_t count = static_cast<size_t>(x.size());
    if (std::fread(x.data(), sizeof(float), count, file.get()) != count) return false;
    steps.push_back(std::move(x));
  }
  trajectory->steps = std::move(steps);
  return true;
}

}  // namespace plush::reference
