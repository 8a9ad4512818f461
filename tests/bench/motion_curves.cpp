// SPDX-License-Identifier: MIT
#include "bench/motion_curves.h"

#include "bench/reference_motion.h"

#include <Eigen/Dense>

#include <algorithm>
#include <cstdio>
#include <memory>

namespace plush::bench {

void CurveFolder::Write(const std::string& case_name, const SwingingArm& arm, float dt,
                        const reference::Trajectory& right, const reference::Trajectory& kug,
                        const reference::Trajectory& measured) const {
  if (path_.empty()) return;
  std::string name = case_name;
  std::replace(name.begin(), name.end(), '/', '_');
  const std::string path = path_ + "/" + name + ".csv";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "w"),
                                                             std::fclose);
  if (file == nullptr) {
    std::fprintf(stderr, "%s: cannot write %s\n", case_name.c_str(), path.c_str());
    return;
  }
  const Eigen::Vector3d pins = PinsOf(arm, right);
  Eigen::Index end = 0;
  (right.rest.cast<double>().colwise() - pins).colwise().norm().maxCoeff(&end);
  Eigen::Vector3d along = right.rest.col(end).cast<double>() - pins;
  along.y() = 0.0;
  along.normalize();
  std::fprintf(file.get(), "time_s");
  for (const char* solver : {"reference", "kug", "plush"}) {
    std::fprintf(file.get(), ",%s_along_m,%s_height_m", solver, solver);
  }
  for (size_t k = 0; k < right.num_steps(); ++k) {
    std::fprintf(file.get(), "\n%.4f", static_cast<double>(dt) * static_cast<double>(k + 1));
    for (const reference::Trajectory* trajectory : {&right, &kug, &measured}) {
      const Eigen::Vector3d way = trajectory->steps[k].col(end).cast<double>() - pins;
      std::fprintf(file.get(), ",%.6f,%.6f", along.dot(way), way.y());
    }
  }
  std::fprintf(file.get(), "\n");
}

}  // namespace plush::bench
