// SPDX-License-Identifier: MIT
#include "batch/done_bakes.h"

#include "base/files.h"
#include "base/text.h"
#include "batch/ninja_file.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace plush::tools {

namespace fs = std::filesystem;

DoneBakes::DoneBakes(const std::string& output_tree)
    : output_tree_(output_tree), folder_(output_tree + "/" + kBatchFolder + "/.done") {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
  ::setenv(kDoneVariable, folder_.c_str(), 1);
}

DoneBakes::~DoneBakes() {
  ::unsetenv(kDoneVariable);
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void DoneBakes::Add(const BatchAsset& asset, std::span<const std::string> sources, bool is_new) {
  std::string script = "printf '%s\\n'";
  for (const std::string& source : sources) {
    script += " " + ShellWord(std::string(kSourceLine) + " " + source);
  }
  // Ninja compares the times of outputs with those before the script. If they are the same, it
  // notes the time of the newest input that it has known before, and these sources may be newer.
  const std::string files = ShellWord(asset.output) + " " + ShellWord(ReportPath(asset.output));
  script += is_new ? "\nexec touch -c " + files + "\n" : "\n";
  Write(asset, script);
  sources_[asset.output].assign(sources.begin(), sources.end());
}

void DoneBakes::AddFailed(const BatchAsset& asset, const std::string& text, int exit_code) {
  Write(asset,
        "printf '%s\\n' " + ShellWord(text) + "\n(exit " + std::to_string(exit_code) + ")\n");
}

void DoneBakes::ForgetChanged(const struct timespec& start) const {
  std::error_code ignored;
  for (const auto& [output, sources] : sources_) {
    if (AnyChangedSince(start, sources))
      fs::remove(output_tree_ + "/" + ReportPath(output), ignored);
  }
}

void DoneBakes::Write(const BatchAsset& asset, const std::string& script) {
  const std::string path = folder_ + "/" + asset.output;
  std::error_code ignored;
  fs::create_directories(fs::path(path).parent_path(), ignored);
  std::ofstream file(path, std::ios::binary);
  file << script;
  file.close();
  // Half a script would hide sources from Ninja.
  if (!file) fs::remove(path, ignored);
}

}  // namespace plush::tools
