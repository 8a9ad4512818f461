// SPDX-License-Identifier: MIT
#include "cage/tetgen_mesher.h"

#include "base/float_rounding.h"
#include "cage/conforming_checks.h"

#include <utility>

namespace plush::tools {
namespace {

Result<TetMesh> FillSurface(const SolidSurface& surface, const InsideTest& inside,
                            const TetGenSettings& settings, FindingList* findings) {
  if (auto done = CheckFillable(surface, findings); !done.ok()) return done.error();
  Result<TetSource> source = RunTetGen(surface, settings);
  if (!source.ok()) return source.error();
  // Slivers may go by rounding: the volume tells whether more than that is wrong.
  DropTetsFlatInFloat(&source.value());
  TetMesh mesh = std::move(source.value().mesh);
  for (Vec3d& node : mesh.nodes) node = RoundToFloat(node);
  if (auto done = KeepSolid(surface, inside, &mesh); !done.ok()) return done.error();
  return mesh;
}

}  // namespace

Result<TetMesh> MeshWithTetGen(const SolidSurface& surface, const InsideTest& inside,
                               const TetGenSettings& settings, FindingList* findings) {
  Result<TetMesh> mesh = FillSurface(surface, inside, settings, findings);
  if (!mesh.ok()) {
    const Error& error = mesh.error();
    if (!error.finding_code.empty() && !findings->Has(error.finding_code)) {
      findings->Add(error.finding_code, 1, error.message);
    }
  }
  return mesh;
}

}  // namespace plush::tools
