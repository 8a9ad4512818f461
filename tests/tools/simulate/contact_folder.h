// SPDX-License-Identifier: MIT
// The scenes of samples/scenes/contact, baked with cages of fewer tets than in run.sh: the scenes
// are the same.
#pragma once

#include "simulate/scene.h"
#include "tools/procedural_meshes.h"

#include <string>

namespace plush::tests {

class ContactFolder {
 public:
  ContactFolder();

  const std::string& path() const { return folder_.path(); }
  tools::Scene Load(const std::string& name) const;

 private:
  TemporaryFolder folder_;
};

}  // namespace plush::tests
