// SPDX-License-Identifier: MIT
// Writes bear.glb, duck.glb and octopus.glb, the sample models, to a directory.

#include "base/files.h"
#include "model.h"

#include <cstdio>
#include <string>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: plush_model_maker DIRECTORY\n");
    return 1;
  }
  using namespace plush::samples;
  for (const Model& model : {Bear(), Duck(), Octopus()}) {
    const ModelMesh mesh = MakeModelMesh(model);
    const std::string path = std::string(argv[1]) + "/" + model.name + ".glb";
    const auto written = plush::tools::WriteFileAtomically(path, WriteGlb(model, mesh));
    if (!written.ok()) {
      std::fprintf(stderr, "%s\n", written.error().message.c_str());
      return 2;
    }
    std::printf("%s: %zu triangles\n", path.c_str(), mesh.surface.triangles.size());
  }
  return 0;
}
