// SPDX-License-Identifier: MIT
// The models of the benchmarks, and the list of cases.
#pragma once

#include "plush/asset.h"

#include "bake/bake.h"
#include "base/result.h"
#include "import/import.h"

#include <string>

namespace plush::bench {

class CurveFolder;      ///< motion_curves.h
class ReferenceFolder;  ///< reference_motion.h

/// The folder that --models names.
class ModelFolder {
 public:
  explicit ModelFolder(std::string path) : path_(std::move(path)) {}

  /// Path of a model. If it is absent: "", and stderr says that `case_name` is skipped.
  std::string Find(const std::string& file, const std::string& case_name) const;

 private:
  std::string path_;
};

/// Imports a model or ends the program with the reason.
tools::ImportedModel ImportOrExit(const std::string& path, double scale = 1.0);

/// The render surface as the bake sees it: positions rounded as files store them.
tools::SurfaceMesh RoundedToFloat(const tools::ImportedModel& model);

/// Bakes a model or ends the program with the reason.
std::vector<std::byte> BakeOrExit(const tools::ImportedModel& model,
                                  const tools::BakeSettings& settings = {});

/// A baked file in memory, aligned for Asset::Open.
class AlignedBytes {
 public:
  explicit AlignedBytes(std::span<const std::byte> bytes);
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> storage_;
  std::span<const std::byte> bytes_;
};

// Each registers its cases, named group/case, except those without their model.
/// step/arm_4k .. 170k, step/bear_by_ear and others, crowd/, refactor/
void AddStepCases(const ModelFolder& models, const ReferenceFolder& trajectories,
                  const CurveFolder& curves);
/// step_implicit/arm_4k .. 55k, each also _converged, _jacobi_50, _exact; arm_4k_iterations_nu_...
void AddImplicitCases(const ModelFolder& models, const ReferenceFolder& references);
/// linear/arm_4k_products_warped, _hybrid, _exact, arm_4k_factors, and of arm_16k, arm_55k
void AddLinearCases(const ModelFolder& models);
void AddFrequencyCases();  ///< motion/cantilever_10_steps, motion/cantilever_20_steps
/// contact/bear, bear_x50, bear_attached_16, bear_constrained_1, _4, _16, each also implicit,
/// octopus, octopus_x50, arm_4k .. 55k
void AddContactCases(const ModelFolder& models);
/// heap/funnel_320, funnel_320_1500, frame, frame_1500, each with one and two threads; heap/box,
/// box_2_iterations, box_asleep
void AddHeapCases();
void AddHullCases();  ///< hull/make/8, make/256, point_inside, point_outside, triangle
/// peer/vbd
void AddDescentCases(const ModelFolder& models, const ReferenceFolder& trajectories);
void AddStateCases(const ModelFolder& models);  ///< state/save_arm_4k_x105, state/load_...
void AddCageCases(const ModelFolder& models);   ///< cage/armadillo_86k and other models
/// check/horse_97k, static_bake/100k, bake/armadillo_86k
void AddBakeCases(const ModelFolder& models);
void AddPartitionCases(const ModelFolder& models);  ///< partition/armadillo_86k and others
void AddOpenCases(const ModelFolder& models);  ///< open/100k, open_trusted/100k, spawn/400_tets
void AddRayCases(const ModelFolder& models);  ///< rays/deformed_100, rays/static_100k, and Embree's
/// intersection/two_bears, deep_pair, ablation, resolutions
void AddIntersectionCases(const ModelFolder& models);
void AddRotationCases();  ///< rotation/apd
void AddLimitCases();     ///< limits/multiply_add, limits/copy_256k and so on

}  // namespace plush::bench
