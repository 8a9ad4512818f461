// SPDX-License-Identifier: MIT
#include "base/scratch_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace plush::tools {

Result<std::unique_ptr<ScratchFolder>> ScratchFolder::Create() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error) {
    return Error{ExitCode::kIo, "there is no folder for temporary files: " + error.message(), ""};
  }
  std::string path = (parent / "plush-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr) {
    return Error{ExitCode::kIo,
                 "cannot make a folder in '" + parent.string() + "': " + std::strerror(errno), ""};
  }
  return std::make_unique<ScratchFolder>(std::move(path));
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace plush::tools
