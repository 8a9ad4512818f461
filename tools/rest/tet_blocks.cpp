// SPDX-License-Identifier: MIT
// Packs tets without common nodes into blocks, greedily from a sliding window.
#include "rest/tet_blocks.h"

#include "plush/format/tet_block.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace plush::tools {
namespace {

// Tets in the window: enough to fill every block but the last of a mesh of some thousand tets.
constexpr size_t kWindowTets = 1024;

// If the window does not fill a block, it grows up to this number, which bounds the time for
// unusual meshes.
constexpr size_t kMaxWindowTets = 2048;

// Tets by their lowest node, so that a block reads few cache lines of node data.
std::vector<uint32_t> OrderByNodes(std::span<const std::array<uint32_t, 4>> tets) {
  std::vector<uint32_t> order(tets.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, {}, [&](uint32_t t) { return std::ranges::min(tets[t]); });
  return order;
}

// Moves the tets with nodes of two clusters to the front. Returns their number.
size_t PutStraddlingFirst(std::span<const std::array<uint32_t, 4>> tets,
                          std::span<const uint16_t> clusters, std::vector<uint32_t>* order) {
  if (clusters.empty()) return 0;
  const auto others = std::ranges::stable_partition(*order, [&](uint32_t t) {
    return std::ranges::any_of(
        tets[t], [&](uint32_t node) { return clusters[node] != clusters[tets[t][0]]; });
  });
  return order->size() - others.size();
}

// Fills one block after the other from a window that slides over the ordered tets, first over those
// with nodes of two clusters, then over the others. Takes them in their order; once the window
// holds the last tet, takes those of the greatest need first.
class BlockPacker {
 public:
  BlockPacker(uint32_t num_nodes, std::span<const std::array<uint32_t, 4>> tets,
              std::span<const uint16_t> clusters)
      : tets_(tets),
        order_(OrderByNodes(tets)),
        tets_left_(num_nodes, 0),
        last_block_(num_nodes, kNoBlock),
        num_straddling_(PutStraddlingFirst(tets, clusters, &order_)) {
    for (const auto& tet : tets) {
      for (const uint32_t node : tet) ++tets_left_[node];
    }
  }

  std::vector<uint32_t> Pack() {
    while (FillWindow()) {
      if (num_seen_ >= end_) SortByNeed();
      std::vector<uint32_t> ranks = ChooseBlock();
      std::sort(ranks.begin(), ranks.end());
      for (const uint32_t rank : ranks) places_.push_back(order_[rank]);
      places_.resize(++num_blocks_ * kBlockTets, kNoTet);
    }
    return std::move(places_);
  }

 private:
  static constexpr size_t kNoBlock = SIZE_MAX;

  // No two tets around a node share a block. Many tets left over around one node would leave the
  // last blocks almost empty.
  struct Candidate {
    uint64_t need = 0;  // tets left at its nodes: the most << 32, plus the sum
    uint32_t rank = 0;  // place in the order
  };

  bool FillWindow() {
    const bool straddling_left =
        num_seen_ < num_straddling_ || (!window_.empty() && window_[0].rank < num_straddling_);
    end_ = straddling_left ? num_straddling_ : order_.size();
    while (window_.size() < kWindowTets && num_seen_ < end_) {
      window_.push_back({0, num_seen_++});
    }
    return !window_.empty();
  }

  void SortByNeed() {
    for (Candidate& candidate : window_) {
      if (candidate.rank >= end_) continue;
      uint64_t most = 0;
      uint64_t sum = 0;
      for (const uint32_t node : tets_[order_[candidate.rank]]) {
        most = std::max<uint64_t>(most, tets_left_[node]);
        sum += tets_left_[node];
      }
      candidate.need = most << 32 | sum;
    }
    // Little changes from block to block, so that merging is faster than std::sort.
    std::ranges::stable_sort(window_, std::greater(), &Candidate::need);
  }

  // Takes the tets that fit from the window, then from those after it while places are free.
  std::vector<uint32_t> ChooseBlock() {
    std::vector<uint32_t> ranks;
    size_t num_kept = 0;
    for (size_t i = 0; i < window_.size(); ++i) {
      const Candidate candidate = window_[i];
      if (ranks.size() < kBlockTets && Take(order_[candidate.rank])) {
        ranks.push_back(candidate.rank);
      } else {
        window_[num_kept++] = candidate;
      }
      const bool look_on = i + 1 == window_.size() && ranks.size() < kBlockTets;
      if (look_on && num_kept < kMaxWindowTets && num_seen_ < order_.size()) {
        window_.push_back({0, num_seen_++});
      }
    }
    window_.resize(num_kept);
    return ranks;
  }

  // Adds the tet to the block if they share no node.
  bool Take(uint32_t tet) {
    for (const uint32_t node : tets_[tet]) {
      if (last_block_[node] == num_blocks_) return false;
    }
    for (const uint32_t node : tets_[tet]) {
      last_block_[node] = num_blocks_;
      --tets_left_[node];
    }
    return true;
  }

  std::span<const std::array<uint32_t, 4>> tets_;
  std::vector<uint32_t> order_;      // rank -> tet
  std::vector<uint32_t> tets_left_;  // of each node
  std::vector<size_t> last_block_;   // the latest with a tet of each node
  std::vector<Candidate> window_;
  std::vector<uint32_t> places_;
  size_t num_straddling_;  // ranks of tets with nodes of two clusters
  size_t end_ = 0;         // of the ranks over which the window slides
  uint32_t num_seen_ = 0;  // ranks that have been in the window
  size_t num_blocks_ = 0;
};

}  // namespace

std::vector<uint32_t> PackTetBlocks(uint32_t num_nodes,
                                    std::span<const std::array<uint32_t, 4>> tets,
                                    std::span<const uint16_t> clusters) {
  return BlockPacker(num_nodes, tets, clusters).Pack();
}

}  // namespace plush::tools
