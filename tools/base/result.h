// SPDX-License-Identifier: MIT
// A value, or why there is none.
#pragma once

#include "base/exit_code.h"

#include <string>
#include <utility>
#include <variant>

namespace plush::tools {

/// Why a call failed: the exit code it leads to, one line of text with place, number and remedy,
/// and the finding code that describes it ("" where a finding would add nothing).
struct Error {
  ExitCode exit_code = ExitCode::kInternal;
  std::string message;
  std::string finding_code;  ///< a name of finding_codes.h, or empty

  /// The same error with "context: " before its message.
  Error WithContext(const std::string& context) const {
    return {exit_code, context + ": " + message, finding_code};
  }
};

/// Holds a T or an Error. T must not be Error.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  bool ok() const { return state_.index() == 0; }
  /// The value; only where ok().
  T& value() { return std::get<0>(state_); }
  const T& value() const { return std::get<0>(state_); }
  /// The error; only where !ok().
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

/// What a call without a value returns.
struct Done {};

}  // namespace plush::tools
