// SPDX-License-Identifier: MIT
// Packs tets without common nodes into blocks, greedily from a sliding window.
#include "rest/tet_blocks.h"

#include "plush/format/tet_block.h"

#include <algorithm>
#include <functional>
#include <iterator>
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
  // Not std::ranges::stable_partition: clang 14 cannot compile the range that it returns.
  const auto others = std::stable_partition(order->begin(), order->end(), [&](uint32_t t) {
    return std::ranges::any_of(
        tets[t], [&](uint32_t node) { return clusters[node] != clusters[tets[t][0]]; });
  });
  return static_cast<size_t>(others - order->begin());
}

// Fills one block after the other from two windows that slide over the ordered tets: first with
// those that have nodes of two clusters, then with others. Takes them in their order; once a window
// holds the last tet of its kind, takes those of the greatest need first.
class BlockPacker {
 public:
  BlockPacker(uint32_t num_nodes, std::span<const std::array<uint32_t, 4>> tets,
              std::span<const uint16_t> clusters)
      : tets_(tets), order_(OrderByNodes(tets)), last_block_(num_nodes, kNoBlock) {
    const size_t num_straddling = PutStraddlingFirst(tets, clusters, &order_);
    windows_[0] = MakeWindow(0, num_straddling);
    windows_[1] = MakeWindow(num_straddling, order_.size());
  }

  std::vector<uint32_t> Pack() {
    for (; FillWindows(); ++num_blocks_) {
      std::vector<size_t> ranks;
      for (Window& window : windows_) Choose(&window, &ranks);
      std::sort(ranks.begin(), ranks.end());
      for (const size_t rank : ranks) places_.push_back(order_[rank]);
      places_.resize((num_blocks_ + 1) * kBlockTets, kNoTet);
    }
    return std::move(places_);
  }

 private:
  static constexpr size_t kNoBlock = SIZE_MAX;

  // No two tets around a node share a block. Many tets left over around one node would leave the
  // last blocks almost empty.
  struct Candidate {
    uint64_t need = 0;  // tets left at its nodes: the most << 32, plus the sum
    size_t rank = 0;    // place in the order
  };
  struct Window {
    size_t next = 0, end = 0;  // of the ranks over which it slides
    std::vector<Candidate> candidates;
    std::vector<uint32_t> tets_left;  // of each node: those of this window and the one before
  };

  Window MakeWindow(size_t begin, size_t end) const {
    Window window = {begin, end, {}, std::vector<uint32_t>(last_block_.size(), 0)};
    for (size_t rank = 0; rank < end; ++rank) {
      for (const uint32_t node : tets_[order_[rank]]) ++window.tets_left[node];
    }
    return window;
  }

  // Returns whether there are tets left.
  bool FillWindows() {
    for (Window& window : windows_) {
      std::vector<Candidate>& candidates = window.candidates;
      while (candidates.size() < kWindowTets && window.next < window.end) {
        candidates.push_back({0, window.next++});
      }
      if (window.next == window.end) SortByNeed(&window);
    }
    return !windows_[0].candidates.empty() || !windows_[1].candidates.empty();
  }

  void SortByNeed(Window* window) {
    for (Candidate& candidate : window->candidates) {
      uint64_t most = 0;
      uint64_t sum = 0;
      for (const uint32_t node : tets_[order_[candidate.rank]]) {
        most = std::max<uint64_t>(most, window->tets_left[node]);
        sum += window->tets_left[node];
      }
      candidate.need = most << 32 | sum;
    }
    // Little changes from block to block, so that merging is faster than std::sort.
    std::ranges::stable_sort(window->candidates, std::greater(), &Candidate::need);
  }

  // Adds the tets that fit from a window, then from those after it while places are free.
  void Choose(Window* window, std::vector<size_t>* ranks) {
    std::vector<Candidate>& candidates = window->candidates;
    size_t num_kept = 0;
    for (size_t i = 0; i < candidates.size(); ++i) {
      const Candidate candidate = candidates[i];
      if (ranks->size() < kBlockTets && Fits(order_[candidate.rank])) {
        ranks->push_back(candidate.rank);
        for (const uint32_t node : tets_[order_[candidate.rank]]) {
          last_block_[node] = num_blocks_;
          for (Window* of = window; of != std::end(windows_); ++of) --of->tets_left[node];
        }
      } else {
        candidates[num_kept++] = candidate;
      }
      const bool look_on = i + 1 == candidates.size() && ranks->size() < kBlockTets;
      if (look_on && num_kept < kMaxWindowTets && window->next < window->end) {
        candidates.push_back({0, window->next++});
      }
    }
    candidates.resize(num_kept);
  }

  // Whether a tet and the block share no node.
  bool Fits(uint32_t tet) const {
    return std::ranges::none_of(tets_[tet],
                                [this](uint32_t node) { return last_block_[node] == num_blocks_; });
  }

  std::span<const std::array<uint32_t, 4>> tets_;
  std::vector<uint32_t> order_;     // rank -> tet
  std::vector<size_t> last_block_;  // the latest with a tet of each node
  Window windows_[2];               // of tets with nodes of two clusters, and of others
  std::vector<uint32_t> places_;
  size_t num_blocks_ = 0;
};

}  // namespace

std::vector<uint32_t> PackTetBlocks(uint32_t num_nodes,
                                    std::span<const std::array<uint32_t, 4>> tets,
                                    std::span<const uint16_t> clusters) {
  return BlockPacker(num_nodes, tets, clusters).Pack();
}

}  // namespace plush::tools
