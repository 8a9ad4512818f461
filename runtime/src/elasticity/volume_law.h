// SPDX-License-Identifier: MIT
// The volume term of one tet: energy lambda/2 C^2 with C = det F - 1, and pressure lambda C, up to
// a bound of the pressure. Beyond it the energy is linear in C.
//
// A solve with the constant matrix A [Kug] lowers the stretch energy wherever the nodes are. The
// volume term's stiffness is not in A, and grows with the pressure. So iterations diverge in tets
// that are stretched to several times their volume, unless the pressure stays about mu. In
// compression, a bound as low would let contacts press the volume out of a body.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace plush {

/// Most of lambda / mu that steps without volume sweeps follow: that of Poisson's ratio 0.47.
inline constexpr float kMostBulk = 16.0f;

/// Limits of the volume term, in units of mu.
struct VolumeLaw {
  static constexpr float kUnlimited = std::numeric_limits<float>::max();  // times 0 it is 0

  float most_bulk = kUnlimited;  ///< of lambda
  float most_pull = 1.0f;        ///< of the pressure where det F > 1
  float most_push = 8.0f;        ///< of the pressure where det F < 1
};
/// Of the default solver, and of [Kug]'s own steps and materials of papers.
inline constexpr VolumeLaw kSplittingLaw = {.most_bulk = kMostBulk};
inline constexpr VolumeLaw kUnboundedLaw = {.most_pull = VolumeLaw::kUnlimited,
                                            .most_push = VolumeLaw::kUnlimited};

/// lambda V [J] as the law takes it, for 2 mu V = `stiffness` and lambda V = `bulk` [J].
template <class Real>
Real LimitedBulk(const VolumeLaw& law, Real stiffness, Real bulk) {
  return std::fmin(bulk, Real(0.5) * stiffness * Real(law.most_bulk));
}

/// V times the pressure at det F = 1 + `change` [J]: the energy's derivative with respect to det F.
template <class Real>
Real VolumePressure(const VolumeLaw& law, Real stiffness, Real bulk, Real change) {
  const Real half = Real(0.5) * stiffness;
  return std::clamp(LimitedBulk(law, stiffness, bulk) * change, -half * Real(law.most_push),
                    half * Real(law.most_pull));
}

/// The energy there [J].
template <class Real>
Real VolumeEnergy(const VolumeLaw& law, Real stiffness, Real bulk, Real change) {
  const Real limited = LimitedBulk(law, stiffness, bulk);
  const Real pressure = VolumePressure(law, stiffness, bulk, change);
  return limited > 0 ? pressure * (change - Real(0.5) * pressure / limited) : Real(0);
}

}  // namespace plush
