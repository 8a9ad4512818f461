// SPDX-License-Identifier: MIT
// Procedural bodies of any shape, mass ratio, material and time step: counts those that end without
// finite positions, and those that gain energy, the reference's in double precision, which
// converged implicit Euler only loses.
//
// - PLUSH_TEST_FULL=1 takes 4000 bodies in flight instead of 200, and 2000 on planes instead of
// 100.
// - PLUSH_GRID_STIFFNESS=N limits E dt^2 / (density height^2) of tets to N instead of 1e4.
// - PLUSH_GRID_SEED=N takes the body of that seed alone and prints its steps.
#include "reference/elastic_body.h"
#include "rest/clusters.h"
#include "runtime/tet_fixtures.h"
#include "skip.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace {

constexpr double kPi = 3.14159265358979;

// Of the bodies. Sanitizers make steps many times as long.
#ifdef __SANITIZE_ADDRESS__
constexpr int kShare = 10;
#else
constexpr int kShare = 1;
#endif

// Energy that a body may gain, of the largest kinetic and elastic energy so far.
constexpr double kMostGain = 0.01;

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

// A body, how it starts and what happens to it.
struct Scene {
  uint32_t seed = 0;
  tools::TetMesh mesh;
  std::vector<tools::Material> materials;
  std::vector<uint16_t> of_tets;
  double damping = 0.0;
  std::optional<uint32_t> clusters;  // nullopt: by size
  double scale = 1.0;
  double dt = 0.01, later_dt = 0.01;
  int steps = 100, change = 1000;  // the step from which `later_dt` is used
  Eigen::Vector3d gravity = {0, 0, 0};
  int bodies = 1;  // more: a crowd
  enum class Pins { kNone, kNode, kFace, kRandom } pins = Pins::kNone;
  bool moves_pins = false;
  double spin = 0.0;    // [rad per step]
  double throw_ = 0.0;  // [m/s]
  double storm = 0.0;   // of the nodes [sizes per step]
  double bend = 0.0, twist = 0.0, squeeze = 1.0, noise = 0.0;
  int planes = 0;
  std::string shape;
};

std::string Describe(const Scene& s) {
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
                "%.2f, noise %.2f, bodies %d, planes %d",
                s.seed, s.shape.c_str(), s.mesh.tets.size(),
                s.clusters ? static_cast<int>(*s.clusters) : -1, soft, stiff, least_nu, most_nu,
                low, high, s.damping, s.scale, s.dt, s.later_dt, s.change, s.steps,
                static_cast<int>(s.pins), s.moves_pins ? " moved" : "", s.gravity.norm(), s.spin,
                s.throw_, s.storm, s.bend, s.twist, s.squeeze, s.noise, s.bodies, s.planes);
  return text;
}

// In float, the rounding of a tet's forces moves its nodes by about 1e-7 E dt^2 / (density l^2) of
// the distance from the body's origin, where l is its least height. Beyond this limit of the
// ratio, components without pins drift apart by rounding, with clusters and without.
constexpr double kMostStiffness = 1.0e4;

// Makes the materials of thin or small tets as soft as kMostStiffness asks for, or
// PLUSH_GRID_STIFFNESS.
void LimitStiffness(Scene* s) {
  const char* limit = std::getenv("PLUSH_GRID_STIFFNESS");
  const double most = limit != nullptr ? std::atof(limit) : kMostStiffness;
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
bool MakeMild(double size, Scene* s) {
  constexpr double kMostStrain = 0.1, kMostTurn = 0.2;  // [rad per step]
  s->storm = s->bend = s->twist = s->noise = 0.0;
  s->squeeze = 1.0;
  double most = kMostTurn / std::max(s->dt, s->later_dt);  // [rad/s]
  for (const tools::Material& m : s->materials) {
    most = std::min(most, std::sqrt(kMostStrain * m.young / m.density) / (1.5 * size * s->scale));
  }
  s->spin = std::min(s->spin, most * s->dt);
  if (s->pins != Scene::Pins::kNone) {  // not torn off its pins
    s->throw_ = 0.0;
    s->spin = std::min(s->spin, 0.01);
  }
  return std::ranges::all_of(s->materials, [](const auto& m) { return m.young >= 1.0e3; });
}

// What a scene may hold.
enum class Kind {
  kMild,    // what games have: bodies start in their rest shape and do not tear themselves apart
  kWild,    // any velocities of the nodes, any bent, twisted, squeezed or shaken shape
  kPlanes,  // mild ones on a floor or in a V
};

Scene MakeScene(uint32_t seed, Kind kind_of_scene) {
  const bool on_planes = kind_of_scene == Kind::kPlanes;
  Random random(seed);
  Scene s;
  s.seed = seed;
  const uint32_t num_components = Chance(&random, 0.5) ? 1 : 2 + random.Below(9);
  const double size = Log(&random, 0.03, 3.0);
  const bool mixed = Chance(&random, 0.5);
  const auto material = [&] {
    tools::Material m;
    m.young = Log(&random, 1.0e3, 1.0e9);
    const uint32_t kind = random.Below(10);
    m.poisson = kind == 0 ? 0.0 : kind == 1 ? 0.499 : kind == 2 ? 0.49 : random.Uniform(0.0, 0.49);
    m.density =
        kind_of_scene != Kind::kWild ? Log(&random, 100.0, 1.0e4) : Log(&random, 1.0, 2.0e4);
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
  if (Chance(&random, on_planes ? 0.1 : 0.4)) {
    s.pins = static_cast<Scene::Pins>(1 + random.Below(3));
    s.moves_pins = Chance(&random, 0.25);
  }
  const double duration = s.steps * std::max(s.dt, s.later_dt);
  if (on_planes) {
    s.planes = 1 + static_cast<int>(random.Below(3));
    s.gravity = {0.0, -9.81, 0.0};
  } else if (Chance(&random, 0.6)) {
    // Floats are too coarse far from the origin: free bodies fall at most some metres.
    const double most = s.pins == Scene::Pins::kNone ? 4.0 / (duration * duration) : 9.81;
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
  if (s.pins == Scene::Pins::kNone && s.spin + s.throw_ + s.storm == 0.0 && s.bend == 0.0 &&
      s.twist == 0.0 && s.squeeze == 1.0 && s.noise == 0.0) {
    s.spin = 0.3;
  }
  LimitStiffness(&s);
  if (kind_of_scene != Kind::kWild && !MakeMild(size, &s)) {
    s = MakeScene(seed + 1000000u, kind_of_scene);
    s.seed = seed;
    return s;
  }
  if (Chance(&random, 0.15)) {
    s.bodies = 7;
    s.damping = 0.0;
    s.moves_pins = false;
  }
  return s;
}

std::vector<std::byte> BytesOf(const Scene& scene) {
  tools::AssetContent content =
      MixedContentOf(scene.mesh, scene.materials, scene.of_tets, scene.damping, scene.dt);
  content.rest.clusters = tools::MakeClusters(
      content.rest.nodes, tools::NodesOfTets(content.rest.tets), scene.clusters);
  auto bytes = tools::WriteAsset(content);
  if (!bytes.ok()) FAIL(bytes.error().message);
  return std::move(bytes.value());
}

std::vector<uint32_t> PinsOf(const Scene& scene, Random* random, const Points& rest) {
  std::vector<uint32_t> pins;
  const uint32_t n = static_cast<uint32_t>(rest.cols());
  if (scene.pins == Scene::Pins::kNode) {
    pins.push_back(random->Below(n));
  } else if (scene.pins == Scene::Pins::kRandom) {
    pins = random->Nodes(n, random->Uniform(0.02, 0.5));
  } else if (scene.pins == Scene::Pins::kFace) {
    const double low = rest.row(0).minCoeff(), width = rest.row(0).maxCoeff() - low;
    for (uint32_t i = 0; i < n; ++i) {
      if (rest(0, i) <= low + 0.1 * width) pins.push_back(i);
    }
  }
  if (pins.size() == n) pins.pop_back();
  return pins;
}

// The rest shape bent, twisted, squeezed and shaken, about the origin.
Points StartOf(const Scene& scene, Random* random, const Points& rest) {
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

struct Result {
  double gain = 0.0;  // largest rise above the start / largest kinetic and elastic energy
  double joules = 0.0;
  int step = 0;
  double seconds = 0.0;
  bool finite = true;
};

// Energies of one body.
class Meter {
 public:
  Meter(const Asset& asset, const Scene& scene) : body_(asset), scene_(scene) {
    for (const reference::ElasticTet& tet : body_.tets) {
      noise_ += (tet.stiffness + tet.bulk) * tet.gradients.squaredNorm();
    }
  }

  // Kinetic energy, without that of the centre if nothing is pinned.
  void Measure(const World& world, BodyId id, bool is_free) {
    const size_t n = static_cast<size_t>(body_.num_nodes());
    const Points x = ToEigen(PositionsOf(world, id, n)), v = ToEigen(VelocitiesOf(world, id, n));
    finite = finite && x.allFinite() && v.allFinite();
    if (!finite) return;
    const double s = scene_.scale, s3 = s * s * s;
    const double mass = s3 * body_.masses.sum();
    const Eigen::Vector3d momentum = s3 * (v * body_.masses),
                          centre = s3 * (x * body_.masses) / mass;
    kinetic = 0.5 * s3 * v.colwise().squaredNorm().dot(body_.masses);
    Points gradient;
    elastic = s3 * reference::EnergyOf(body_, {}, x / s, &gradient);
    total = kinetic + elastic;
    if (is_free) {
      total -= 0.5 * momentum.squaredNorm() / mass;
    } else {
      total -= mass * scene_.gravity.dot(centre);
    }
    most = std::max(most, is_free ? total : kinetic + elastic);
    // What nobody sees: a hundredth of the size per second, or of the swing of a hung body.
    const double size =
        s * (body_.rest.rowwise().maxCoeff() - body_.rest.rowwise().minCoeff()).norm();
    most = std::max(most, 0.5 * mass * size * size * 0.01);
    if (!is_free) most = std::max(most, mass * scene_.gravity.norm() * size);
    if (first) start = total;
    first = false;
    // Rounding of the positions that the world gives.
    const double rounding = 6.0e-8 * x.cwiseAbs().maxCoeff() / s;
    const double noise = s3 * noise_ * rounding * rounding;
    rise = total - start - noise;
    largest_noise = std::max(noise, largest_noise);
  }

  double Gain() const { return rise / (most + 1.0e-30); }

  double kinetic = 0.0, elastic = 0.0, total = 0.0, start = 0.0, most = 0.0, rise = 0.0;
  double largest_noise = 0.0;
  bool first = true, finite = true;

 private:
  reference::ElasticBody body_;
  const Scene& scene_;
  double noise_ = 0.0;
};

Result Run(const Scene& scene, bool prints) {
  Random random(scene.seed + 77777u);
  const auto bytes = BytesOf(scene);
  const ShapeAsset shape{std::span<const std::byte>(bytes)};
  const size_t n = shape.num_nodes();
  const Points rest = ToEigen(shape.rest());
  const double size = (rest.rowwise().maxCoeff() - rest.rowwise().minCoeff()).norm() * scene.scale;
  WorldDesc desc;
  desc.gravity = ToVec3(scene.gravity);
  desc.solver.sleep_speed = 0.0f;
  World world(desc);
  const std::vector<uint32_t> pins = PinsOf(scene, &random, rest);
  const bool is_free = pins.empty() && scene.planes == 0;
  std::vector<BodyId> ids;
  std::vector<Meter> meters;
  const double spin = scene.spin / scene.dt;
  Points targets;
  for (int k = 0; k < scene.bodies; ++k) {
    BodyDesc body;
    body.scale = static_cast<float>(scene.scale);
    body.pinned_nodes = pins;
    ids.push_back(AddBody(&world, shape.asset(), body));
    Points x = scene.scale * StartOf(scene, &random, rest);
    if (scene.planes > 0) {
      x.row(1).array() += -x.row(1).minCoeff() + random.Uniform(0.0, 1.0) * size +
                          (scene.planes > 1 ? x.row(0).cwiseAbs().maxCoeff() : 0.0);
    }
    REQUIRE(world.SetNodePositions(ids.back(), ToVec3s(x)).ok());
    Points v = random.Vectors(n, scene.storm * size / scene.dt);
    const Eigen::Vector3d axis = random.Direction() * spin * (k == 0 ? 1.0 : random.Uniform(0, 1));
    const Eigen::Vector3d thrown = random.Direction() * scene.throw_;
    const Eigen::Vector3d centre = x.rowwise().mean();
    for (Eigen::Index i = 0; i < v.cols(); ++i) {
      v.col(i) += thrown + axis.cross(x.col(i) - centre);
    }
    REQUIRE(world.SetNodeVelocities(ids.back(), ToVec3s(v)).ok());
    meters.emplace_back(shape.asset(), scene);
    if (k == 0) targets = x;
  }
  if (scene.planes == 1) AddPlane(&world, {}, 0.5f);
  if (scene.planes > 1) {
    const float friction = scene.planes == 2 ? 0.0f : 0.6f;
    AddPlane(&world, {{0.7071068f, 0.7071068f, 0.0f}, 0.0f}, friction);
    AddPlane(&world, {{-0.7071068f, 0.7071068f, 0.0f}, 0.0f}, friction);
  }
  const Eigen::Vector3d way = random.Direction() * size * 0.01;
  Result result;
  const int moved = scene.moves_pins ? scene.steps / 2 : 0;
  for (int step = 0; step <= scene.steps && result.finite; ++step) {
    if (step > 0) {
      const double dt = step > scene.change ? scene.later_dt : scene.dt;
      if (step <= moved && !pins.empty()) {
        std::vector<Vec3> to;
        for (const uint32_t node : pins) {
          to.push_back(ToVec3(targets.col(node) + way * (step < moved / 2 ? step : moved - step)));
        }
        REQUIRE(world.MovePins(ids[0], pins, to).ok());
      }
      const auto start = std::chrono::steady_clock::now();
      const uint32_t flags = StepWorld(&world, static_cast<float>(dt));
      result.seconds +=
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if ((flags & kStepBodyFrozen) != 0u) result.finite = false;
    }
    for (size_t k = 0; k < ids.size(); ++k) {
      if (step % 2 == 1 && !prints && step != scene.steps && step > 20) continue;
      Meter& meter = meters[k];
      if (step == moved) meter.first = true, meter.most = 0.0;  // moved pins do work
      meter.Measure(world, ids[k], is_free);
      result.finite = result.finite && meter.finite;
      if (step >= moved && meter.finite && meter.Gain() > result.gain) {
        result.gain = meter.Gain();
        result.joules = meter.rise;
        result.step = step;
      }
      if (prints && k == 0) {
        std::printf(
            "%4d kinetic %.6g elastic %.6g total %.6g start %.6g rounding %.2g; gain %.4f\n", step,
            meter.kinetic, meter.elastic, meter.total, meter.start, meter.largest_noise,
            meter.Gain());
      }
    }
  }
  return result;
}

// How many bodies gain energy, and how many have no finite end.
struct Failures {
  int gaining = 0, frozen = 0;
};

// Runs the scenes from seed `first` on.
Failures RunScenes(uint32_t first, int count, Kind kind) {
  const char* only = std::getenv("PLUSH_GRID_SEED");
  if (only != nullptr) {
    const uint32_t seed = static_cast<uint32_t>(std::atoi(only));
    if (seed < first || seed >= first + static_cast<uint32_t>(count)) return {};
    first = seed;
    count = 1;
  }
  struct Case {
    Result result;
    std::string what;
  };
  std::vector<Case> cases;
  double seconds = 0.0;
  Failures failures;
  for (int i = 0; i < count; ++i) {
    const Scene scene = MakeScene(first + static_cast<uint32_t>(i), kind);
    const std::string what = Describe(scene);
    if (only != nullptr) std::printf("%s\n", what.c_str());
    CAPTURE(what);
    const Result result = Run(scene, only != nullptr);
    seconds += result.seconds;
    if (!result.finite) ++failures.frozen;
    if (result.finite && !(result.gain < kMostGain)) ++failures.gaining;
    cases.push_back({result, what});
  }
  std::sort(cases.begin(), cases.end(), [](const Case& a, const Case& b) {
    return std::make_pair(!a.result.finite, a.result.gain) >
           std::make_pair(!b.result.finite, b.result.gain);
  });
  std::printf("%d bodies, seeds from %u: %d freeze, %d gain; steps took %.1f s\n", count, first,
              failures.frozen, failures.gaining, seconds);
  constexpr size_t shown = 5;
  for (size_t i = 0; i < std::min(shown, cases.size()); ++i) {
    const Result& r = cases[i].result;
    std::printf("  %s gain %.4f (%.3g J) at step %d; %s\n", r.finite ? "" : "NOT FINITE", r.gain,
                r.joules, r.step, cases[i].what.c_str());
  }
  return failures;
}

}  // namespace

// Without clusters and with two sweeps, 2 of these 300 freeze and 57 gain. Most that still gain do
// so in their first step, next to pins or while they turn by a fifth of a radian per step. Two gain
// slowly by pressures that lag behind volumes: Poisson's ratios of 0.47 and more, thin tets.
TEST_CASE("Bodies of all shapes, masses and materials in flight or pinned end finite, few gain") {
  const int count = tests::FullTests() ? 4000 : 300 / kShare;
  const Failures failures = RunScenes(200001, count, Kind::kMild);
  CHECK(failures.frozen <= count / 1000);
  CHECK(failures.gaining <= count / 14);  // 18 of 300
}

// These turn by up to two radians per step, or are torn to many times their size. Without clusters
// and with two sweeps, 29 of 200 freeze.
TEST_CASE("Of torn bodies in flight or pinned, few freeze") {
  const int count = tests::FullTests() ? 4000 : 200 / kShare;
  CHECK(RunScenes(1, count, Kind::kWild).frozen <= std::max(1, count / 50));
}

TEST_CASE("Bodies on a floor or in a V of planes end finite, few gain") {
  const int count = tests::FullTests() ? 2000 : 100 / kShare;
  const Failures failures = RunScenes(100001, count, Kind::kPlanes);
  CHECK(failures.frozen <= count / 1000);
  CHECK(failures.gaining <= std::max(1, count / 20));  // 3 of 100
}
