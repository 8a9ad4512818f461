// SPDX-License-Identifier: MIT
// Files with one broken field, and the validator's findings.
#pragma once

#include "plush/asset.h"

#include "base/finding.h"

#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace plush::tests {

/// A mutable element of a view of a file that the test owns.
template <class T>
T& At(std::span<const T> view, size_t index) {
  return const_cast<T&>(view[index]);
}

/// Code and message of each finding, one per line.
std::string Text(const tools::FindingList& findings);

/// Breaks a copy of a sound file in place, repairs the content hash, and returns the findings of
/// ValidateAsset.
tools::FindingList FindingsAfter(std::span<const std::byte> sound,
                                 const std::function<void(const Asset&)>& damage);

}  // namespace plush::tests
