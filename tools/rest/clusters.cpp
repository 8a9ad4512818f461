// SPDX-License-Identifier: MIT
// Grows clusters around centres along the edges (Lloyd's method on a graph), then moves nodes at
// the borders between clusters so that fewer tets straddle them.
// Based on:
// Stuart Lloyd. Least Squares Quantization in PCM. 1982
// Charles Fiduccia, Robert Mattheyses. A Linear-Time Heuristic for Improving Network Partitions.
//   1982
//
// Partitions of METIS (k-way, edges weighted by tets) straddle as few tets, but are less compact.
// An armadillo of 4k tets hung by one of five places moved with a mean trajectory error of 0.052
// with 8 of these clusters, of 0.063 and 0.067 with balanced and unbalanced ones of METIS, in a
// prototype of the step on two levels. Different places mattered more.
#include "rest/clusters.h"

#include "plush/asset.h"

#include "base/vec3.h"
#include "mesh/disjoint_sets.h"
#include "rest/elimination_order.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

namespace plush::tools {
namespace {

using TetNodes = std::array<uint32_t, 4>;

constexpr uint32_t kNoCluster = UINT32_MAX;

// Most clusters of a body that gets a number by its size, if it has no more components.
constexpr uint32_t kMostAutoClusters = 32;

// Most rounds of Lloyd's method. Most centres rest after 10.
constexpr int kMostRounds = 30;

// Most passes over the nodes at borders. Later ones move next to nothing.
constexpr int kMostPasses = 10;

// Nodes of the largest cluster over the mean, if there are more than 4. Above, the centre of the
// smallest cluster moves into the largest.
constexpr double kMostNodes = 1.75;

// Moves at borders keep sizes within these shares of the mean.
constexpr double kLowShare = 0.5;
constexpr double kHighShare = 1.5;

// A component of the cage, with nodes numbered from 0.
struct Component {
  std::vector<uint32_t> nodes;  // of the body, ascending
  std::vector<TetNodes> tets;   // by index in `nodes`
  uint32_t num_nodes() const { return static_cast<uint32_t>(nodes.size()); }
};

std::vector<Component> FindComponents(uint32_t num_nodes, std::span<const TetNodes> tets) {
  DisjointSets sets(num_nodes);
  for (const TetNodes& tet : tets) {
    for (const uint32_t node : tet) sets.Join(tet[0], node);
  }
  std::vector<Component> components;
  std::vector<uint32_t> component_of(num_nodes);
  std::vector<uint32_t> index_of(num_nodes);
  for (uint32_t node = 0; node < num_nodes; ++node) {
    const uint32_t root = sets.Find(node);
    if (root == node) {
      component_of[node] = static_cast<uint32_t>(components.size());
      components.emplace_back();
    }
    component_of[node] = component_of[root];  // the root is the lowest node: it has one already
    Component& component = components[component_of[node]];
    index_of[node] = component.num_nodes();
    component.nodes.push_back(node);
  }
  for (const TetNodes& tet : tets) {
    components[component_of[tet[0]]].tets.push_back(
        {index_of[tet[0]], index_of[tet[1]], index_of[tet[2]], index_of[tet[3]]});
  }
  return components;
}

// Nodes and edges of a component.
struct EdgeGraph {
  std::vector<uint32_t> starts;      // (num_nodes + 1 x 1)
  std::vector<uint32_t> neighbours;  // ascending for each node
  std::vector<double> lengths;       // of the edges [m]
  std::vector<Vec3d> nodes;          // [m]

  uint32_t num_nodes() const { return static_cast<uint32_t>(nodes.size()); }
  std::span<const uint32_t> Beside(uint32_t node) const {
    return std::span(neighbours).subspan(starts[node], starts[node + 1] - starts[node]);
  }
};

EdgeGraph BuildEdgeGraph(const Component& component, std::span<const Vec3> nodes) {
  NodeGraph links = BuildNodeGraph(component.num_nodes(), component.tets);
  EdgeGraph graph;
  for (const uint32_t node : component.nodes) graph.nodes.push_back(ToDouble(nodes[node]));
  graph.starts = std::move(links.starts);
  graph.neighbours = std::move(links.neighbours);
  graph.lengths.reserve(graph.neighbours.size());
  for (uint32_t node = 0; node < graph.num_nodes(); ++node) {
    for (const uint32_t other : graph.Beside(node)) {
      graph.lengths.push_back(Length(graph.nodes[other] - graph.nodes[node]));
    }
  }
  return graph;
}

// The nodes nearest to each centre, along edges. Each cell is connected.
struct Cells {
  std::vector<uint32_t> centres;  // a node each
  std::vector<uint32_t> of_node;
  std::vector<double> distances;  // of nodes from their centres [m]
};

Cells NoCells(uint32_t num_nodes) {
  return {{},
          std::vector<uint32_t>(num_nodes, 0),
          std::vector<double>(num_nodes, std::numeric_limits<double>::infinity())};
}

// Adds a cell: takes the nodes that are nearer to `centre` than to the others (Dijkstra).
void AddCell(const EdgeGraph& graph, uint32_t centre, Cells* cells) {
  using Reached = std::pair<double, uint32_t>;
  std::priority_queue<Reached, std::vector<Reached>, std::greater<>> queue;
  const auto cell = static_cast<uint32_t>(cells->centres.size());
  cells->centres.push_back(centre);
  const auto reach = [&](uint32_t node, double distance) {
    if (distance >= cells->distances[node]) return;
    cells->distances[node] = distance;
    cells->of_node[node] = cell;
    queue.emplace(distance, node);
  };
  reach(centre, 0.0);
  while (!queue.empty()) {
    const auto [distance, node] = queue.top();
    queue.pop();
    if (distance > cells->distances[node]) continue;
    for (uint32_t i = graph.starts[node]; i < graph.starts[node + 1]; ++i) {
      reach(graph.neighbours[i], distance + graph.lengths[i]);
    }
  }
}

Cells CellsAround(const EdgeGraph& graph, const std::vector<uint32_t>& centres) {
  Cells cells = NoCells(graph.num_nodes());
  for (const uint32_t centre : centres) AddCell(graph, centre, &cells);
  return cells;
}

uint32_t FarthestNode(const Cells& cells) {
  return static_cast<uint32_t>(std::ranges::max_element(cells.distances) - cells.distances.begin());
}

// Each new centre is the node farthest from the others: the ends of limbs come first.
Cells SpreadCells(const EdgeGraph& graph, uint32_t count) {
  Cells cells = NoCells(graph.num_nodes());
  AddCell(graph, FarthestNode(CellsAround(graph, {0})), &cells);
  while (cells.centres.size() < count) AddCell(graph, FarthestNode(cells), &cells);
  return cells;
}

std::vector<uint32_t> SizesOf(const std::vector<uint32_t>& of_node, size_t count) {
  std::vector<uint32_t> sizes(count, 0);
  for (const uint32_t cell : of_node) ++sizes[cell];
  return sizes;
}

// The node of each cell that is nearest to the cell's centroid.
std::vector<uint32_t> CentralNodes(const EdgeGraph& graph, const Cells& cells) {
  const size_t count = cells.centres.size();
  const std::vector<uint32_t> sizes = SizesOf(cells.of_node, count);
  std::vector<Vec3d> centroids(count);
  for (uint32_t node = 0; node < graph.num_nodes(); ++node) {
    const uint32_t cell = cells.of_node[node];
    centroids[cell] = centroids[cell] + graph.nodes[node] / sizes[cell];
  }
  std::vector<uint32_t> central(count, 0);
  std::vector<double> least(count, std::numeric_limits<double>::infinity());
  for (uint32_t node = 0; node < graph.num_nodes(); ++node) {
    const uint32_t cell = cells.of_node[node];
    const double distance = Length(graph.nodes[node] - centroids[cell]);
    if (distance >= least[cell]) continue;
    least[cell] = distance;
    central[cell] = node;
  }
  return central;
}

// Lloyd's method: grows cells and moves their centres in turn.
Cells Settle(const EdgeGraph& graph, Cells cells) {
  for (int round = 0; round < kMostRounds; ++round) {
    std::vector<uint32_t> centres = CentralNodes(graph, cells);
    if (centres == cells.centres) break;
    cells = CellsAround(graph, centres);
  }
  return cells;
}

// Moves the smallest cell into the largest until that is not much larger than the mean.
Cells Balance(const EdgeGraph& graph, Cells cells) {
  const size_t count = cells.centres.size();
  const double most = kMostNodes * graph.num_nodes() / static_cast<double>(count);
  for (size_t round = 0; round < count; ++round) {
    const std::vector<uint32_t> sizes = SizesOf(cells.of_node, count);
    const auto [smallest, largest] = std::ranges::minmax_element(sizes);
    if (*largest <= most) break;
    const auto full = static_cast<uint32_t>(largest - sizes.begin());
    uint32_t farthest = cells.centres[full];
    for (uint32_t node = 0; node < graph.num_nodes(); ++node) {
      const bool is_farther = cells.distances[node] > cells.distances[farthest];
      if (cells.of_node[node] == full && is_farther) farthest = node;
    }
    std::vector<uint32_t> centres = cells.centres;
    centres[static_cast<size_t>(smallest - sizes.begin())] = farthest;
    Cells moved = Settle(graph, CellsAround(graph, centres));
    if (std::ranges::max(SizesOf(moved.of_node, count)) >= *largest) break;
    cells = std::move(moved);
  }
  return cells;
}

// Moves nodes from cluster to cluster, one at a time, if fewer tets straddle then.
class BorderMoves {
 public:
  BorderMoves(const EdgeGraph& graph, const Component& component, uint32_t count,
              std::vector<uint32_t>* of_node)
      : graph_(graph),
        component_(component),
        cluster_(*of_node),
        sizes_(SizesOf(*of_node, count)),
        lowest_(std::max<double>(kLowShare * graph.num_nodes() / count, kMinClusterNodes)),
        highest_(kHighShare * graph.num_nodes() / count),
        first_tet_(graph.num_nodes() + size_t{1}, 0) {
    for (const TetNodes& tet : component.tets) {
      for (const uint32_t node : tet) ++first_tet_[node + 1];
    }
    for (uint32_t node = 0; node < graph.num_nodes(); ++node) {
      first_tet_[node + 1] += first_tet_[node];
    }
    tets_.resize(first_tet_.back());
    std::vector<uint32_t> next = first_tet_;
    for (uint32_t t = 0; t < component.tets.size(); ++t) {
      for (const uint32_t node : component.tets[t]) tets_[next[node]++] = t;
    }
  }

  // Goes over all nodes. Returns false if none moved.
  bool Pass() {
    bool has_moved = false;
    for (uint32_t node = 0; node < graph_.num_nodes(); ++node) {
      const uint32_t target = BestCluster(node);
      if (target == cluster_[node] || !CanLeave(node)) continue;
      --sizes_[cluster_[node]];
      ++sizes_[target];
      cluster_[node] = target;
      has_moved = true;
    }
    return has_moved;
  }

 private:
  // How well a node fits into a cluster: tets that would not straddle, then edges inside it.
  using Fit = std::pair<uint32_t, uint32_t>;

  Fit FitOf(uint32_t node, uint32_t cluster) const {
    Fit fit = {0, 0};
    for (uint32_t i = first_tet_[node]; i < first_tet_[node + 1]; ++i) {
      uint32_t inside = 0;  // of the tet's other nodes
      for (const uint32_t other : component_.tets[tets_[i]]) {
        inside += other != node && cluster_[other] == cluster ? 1 : 0;
      }
      fit.first += inside == 3 ? 1 : 0;
      fit.second += inside;
    }
    return fit;
  }

  // The node's own cluster, or one beside it that it fits better.
  uint32_t BestCluster(uint32_t node) const {
    uint32_t best = cluster_[node];
    if (sizes_[best] <= lowest_) return best;
    Fit best_fit = FitOf(node, best);
    std::vector<uint32_t> tried = {best};
    for (const uint32_t other : graph_.Beside(node)) {
      const uint32_t cluster = cluster_[other];
      if (std::ranges::find(tried, cluster) != tried.end()) continue;
      tried.push_back(cluster);
      if (sizes_[cluster] + 1 > highest_) continue;
      const Fit fit = FitOf(node, cluster);
      if (fit <= best_fit) continue;
      best_fit = fit;
      best = cluster;
    }
    return best;
  }

  // Whether the node's neighbours in its cluster are connected without it, by edges between them.
  bool CanLeave(uint32_t node) const {
    std::vector<uint32_t> left;
    for (const uint32_t other : graph_.Beside(node)) {
      if (cluster_[other] == cluster_[node]) left.push_back(other);
    }
    if (left.empty()) return false;
    std::vector<uint32_t> stack = {left.back()};
    left.pop_back();
    while (!stack.empty() && !left.empty()) {
      const std::span<const uint32_t> beside = graph_.Beside(stack.back());
      stack.pop_back();
      std::erase_if(left, [&](uint32_t other) {
        const bool is_beside = std::ranges::binary_search(beside, other);
        if (is_beside) stack.push_back(other);
        return is_beside;
      });
    }
    return left.empty();
  }

  const EdgeGraph& graph_;
  const Component& component_;
  std::vector<uint32_t>& cluster_;  // of each node
  std::vector<uint32_t> sizes_;     // of the clusters
  double lowest_;                   // size that a cluster keeps
  double highest_;
  std::vector<uint32_t> first_tet_;  // into tets_ (num_nodes + 1 x 1)
  std::vector<uint32_t> tets_;       // of each node
};

// Joins clusters of fewer than kMinClusterNodes with the cluster beside them with most edges to
// them.
void JoinSmallClusters(const EdgeGraph& graph, uint32_t count, std::vector<uint32_t>* of_node) {
  std::vector<uint32_t> sizes = SizesOf(*of_node, count);
  for (uint32_t left = count; left > 1; --left) {
    uint32_t from = kNoCluster;
    for (uint32_t i = 0; i < count; ++i) {
      if (sizes[i] > 0 && (from == kNoCluster || sizes[i] < sizes[from])) from = i;
    }
    if (sizes[from] >= kMinClusterNodes) return;
    std::vector<uint32_t> edges(count, 0);
    for (uint32_t node = 0; node < graph.num_nodes(); ++node) {
      if ((*of_node)[node] != from) continue;
      for (const uint32_t other : graph.Beside(node)) ++edges[(*of_node)[other]];
    }
    edges[from] = 0;
    const auto to = static_cast<uint32_t>(std::ranges::max_element(edges) - edges.begin());
    std::ranges::replace(*of_node, from, to);
    sizes[to] += std::exchange(sizes[from], 0);
  }
}

// Renumbers clusters by their first nodes. Returns their number.
uint32_t NumberByFirstNode(std::vector<uint32_t>* cluster_of) {
  std::vector<uint32_t> number(cluster_of->size(), kNoCluster);
  uint32_t count = 0;
  for (uint32_t& cluster : *cluster_of) {
    if (number[cluster] == kNoCluster) number[cluster] = count++;
    cluster = number[cluster];
  }
  return count;
}

// The cluster of each node of a component: up to `count`, which is at most the number of nodes.
std::vector<uint32_t> ClustersOf(const Component& component, std::span<const Vec3> nodes,
                                 uint32_t count) {
  if (count < 2) return std::vector<uint32_t>(component.nodes.size(), 0);
  const EdgeGraph graph = BuildEdgeGraph(component, nodes);
  Cells cells = Settle(graph, SpreadCells(graph, count));
  if (count > 4) cells = Balance(graph, std::move(cells));
  std::vector<uint32_t> of_node = std::move(cells.of_node);
  BorderMoves moves(graph, component, count, &of_node);
  for (int pass = 0; pass < kMostPasses && moves.Pass(); ++pass) {
  }
  JoinSmallClusters(graph, count, &of_node);
  return of_node;
}

// The number of clusters of each component: `total` in all, at most limits[i] each, but at least
// one each. Each further cluster goes to the component with most nodes per cluster.
std::vector<uint32_t> ShareOut(uint32_t total, const std::vector<Component>& components,
                               const std::vector<uint32_t>& limits) {
  std::vector<uint32_t> counts(components.size(), 1);
  for (auto sum = static_cast<uint32_t>(counts.size()); sum < total; ++sum) {
    uint32_t next = kNoCluster;
    for (uint32_t i = 0; i < counts.size(); ++i) {
      if (counts[i] >= limits[i]) continue;
      const bool is_larger =
          next == kNoCluster || uint64_t{components[i].num_nodes()} * counts[next] >
                                    uint64_t{components[next].num_nodes()} * counts[i];
      if (is_larger) next = i;
    }
    if (next == kNoCluster) break;
    ++counts[next];
  }
  return counts;
}

}  // namespace

uint32_t AutoClusters(uint32_t num_nodes) {
  const auto at_most = [&](uint32_t most, uint32_t nodes_of_each) {
    return std::min(num_nodes / nodes_of_each, most);
  };
  return std::max({1u, at_most(8, 12), at_most(12, 24), at_most(kMostAutoClusters, 384)});
}

Clusters MakeClusters(std::span<const Vec3> nodes, std::span<const TetNodes> tets,
                      std::optional<uint32_t> count) {
  if (count == 0u) return {};
  const auto num_nodes = static_cast<uint32_t>(nodes.size());
  const std::vector<Component> components = FindComponents(num_nodes, tets);
  if (components.size() > kMaxClusters) return {};
  std::vector<uint32_t> limits;
  for (const Component& component : components) {
    const uint32_t n = component.num_nodes();
    limits.push_back(count ? n / (2 * kMinClusterNodes) : AutoClusters(n));
  }
  const std::vector<uint32_t> counts =
      ShareOut(std::min(count.value_or(kMostAutoClusters), kMaxClusters), components, limits);
  std::vector<uint32_t> of_nodes(num_nodes);
  uint32_t first = 0;
  for (size_t i = 0; i < components.size(); ++i) {
    const std::vector<uint32_t> clusters = ClustersOf(components[i], nodes, counts[i]);
    for (size_t k = 0; k < clusters.size(); ++k) {
      of_nodes[components[i].nodes[k]] = first + clusters[k];
    }
    first += 1 + *std::ranges::max_element(clusters);
  }
  Clusters out;
  out.count = NumberByFirstNode(&of_nodes);
  for (const uint32_t cluster : of_nodes) out.of_nodes.push_back(static_cast<uint16_t>(cluster));
  return out;
}

double StraddlingShare(std::span<const TetNodes> tets, std::span<const uint16_t> of_nodes) {
  if (tets.empty() || of_nodes.empty()) return 0.0;
  const auto straddles = [&](const TetNodes& tet) {
    const uint16_t first = of_nodes[tet[0]];
    return std::ranges::any_of(tet, [&](uint32_t node) { return of_nodes[node] != first; });
  };
  return static_cast<double>(std::ranges::count_if(tets, straddles)) /
         static_cast<double>(tets.size());
}

}  // namespace plush::tools
