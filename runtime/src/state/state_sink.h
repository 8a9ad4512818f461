// SPDX-License-Identifier: MIT
// Where SaveState writes, and how bodies and crowds get there. Format: state_format.h.
#pragma once

#include "body/crowd.h"
#include "state/state_format.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace plush {

/// Counts bytes, and writes them if it has memory.
class StateSink {
 public:
  explicit StateSink(std::byte* out) : out_(out) {}

  void Write(const void* from, size_t bytes) {
    if (out_ != nullptr && bytes > 0) std::memcpy(out_ + size_, from, bytes);
    size_ += bytes;
  }
  template <class T>
  void Write(const T& value) {
    Write(&value, sizeof(T));
  }
  template <class T>
  void WriteAll(const Array<T>& values) {
    Write(values.data(), sizeof(T) * values.size());
  }
  /// Skips bytes that nothing is written to.
  void Skip(uint64_t bytes) { size_ += static_cast<size_t>(bytes); }
  /// Pads the section and adds it to the checksum while it is in the processor's cache.
  void End() {
    const size_t end = PaddedSize(size_);
    if (out_ != nullptr) {
      std::memset(out_ + size_, 0, end - size_);
      checksum_.Add({out_ + begin_, end - begin_});
    }
    size_ = begin_ = end;
  }
  /// Leaves out of the checksum what was written since the last section.
  void Exclude() { begin_ = size_; }

  bool writes() const { return out_ != nullptr; }
  size_t size() const { return size_; }
  uint64_t checksum() const { return checksum_.value(); }

 private:
  std::byte* out_;
  size_t size_ = 0;
  size_t begin_ = 0;  // of the section
  StateChecksum checksum_;
};

StateStats Saved(const StepStats& stats);
StateBody Saved(const Body& body, const StepStats& stats);
StateCrowd Saved(const Crowd& crowd);

/// Whether a body's rotations and multipliers are in its lane.
bool HasLanes(const Crowd& crowd);

/// Bytes of WriteBulk.
BodyLayout LayoutOf(const Body& body, const StateBody& saved);
/// Writes what a body has beside its record `saved`.
void WriteBulk(const Body& body, const StateBody& saved, StateSink* sink);

}  // namespace plush
