// SPDX-License-Identifier: MIT
#include "runtime/crowd_lanes.h"

#include <cstring>

namespace plush::test {

bool SameBits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

void PutLane(const std::vector<NodeVec>& v, size_t size, size_t lane, std::vector<float>* crowd) {
  for (size_t i = 0; i + 1 < v.size(); ++i) {
    const float numbers[4] = {v[i].x, v[i].y, v[i].z, v[i].w};
    for (size_t k = 0; k < size; ++k) (*crowd)[kCrowdLanes * (size * i + k) + lane] = numbers[k];
  }
}

std::vector<NodeVec> NodesInLane(const std::vector<float>& crowd, size_t size, size_t lane) {
  std::vector<NodeVec> out(crowd.size() / (kCrowdLanes * size) + 1);
  for (size_t i = 0; i + 1 < out.size(); ++i) {
    float numbers[4] = {};
    for (size_t k = 0; k < size; ++k) numbers[k] = crowd[kCrowdLanes * (size * i + k) + lane];
    out[i] = NodeVec({numbers[0], numbers[1], numbers[2]}, numbers[3]);
  }
  return out;
}

void PutLane(const std::vector<float>& numbers, size_t lane, std::vector<float>* crowd) {
  for (size_t i = 0; i < numbers.size(); ++i) (*crowd)[kCrowdLanes * i + lane] = numbers[i];
}

std::vector<float> NumbersInLane(const std::vector<float>& crowd, size_t lane) {
  std::vector<float> out(crowd.size() / kCrowdLanes);
  for (size_t i = 0; i < out.size(); ++i) out[i] = crowd[kCrowdLanes * i + lane];
  return out;
}

std::vector<float> NumbersOf(const std::vector<NodeVec>& v) {
  std::vector<float> out;
  for (const NodeVec& node : v) out.insert(out.end(), {node.x, node.y, node.z, node.w});
  return out;
}

}  // namespace plush::test
