// SPDX-License-Identifier: MIT
// A hash table of vertices, whose keys are the bits of all their numbers.
#include "import/corner_joining.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace plush::tools {
namespace {

constexpr uint32_t kNoVertex = UINT32_MAX;

// The numbers of all vertices, to be hashed and compared.
class VertexKeys {
 public:
  explicit VertexKeys(RawMesh* mesh) : mesh_(*mesh) {
    if (mesh_.weights.empty()) return;
    std::stable_sort(mesh_.weights.begin(), mesh_.weights.end(),
                     [](const RawWeight& a, const RawWeight& b) { return a.vertex < b.vertex; });
    first_weight_.resize(mesh_.positions.size() + 1);
    for (const RawWeight& weight : mesh_.weights) ++first_weight_[weight.vertex + 1];
    for (size_t v = 1; v < first_weight_.size(); ++v) first_weight_[v] += first_weight_[v - 1];
  }

  // The bits of all numbers of vertex `v`; valid until the next call with the same `out`.
  void Bits(uint32_t v, std::vector<uint32_t>* out) const {
    out->clear();
    const auto add = [out](float x) { out->push_back(std::bit_cast<uint32_t>(x)); };
    const auto add_vec3 = [&](const Vec3& p) { add(p.x), add(p.y), add(p.z); };
    add_vec3(mesh_.positions[v]);
    if (!mesh_.normals.empty()) add_vec3(mesh_.normals[v]);
    if (!mesh_.uvs.empty()) add(mesh_.uvs[v].x), add(mesh_.uvs[v].y);
    for (const VertexAttribute& attribute : mesh_.attributes) add(attribute.values[v]);
    if (first_weight_.empty()) return;
    for (size_t w = first_weight_[v]; w < first_weight_[v + 1]; ++w) {
      out->push_back(mesh_.weights[w].joint);
      add(mesh_.weights[w].weight);
    }
  }

 private:
  RawMesh& mesh_;
  std::vector<size_t> first_weight_;  // of each vertex, if there are weights
};

// The first vertex that equals each one.
std::vector<uint32_t> FirstEqual(RawMesh* mesh) {
  const VertexKeys keys(mesh);
  const auto n = static_cast<uint32_t>(mesh->positions.size());
  std::vector<uint32_t> slots(std::bit_ceil(size_t{n} * 2), kNoVertex);
  std::vector<uint32_t> first(n), key, other;
  for (uint32_t v = 0; v < n; ++v) {
    keys.Bits(v, &key);
    size_t slot = XXH3_64bits(key.data(), key.size() * sizeof(uint32_t)) & (slots.size() - 1);
    for (;; slot = (slot + 1) & (slots.size() - 1)) {
      if (slots[slot] == kNoVertex) slots[slot] = v;
      if (slots[slot] == v) break;
      keys.Bits(slots[slot], &other);
      if (key == other) break;
    }
    first[v] = slots[slot];
  }
  return first;
}

// Keeps the values of the vertices that are their own first.
template <class T>
void KeepFirst(const std::vector<uint32_t>& first, std::vector<T>* values) {
  if (values->empty()) return;
  size_t kept = 0;
  for (uint32_t v = 0; v < first.size(); ++v) {
    if (first[v] == v) (*values)[kept++] = (*values)[v];
  }
  values->resize(kept);
}

}  // namespace

void JoinEqualVertices(RawMesh* mesh) {
  const size_t n = mesh->positions.size();
  if (n >= kNoVertex) return;
  std::erase_if(mesh->weights, [n](const RawWeight& weight) { return weight.vertex >= n; });
  const std::vector<uint32_t> first = FirstEqual(mesh);
  std::vector<uint32_t> new_index(first.size());
  uint32_t kept = 0;
  for (uint32_t v = 0; v < first.size(); ++v) {
    new_index[v] = first[v] == v ? kept++ : new_index[first[v]];
  }
  if (kept == first.size()) return;
  std::erase_if(mesh->weights, [&](const RawWeight& w) { return first[w.vertex] != w.vertex; });
  for (RawWeight& weight : mesh->weights) weight.vertex = new_index[weight.vertex];
  for (auto& triangle : mesh->triangles) {
    for (uint32_t& v : triangle) v = v < first.size() ? new_index[v] : kNoVertex;
  }
  KeepFirst(first, &mesh->positions);
  KeepFirst(first, &mesh->normals);
  KeepFirst(first, &mesh->uvs);
  for (VertexAttribute& attribute : mesh->attributes) KeepFirst(first, &attribute.values);
}

}  // namespace plush::tools
