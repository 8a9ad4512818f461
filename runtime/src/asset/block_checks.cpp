// SPDX-License-Identifier: MIT
// Checks the tets' rest data by block. The step processes all tets of a block at once, so no two of
// them may share a node, and a place without a tet must add nothing.
#include "plush/format/tet_block.h"

#include "asset/asset_checks.h"
#include "asset/check_sink.h"

#include <algorithm>
#include <bitset>
#include <cmath>

namespace plush {
namespace {

// Number of slots marked at a time: 16 KiB of stack. Larger bodies take several passes.
constexpr size_t kMarkedSlots = size_t{1} << 17;

// Reports places that have neither four nodes nor four times the spare node. Returns whether there
// are none.
bool CheckIndices(const TetBlock& block, size_t first_slot, uint32_t num_nodes, CheckSink* sink) {
  const uint64_t before = sink->num_failures();
  const auto is_bad = [&](size_t lane) {
    uint32_t nodes = 0;
    uint32_t spares = 0;
    for (const auto& row : block.nodes) {
      nodes += static_cast<uint32_t>(row[lane] < num_nodes);
      spares += static_cast<uint32_t>(row[lane] == num_nodes);
    }
    return static_cast<uint32_t>(nodes != 4) & static_cast<uint32_t>(spares != 4);
  };
  ForEachBad(kBlockTets, *sink, is_bad, [&](size_t lane) {
    sink->Fail(CheckKind::kIndex, "simulation.blocks.nodes",
               "a node index is not below the number of nodes", first_slot + lane);
  });
  return sink->num_failures() == before;
}

// The first place whose tet has a node twice or shares one with another place, or kBlockTets.
// Compares all nodes with all others without a branch, which compiles to a vector loop.
size_t FindSharedNode(const TetBlock& block, uint32_t num_nodes) {
  const uint32_t* nodes = block.nodes[0];
  constexpr size_t kNodes = 4 * kBlockTets;
  size_t found = kBlockTets;
  for (size_t i = 0; i < kNodes; ++i) {
    uint32_t uses = 0;
    for (size_t k = 0; k < kNodes; ++k) uses += static_cast<uint32_t>(nodes[k] == nodes[i]);
    if (uses != 1 && nodes[i] != num_nodes) found = std::min(found, i % kBlockTets);
  }
  return found;
}

bool CheckBlockNodes(const AssetLayout& layout, CheckSink* sink) {
  const auto num_nodes = static_cast<uint32_t>(layout.simulation.nodes.size());
  const std::span<const TetBlock> blocks = layout.simulation.blocks;
  const uint64_t before = sink->num_failures();
  for (size_t b = 0; b < blocks.size() && !sink->stopped(); ++b) {
    const size_t first_slot = b * kBlockTets;
    if (!CheckIndices(blocks[b], first_slot, num_nodes, sink)) continue;
    if (const size_t lane = FindSharedNode(blocks[b], num_nodes); lane < kBlockTets) {
      sink->Fail(CheckKind::kOrder, "simulation.blocks.nodes", "the tets of a block share a node",
                 first_slot + lane);
    }
  }
  return sink->num_failures() == before;
}

// Every block must have a tet, and all together as many as the cage. Their indices must be sound.
void CheckFilling(const AssetLayout& layout, CheckSink* sink) {
  const auto num_nodes = static_cast<uint32_t>(layout.simulation.nodes.size());
  const std::span<const TetBlock> blocks = layout.simulation.blocks;
  size_t num_tets = 0;
  for (size_t b = 0; b < blocks.size() && !sink->stopped(); ++b) {
    const auto& nodes = blocks[b].nodes[0];
    const size_t count =
        kBlockTets - static_cast<size_t>(std::count(nodes, nodes + kBlockTets, num_nodes));
    if (count == 0) {
      sink->Fail(CheckKind::kCounts, "simulation.blocks", "the block has no tet", b);
    }
    num_tets += count;
  }
  if (num_tets != layout.simulation.tets.size() && !sink->stopped()) {
    sink->Fail(CheckKind::kCounts, "simulation.blocks", "not one place per tet", blocks.size());
  }
}

// Each slot must exist and have the nodes of its tet. Tets with wrong nodes have been reported
// before.
bool CheckSlots(const AssetLayout& layout, CheckSink* sink) {
  const char* section = "simulation.tet_slots";
  const SimulationView& s = layout.simulation;
  const size_t num_slots = s.blocks.size() * kBlockTets;
  const uint64_t before = sink->num_failures();
  for (size_t t = 0; t < s.tets.size() && !sink->stopped(); ++t) {
    if (s.tet_slots[t] >= num_slots) {
      sink->Fail(CheckKind::kIndex, section, "a slot is not below the number of places", t);
      continue;
    }
    const auto& nodes = s.BlockOf(t).nodes;
    const size_t lane = s.LaneOf(t);
    const Tet& tet = s.tets[t];
    if (!IsSound(tet, s.nodes.size())) continue;
    if (nodes[0][lane] != tet.a || nodes[1][lane] != tet.b || nodes[2][lane] != tet.c ||
        nodes[3][lane] != tet.d) {
      sink->Fail(CheckKind::kOrder, section, "the place has other nodes than the tet", t);
    }
  }
  return sink->num_failures() == before;
}

// No two tets may have the same slot. Marks a part of the slots at a time, without heap memory.
void CheckUses(const SimulationView& s, CheckSink* sink) {
  std::bitset<kMarkedSlots> marks;
  const size_t num_slots = s.blocks.size() * kBlockTets;
  for (size_t first = 0; first < num_slots && !sink->stopped(); first += kMarkedSlots) {
    marks.reset();
    for (size_t t = 0; t < s.tet_slots.size() && !sink->stopped(); ++t) {
      const size_t mark = size_t{s.tet_slots[t]} - first;
      if (mark >= kMarkedSlots) continue;  // wraps around if the slot is before `first`
      if (marks[mark]) {
        sink->Fail(CheckKind::kOrder, "simulation.tet_slots", "the place is that of another tet",
                   t);
      }
      marks[mark] = true;
    }
  }
}

// Checks one number in all places of a block. Places without a tet must hold zero.
template <class IsWrong>
void CheckRow(const TetBlock& block, const float (&row)[kBlockTets], uint32_t num_nodes,
              const char* section, size_t first_slot, CheckSink* sink, const IsWrong& is_wrong) {
  const auto is_bad = [&](size_t lane) {
    const auto is_empty = static_cast<uint32_t>(block.nodes[0][lane] == num_nodes);
    return (is_empty & static_cast<uint32_t>(!(row[lane] == 0.0f))) |
           ((1 - is_empty) & is_wrong(row[lane]));
  };
  ForEachBad(kBlockTets, *sink, is_bad, [&](size_t lane) {
    if (std::isfinite(row[lane]) && block.nodes[0][lane] == num_nodes) {
      sink->Fail(CheckKind::kRange, section, "a place without a tet is not zero",
                 first_slot + lane);
    } else {
      sink->FailNumber(row[lane], section, first_slot + lane);
    }
  });
}

void CheckBlockNumbers(const AssetLayout& layout, CheckSink* sink) {
  const auto num_nodes = static_cast<uint32_t>(layout.simulation.nodes.size());
  const std::span<const TetBlock> blocks = layout.simulation.blocks;
  for (size_t b = 0; b < blocks.size() && !sink->stopped(); ++b) {
    const TetBlock& block = blocks[b];
    const auto check = [&](const auto& row, const char* section, const auto& is_wrong) {
      CheckRow(block, row, num_nodes, section, b * kBlockTets, sink, is_wrong);
    };
    for (const auto& row : block.dm_inv) {
      check(row, "simulation.blocks.dm_inv",
            [](float entry) { return IsOutside(entry, -kMaxInverse, kMaxInverse); });
    }
    // The volume as SimulationView::Volume computes it.
    check(block.det_dm_inv, "simulation.blocks.det_dm_inv",
          [](float det) { return IsOutside(1.0f / (6.0f * det), kMinPositive, kMaxQuantity); });
    check(block.stiffness, "simulation.blocks.stiffness",
          [](float value) { return IsOutside(value, kMinPositive, kMaxQuantity); });
    check(block.bulk, "simulation.blocks.bulk",
          [](float value) { return IsOutside(value, 0.0f, kMaxQuantity); });
  }
}

}  // namespace

void CheckBlocks(const AssetLayout& layout, CheckSink* sink) {
  const bool nodes_are_sound = CheckBlockNodes(layout, sink);
  if (!sink->stopped()) CheckBlockNumbers(layout, sink);
  // CheckFilling needs sound nodes, and CheckUses needs slots that exist.
  if (sink->stopped() || !nodes_are_sound) return;
  CheckFilling(layout, sink);
  if (!sink->stopped() && CheckSlots(layout, sink)) CheckUses(layout.simulation, sink);
}

}  // namespace plush
