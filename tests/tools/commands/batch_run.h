// SPDX-License-Identifier: MIT
// A folder of models with a manifest, and runs of `plush batch` on it.
#pragma once

#include "tools/procedural_meshes.h"
#include "tools/run_plush.h"

#include <string>
#include <vector>

namespace plush::tests {

/// A box of a material `skin`, which NAME.mtl describes.
std::string BoxText(const std::string& name);

/// Whether there is the program `ninja`; if not, skips the test.
bool HasNinja();

struct Batch {
  TemporaryFolder folder;
  std::string manifest = folder / "batch.json";

  /// Three boxes, of which the manifest makes one static.
  Batch();

  /// Writes a file below the folder.
  void Write(const std::string& name, const std::string& text) const;
  void WriteManifest(const std::string& text) const { Write("batch.json", text); }

  PlushRun Run(std::vector<std::string> more = {}, const std::string& prefix = "exec") const;

  /// Runs and expects `exit_code`; returns the states, "input:state" by the order of the report.
  std::string States(int exit_code, const std::vector<std::string>& more = {}) const;
};

}  // namespace plush::tests
