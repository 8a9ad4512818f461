// SPDX-License-Identifier: MIT
// A place for files that another program reads and writes.
#pragma once

#include "base/result.h"

#include <memory>
#include <string>

namespace plush::tools {

/// A fresh folder that only this user may enter, removed with all its content at the end of the
/// scope, however that is left.
class ScratchFolder {
 public:
  /// Makes one in the system's folder for temporary files (TMPDIR, else /tmp). Errors: kIo.
  static Result<std::unique_ptr<ScratchFolder>> Create();

  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace plush::tools
