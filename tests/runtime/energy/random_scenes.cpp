// SPDX-License-Identifier: MIT
#include "runtime/energy/random_scenes.h"

#include "rest/clusters.h"
#include "runtime/collision/surface_fixtures.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace plush::test {
namespace {

constexpr double kPi = 3.14159265358979;

double Log(Random* random, double low, double high) {
  return std::exp(random->Uniform(std::log(low), std::log(high)));
}

bool Chance(Random* random, double share) { return random->Uniform(0.0, 1.0) < share; }

// A chain of tets that share faces, the helix of Boerdijk and Coxeter.
tools::TetMesh Chain(uint32_t num_tets) {
  std::vector<Eigen::Vector3d> x = {
      {0, 0, 0}, {1, 0, 0}, {0.5, 0.8660254, 0}, {0.5, 0.2886751, 0.8164966}};
  for (uint32_t t = 1; t < num_tets; ++t) {
    const size_t n = x.size();
    x.push_back((x[n - 1] + x[n - 2] + x[n - 3]) * (2.0 / 3.0) - x[n - 4]);
  }
  tools::TetMesh mesh;
  for (const Eigen::Vector3d& p : x) mesh.nodes.push_back({p.x(), p.y(), p.z()});
  for (uint32_t t = 0; t < num_tets; ++t) mesh.tets.push_back({t, t + 1, t + 2, t + 3});
  return mesh;
}

// A ball of diameter 2: the cubes' shells become spheres.
tools::TetMesh Ball(uint32_t cells, uint32_t seed) {
  tools::TetMesh mesh = TetBox(cells, cells, cells, 2.0 / cells, 0.05, seed);
  for (tools::Vec3d& node : mesh.nodes) {
    const Eigen::Vector3d p(node.x - 1.0, node.y - 1.0, node.z - 1.0);
    const double length = p.norm();
    const Eigen::Vector3d q = length > 1e-9 ? (p * (p.cwiseAbs().maxCoeff() / length)).eval() : p;
    node = {q.x(), q.y(), q.z()};
  }
  return mesh;
}

constexpr std::array<const char*, 7> kShapes = {"tet",  "sliver", "chain", "ball",
                                                "beam", "sheet",  "block"};

// A component of about unit size; its name goes to `name`.
tools::TetMesh RandomComponent(Random* random, bool is_small, std::string* name) {
  const uint32_t kind = random->Below(is_small ? 3 : static_cast<uint32_t>(kShapes.size()));
  const uint32_t seed = random->Below(1000);
  *name += std::string(name->empty() ? "" : "+") + kShapes[kind];
  tools::TetMesh mesh;
  double thin = 1.0;
  if (kind == 0) {
    mesh = SingleTet();
  } else if (kind == 1) {
    mesh = Chance(random, 0.5) ? SingleTet() : Chain(1 + random->Below(4));
    thin = Log(random, 0.01, 0.2);
  } else if (kind == 2) {
    const uint32_t count = 2 + random->Below(is_small ? 5 : 60);
    mesh = Chain(count);
  } else if (kind == 3) {
    mesh = Ball(2 + random->Below(4), seed);
  } else if (kind == 4) {
    mesh =
        TetBox(5 + random->Below(20), 1 + random->Below(2), 1 + random->Below(2), 1.0, 0.09, seed);
  } else if (kind == 5) {
    mesh = TetBox(4 + random->Below(7), 1, 4 + random->Below(7), 1.0, 0.09, seed);
    thin = Log(random, 0.03, 1.0);
  } else {
    mesh =
        TetBox(2 + random->Below(3), 2 + random->Below(3), 2 + random->Below(3), 1.0, 0.09, seed);
  }
  Eigen::Matrix3d shear = Eigen::Matrix3d::Identity();
  if (Chance(random, 0.3)) shear += random->Matrix(0.25);
  Eigen::Vector3d scale(1.0, thin, 1.0);
  Eigen::Vector3d low = Eigen::Vector3d::Constant(1e30), high = -low;
  for (tools::Vec3d& node : mesh.nodes) {
    const Eigen::Vector3d p = shear * scale.asDiagonal() * Eigen::Vector3d(node.x, node.y, node.z);
    node = {p.x(), p.y(), p.z()};
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  const double size = 1.0 / (high - low).maxCoeff();
  for (tools::Vec3d& node : mesh.nodes) {
    node = {size * (node.x - low.x()), size * (node.y - low.y()), size * (node.z - low.z())};
  }
  for (std::array<uint32_t, 4>& tet : mesh.tets) {
    if (tools::SixVolume(mesh.nodes[tet[0]], mesh.nodes[tet[1]], mesh.nodes[tet[2]],
                         mesh.nodes[tet[3]]) < 0.0) {
      std::swap(tet[2], tet[3]);
    }
  }
  return mesh;
}

// Makes the materials of thin or small tets so soft that E dt^2 / (density l^2), l the least
// height, is at most `most`, or PLUSH_GRID_STIFFNESS.
void LimitStiffness(double most, RandomScene* s) {
  const char* limit = std::getenv("PLUSH_GRID_STIFFNESS");
  if (limit != nullptr) most = std::atof(limit);
  const double dt = std::max(s->dt, s->later_dt);
  for (size_t t = 0; t < s->mesh.tets.size(); ++t) {
    const std::array<uint32_t, 4>& ids = s->mesh.tets[t];
    const tools::Vec3d& o = s->mesh.nodes[ids[0]];
    Eigen::Matrix3d D;
    for (int k = 0; k < 3; ++k) {
      const tools::Vec3d& p = s->mesh.nodes[ids[static_cast<size_t>(k) + 1]];
      D.col(k) = Eigen::Vector3d(p.x - o.x, p.y - o.y, p.z - o.z);
    }
    const double l = s->scale / D.inverse().rowwise().norm().maxCoeff();
    tools::Material& m = s->materials[s->of_tets[t]];
    m.young = std::clamp(most * m.density * l * l / (dt * dt), 1.0, m.young);
  }
}

// Takes away what tears a body apart. The body keeps its spin as far as its softest material can
// carry the strain density (omega r)^2 / E. Returns false if its tets are too small for its time
// step.
bool MakeMild(double size, RandomScene* s) {
  constexpr double kMostStrain = 0.1, kMostTurn = 0.2;  // [rad per step]
  s->storm = s->bend = s->twist = s->noise = 0.0;
  s->squeeze = 1.0;
  double most = kMostTurn / std::max(s->dt, s->later_dt);  // [rad/s]
  for (const tools::Material& m : s->materials) {
    most = std::min(most, std::sqrt(kMostStrain * m.young / m.density) / (1.5 * size * s->scale));
  }
  s->spin = std::min(s->spin, most * s->dt);
  if (s->pins != RandomScene::Pins::kNone) {  // not torn off its pins
    s->throw_ = 0.0;
    s->spin = std::min(s->spin, 0.01);
  }
  return std::ranges::all_of(s->materials, [](const auto& m) { return m.young >= 1.0e3; });
}

}  // namespace

std::string Describe(const RandomScene& s) {
  char text[600];
  double low = 1e30, high = 0, soft = 1e30, stiff = 0, least_nu = 1, most_nu = 0;
  for (const tools::Material& m : s.materials) {
    low = std::min(low, m.density);
    high = std::max(high, m.density);
    soft = std::min(soft, m.young);
    stiff = std::max(stiff, m.young);
    least_nu = std::min(least_nu, m.poisson);
    most_nu = std::max(most_nu, m.poisson);
  }
  std::snprintf(text, sizeof text,
                "seed %u: %s, %zu tets, %d clusters, E %.1e..%.1e, nu %.3f..%.3f, density "
                "%.0f..%.0f, damping %.3f, scale %.2f, dt %.4f (%.4f from %d of %d), pins %d%s, "
                "gravity %.2f, spin %.2f, throw %.2f, storm %.2f, bend %.2f, twist %.2f, squeeze "
                "%.2f, noise %.2f, bodies %d, planes %d with friction %.2f, ground %d%s",
                s.seed, s.shape.c_str(), s.mesh.tets.size(),
                s.clusters ? static_cast<int>(*s.clusters) : -1, soft, stiff, least_nu, most_nu,
                low, high, s.damping, s.scale, s.dt, s.later_dt, s.change, s.steps,
                static_cast<int>(s.pins), s.moves_pins ? " moved" : "", s.gravity.norm(), s.spin,
                s.throw_, s.storm, s.bend, s.twist, s.squeeze, s.noise, s.bodies, s.planes,
                s.friction, static_cast<int>(s.ground), s.has_surface ? " with a surface" : "");
  return text;
}

RandomScene MakeScene(uint32_t seed, SceneKind kind_of_scene, double most_stiffness) {
  const bool on_ground = kind_of_scene == SceneKind::kGround;
  const bool on_planes = kind_of_scene == SceneKind::kPlanes;
  Random random(seed);
  RandomScene s = {.seed = seed};
  const uint32_t num_components = Chance(&random, 0.5) ? 1 : 2 + random.Below(9);
  const double size = Log(&random, 0.03, 3.0);
  const bool mixed = Chance(&random, 0.5);
  const auto material = [&] {
    tools::Material m = {.young = Log(&random, 1.0e3, 1.0e9)};
    const uint32_t kind = random.Below(10);
    m.poisson = kind == 0 ? 0.0 : kind == 1 ? 0.499 : kind == 2 ? 0.49 : random.Uniform(0.0, 0.49);
    m.density =
        kind_of_scene != SceneKind::kWild ? Log(&random, 100.0, 1.0e4) : Log(&random, 1.0, 2.0e4);
    return m;
  };
  s.materials.push_back(material());
  for (uint32_t c = 0; c < num_components; ++c) {
    const bool is_small = c > 0 && Chance(&random, 0.6);
    const tools::TetMesh part = RandomComponent(&random, is_small, &s.shape);
    // Small ones: down to a hundredth in size, a millionth in mass.
    const double ratio = c == 0 ? 1.0 : is_small ? Log(&random, 0.01, 0.3) : Log(&random, 0.1, 1.0);
    const Eigen::Vector3d at = c == 0 ? Eigen::Vector3d(0, 0, 0) : random.Vector(1.5);
    const uint32_t first = static_cast<uint32_t>(s.mesh.nodes.size());
    for (const tools::Vec3d& node : part.nodes) {
      s.mesh.nodes.push_back({size * (at.x() + ratio * node.x), size * (at.y() + ratio * node.y),
                              size * (at.z() + ratio * node.z)});
    }
    if (c > 0 && mixed) s.materials.push_back(material());
    for (std::array<uint32_t, 4> tet : part.tets) {
      for (uint32_t& node : tet) node += first;
      s.mesh.tets.push_back(tet);
      s.of_tets.push_back(static_cast<uint16_t>(s.materials.size() - 1));
    }
  }
  if (Chance(&random, 0.4)) s.damping = Chance(&random, 0.1) ? 1.0 : Log(&random, 1.0e-3, 1.0);
  if (Chance(&random, 0.6)) s.clusters = 1 + random.Below(32);
  if (Chance(&random, 0.2)) s.scale = Log(&random, 0.1, 10.0);
  constexpr double kSteps[] = {0.001, 1.0 / 300, 1.0 / 120, 0.01, 1.0 / 60, 0.033};
  s.dt = kSteps[random.Below(6)];
  s.later_dt = s.dt;
  s.steps = 100 + static_cast<int>(random.Below(3)) * 50;
  if (Chance(&random, 0.25)) {
    s.later_dt = kSteps[random.Below(6)];
    s.change = 10 + static_cast<int>(random.Below(50));
  }
  if (Chance(&random, on_planes || on_ground ? 0.1 : 0.4)) {
    s.pins = static_cast<RandomScene::Pins>(1 + random.Below(3));
    s.moves_pins = Chance(&random, 0.25);
  }
  const double duration = s.steps * std::max(s.dt, s.later_dt);
  if (on_planes) {
    s.planes = 1 + static_cast<int>(random.Below(3));
    s.friction = s.planes == 1 ? 0.5 : s.planes == 2 ? 0.0 : 0.6;
    s.gravity = {0.0, -9.81, 0.0};
    Random more(seed + 55555u);  // what came later, so that the rest of a seed's scene stays
    if (Chance(&more, 0.25)) s.planes = 4;
    if (Chance(&more, 0.6)) s.friction = more.Uniform(0.0, 2.0);
    s.has_surface = Chance(&more, 0.5);
  } else if (on_ground) {
    s.ground = static_cast<RandomScene::Ground>(1 + random.Below(4));
    s.has_surface = Chance(&random, 0.5);
    s.gravity = {0.0, -9.81, 0.0};
  } else if (Chance(&random, 0.6)) {
    // Floats are too coarse far from the origin: free bodies fall at most some metres.
    const double most = s.pins == RandomScene::Pins::kNone ? 4.0 / (duration * duration) : 9.81;
    s.gravity = random.Direction() * std::min(9.81, most);
  }
  if (Chance(&random, 0.6)) {
    s.spin = Chance(&random, 0.3) ? random.Uniform(0.0, 2.0) : Log(&random, 1.0e-3, 1.0);
  }
  if (Chance(&random, 0.4)) s.throw_ = random.Uniform(0.0, 3.0) / duration;
  if (Chance(&random, 0.25)) s.storm = Log(&random, 1.0e-4, 0.5);
  if (Chance(&random, 0.25)) s.bend = random.Uniform(-kPi, kPi);
  if (Chance(&random, 0.25)) s.twist = random.Uniform(-2.0 * kPi, 2.0 * kPi);
  if (Chance(&random, 0.25)) s.squeeze = Log(&random, 0.2, 3.0);
  if (Chance(&random, 0.15)) s.noise = Log(&random, 1.0e-3, 0.1);
  if (s.pins == RandomScene::Pins::kNone && s.spin + s.throw_ + s.storm == 0.0 && s.bend == 0.0 &&
      s.twist == 0.0 && s.squeeze == 1.0 && s.noise == 0.0) {
    s.spin = 0.3;
  }
  LimitStiffness(most_stiffness, &s);
  if (kind_of_scene != SceneKind::kWild && !MakeMild(size, &s)) {
    s = MakeScene(seed + 1000000u, kind_of_scene, most_stiffness);
    s.seed = seed;
    return s;
  }
  if (!on_ground && Chance(&random, 0.15)) {
    s.bodies = 7;
    s.damping = 0.0;
    s.moves_pins = false;
  }
  return s;
}

std::vector<std::byte> BytesOf(const RandomScene& scene, uint32_t parts) {
  tools::AssetContent content =
      MixedContentOf(scene.mesh, scene.materials, scene.of_tets, scene.damping, scene.dt);
  content.rest.clusters = tools::MakeClusters(
      content.rest.nodes, tools::NodesOfTets(content.rest.tets), scene.clusters);
  if (scene.has_surface) AddSurface({.parts = parts, .depth = 0.0, .num_shells = 0}, &content);
  auto bytes = tools::WriteAsset(content);
  if (!bytes.ok()) FAIL(bytes.error().message);
  return std::move(bytes.value());
}

std::vector<uint32_t> PinsOf(const RandomScene& scene, Random* random, const Points& rest) {
  std::vector<uint32_t> pins;
  const uint32_t n = static_cast<uint32_t>(rest.cols());
  if (scene.pins == RandomScene::Pins::kNode) {
    pins.push_back(random->Below(n));
  } else if (scene.pins == RandomScene::Pins::kRandom) {
    pins = random->Nodes(n, random->Uniform(0.02, 0.5));
  } else if (scene.pins == RandomScene::Pins::kFace) {
    const double low = rest.row(0).minCoeff(), width = rest.row(0).maxCoeff() - low;
    for (uint32_t i = 0; i < n; ++i) {
      if (rest(0, i) <= low + 0.1 * width) pins.push_back(i);
    }
  }
  if (pins.size() == n) pins.pop_back();
  return pins;
}

Points StartOf(const RandomScene& scene, Random* random, const Points& rest) {
  const Eigen::Vector3d low = rest.rowwise().minCoeff(), high = rest.rowwise().maxCoeff();
  Eigen::Index axis = 0;
  const double length = (high - low).maxCoeff(&axis);
  const Eigen::Index a = (axis + 1) % 3, b = (axis + 2) % 3;
  const Eigen::Vector3d middle = 0.5 * (low + high);
  Points x = rest.colwise() - middle;
  for (Eigen::Index i = 0; i < x.cols(); ++i) {
    Eigen::Vector3d p = x.col(i);
    p[axis] *= scene.squeeze;
    const double turn = scene.twist * p[axis] / length;
    const double pa = std::cos(turn) * p[a] - std::sin(turn) * p[b];
    p[b] = std::sin(turn) * p[a] + std::cos(turn) * p[b];
    p[a] = pa;
    if (scene.bend != 0.0) {
      const double radius = length / scene.bend, angle = p[axis] / radius, r = radius - p[a];
      p[axis] = r * std::sin(angle);
      p[a] = radius - r * std::cos(angle);
    }
    x.col(i) = p + random->Vector(scene.noise * length);
  }
  return random->Rotation() * x;
}

}  // namespace plush::test
