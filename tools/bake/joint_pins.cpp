// SPDX-License-Identifier: MIT
// Finds the joints of pin rules by name, distances from bones, and the vertices nearest to nodes
// (Edsger Dijkstra. A Note on Two Problems in Connexion with Graphs. 1959).
#include "bake/joint_pins.h"

#include "rest/elimination_order.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <queue>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace plush::tools {
namespace {

std::vector<uint32_t> MatchingJoints(const PinRule& rule, const SurfaceMesh& mesh) {
  std::vector<uint32_t> joints;
  for (uint32_t i = 0; i < mesh.joints.size(); ++i) {
    if (MatchesPattern(rule.key, mesh.joints[i].name)) joints.push_back(i);
  }
  return joints;
}

// One rule for each joint.
std::vector<PinRule> Expanded(const PinRule& rule, const SurfaceMesh& mesh) {
  const std::vector<uint32_t> joints = MatchingJoints(rule, mesh);
  std::vector<PinRule> rules;
  std::map<std::string, int> uses;  // of each name
  for (const uint32_t joint : joints) {
    const std::string& own = mesh.joints[joint].name;
    PinRule& one = rules.emplace_back(rule);
    one.joint = static_cast<int32_t>(joint);
    if (rule.name.empty()) {
      one.name = own;
    } else if (joints.size() > 1) {
      one.name = rule.name + "." + own;
    }
    const int use = ++uses[one.name];
    if (use > 1) one.name += "." + std::to_string(use);
  }
  if (rules.empty()) {
    rules.push_back(rule);
    if (rule.name.empty()) rules.back().name = rule.key;
  }
  return rules;
}

double DistanceToSegment(const Vec3d& point, const Vec3d& a, const Vec3d& b) {
  const Vec3d along = b - a;
  const double square = LengthSquared(along);
  const double t = square > 0.0 ? std::clamp(Dot(point - a, along) / square, 0.0, 1.0) : 0.0;
  return Length(point - (a + t * along));
}

}  // namespace

bool MatchesPattern(std::string_view pattern, std::string_view name) {
  // The last '*' passed takes one more letter whenever the rest does not match.
  size_t p = 0;
  size_t n = 0;
  size_t star = pattern.npos;
  size_t taken_to = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken_to = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != pattern.npos) {
      p = star + 1;
      n = ++taken_to;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == pattern.npos;
}

Result<std::vector<PinRule>> WithJointRules(const std::vector<PinRule>& rules,
                                            const SurfaceMesh& mesh) {
  std::vector<PinRule> result;
  for (const PinRule& rule : rules) {
    if (rule.source != PinSource::kJoint) {
      result.push_back(rule);
      continue;
    }
    for (PinRule& one : Expanded(rule, mesh)) result.push_back(std::move(one));
  }
  std::set<std::string> names;
  for (const PinRule& rule : result) {
    if (names.insert(rule.name).second) continue;
    return Error{ExitCode::kUsage,
                 "region '" + rule.name +
                     "' is given twice; give one of them another name, or "
                     "choose a pattern that leaves it out",
                 "PIN_INVALID"};
  }
  return result;
}

Bone::Bone(std::span<const SurfaceJoint> joints, uint32_t joint) : start_(joints[joint].position) {
  for (const SurfaceJoint& other : joints) {
    if (other.parent == static_cast<int32_t>(joint)) ends_.push_back(other.position);
  }
  if (ends_.empty()) ends_.push_back(start_);
}

double Bone::Distance(const Vec3d& point) const {
  double least = std::numeric_limits<double>::infinity();
  for (const Vec3d& end : ends_) least = std::min(least, DistanceToSegment(point, start_, end));
  return least;
}

std::vector<uint32_t> NearestVertices(const SurfaceMesh& surface, const TetMesh& cage,
                                      const AssetContent& content) {
  using Visit = std::tuple<double, uint32_t, uint32_t>;  // distance, vertex, node
  std::vector<double> distances(cage.nodes.size(), std::numeric_limits<double>::infinity());
  std::vector<uint32_t> nearest(cage.nodes.size(), UINT32_MAX);
  std::priority_queue<Visit, std::vector<Visit>, std::greater<>> waiting;
  const auto reach = [&](uint32_t node, double distance, uint32_t vertex) {
    if (!(distance < distances[node])) return;
    distances[node] = distance;
    nearest[node] = vertex;
    waiting.emplace(distance, vertex, node);
  };
  for (uint32_t v = 0; v < surface.positions.size(); ++v) {
    for (const uint32_t node : cage.tets[content.tet_ids[v]]) {
      reach(node, Length(cage.nodes[node] - surface.positions[v]), v);
    }
  }
  const NodeGraph graph = BuildNodeGraph(static_cast<uint32_t>(cage.nodes.size()), cage.tets);
  while (!waiting.empty()) {
    const auto [distance, vertex, node] = waiting.top();
    waiting.pop();
    if (distance > distances[node]) continue;
    for (uint32_t i = graph.starts[node]; i < graph.starts[node + 1]; ++i) {
      const uint32_t other = graph.neighbours[i];
      reach(other, distance + Length(cage.nodes[other] - cage.nodes[node]), vertex);
    }
  }
  return nearest;
}

}  // namespace plush::tools
