// SPDX-License-Identifier: MIT
// Bakes that were made before Ninja runs: taken from the cache, or made by a cluster. For each of
// them Ninja runs a script that only says what the bake would say. So Ninja's logs agree with the
// tree, whatever their format is.
#pragma once

#include "base/result.h"
#include "batch/manifest.h"
#include "batch/ninja_file.h"

#include <ctime>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace plush::tools {

class DoneBakes {
 public:
  /// Removes what a killed batch has left below `output_tree`. Call it under the lock.
  DoneBakes(const std::string& output_tree, const BatchTools& tools);
  ~DoneBakes();
  DoneBakes(const DoneBakes&) = delete;
  DoneBakes& operator=(const DoneBakes&) = delete;

  /// A bake that succeeded; output and report lie in the tree. `is_new`: the output has other bytes
  /// than before. If this cannot be noted, Ninja bakes the asset.
  void Add(const BatchAsset& asset, std::span<const std::string> sources, bool is_new);

  /// A bake that failed.
  void AddFailed(const BatchAsset& asset, const std::string& text, int exit_code);

  /// Removes the reports of those of which a source changed at `start` or later, so that Ninja
  /// bakes again: it holds for new what was written before its script ran.
  void ForgetChanged(const struct timespec& start) const;

 private:
  void Write(const BatchAsset& asset, const std::string& script);

  std::string output_tree_;
  std::string folder_;
  struct timespec newest_tool_ = {};
  std::map<std::string, std::vector<std::string>> sources_;  // by output
};

}  // namespace plush::tools
