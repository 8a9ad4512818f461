// SPDX-License-Identifier: MIT
// A sound file that a test damages in place, and the failures that the checks report.
#pragma once

#include "plush/asset.h"
#include "plush/format/asset_check.h"

#include "shapes/shape_asset.h"
#include "shapes/tet_shapes.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace plush::test {

struct Failure {
  CheckKind kind;
  std::string section;
  uint64_t index;
};

inline std::vector<Failure> Failures(std::span<const std::byte> bytes) {
  std::vector<Failure> failures;
  CheckAsset(bytes, &failures, [](void* user, CheckKind kind, const Status& status) {
    static_cast<std::vector<Failure>*>(user)->push_back({kind, status.section, status.index});
    return true;
  });
  return failures;
}

// A bar of 30 nodes with two materials, three clusters and a tuning.
inline tools::AssetContent BarContent() {
  tools::AssetContent content = TwoMaterialContentOf(TetBox(4, 2, 1, 0.1, 0.05));
  AddClusters(3, &content);
  content.tuning = {TunedSolver::kImplicit, 2, 12};
  return content;
}

// A sound file that a test damages in place.
class Subject {
 public:
  Subject() : Subject(tools::WriteAsset(BarContent()).value()) {}
  explicit Subject(std::span<const std::byte> bytes) : file_(bytes) {
    REQUIRE(asset_.Open(file_.bytes()).ok());
  }

  const Asset& asset() const { return asset_; }
  std::span<std::byte> bytes() { return file_.bytes(); }

  // Writes through a const view; the buffer belongs to this object.
  template <class T>
  T& At(std::span<const T> view, size_t index) {
    return const_cast<T&>(view[index]);
  }

  // Expects exactly this failure from CheckAsset, and the same from Open.
  void ExpectOnly(CheckKind kind, const std::string& section, uint64_t index) {
    const auto failures = Failures(file_.bytes());
    REQUIRE(failures.size() >= 1);
    CHECK(failures[0].kind == kind);
    CHECK(failures[0].section == section);
    CHECK(failures[0].index == index);
    CHECK(failures.size() == 1);
    Asset other;
    const Status status = other.Open(file_.bytes());
    CHECK(status.code == StatusCode::kCorrupt);
    CHECK(status.section == section);
    CHECK(status.index == index);
  }

  // Writes a wrong value over one in the file, expects this failure only, and puts the right one
  // back.
  template <class T>
  void Break(T& value, std::remove_const_t<T> wrong, CheckKind kind, const std::string& section,
             uint64_t index) {
    INFO(section << "[" << index << "]");
    auto& place = const_cast<std::remove_const_t<T>&>(value);
    std::swap(place, wrong);
    ExpectOnly(kind, section, index);
    std::swap(place, wrong);
  }

 private:
  ExactBuffer file_;
  Asset asset_;
};

}  // namespace plush::test
