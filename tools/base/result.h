// SPDX-License-Identifier: MIT
// A value, or the reason why there is none; and the exit codes of `plush`.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace plush::tools {

/// The exit codes that every verb of `plush` promises.
enum class ExitCode : int {
  kOk = 0,            ///< done; warnings are allowed
  kUsage = 1,         ///< command line or configuration
  kIo = 2,            ///< cannot read or write
  kInvalidInput = 3,  ///< the input has an error finding
  kGateFailed = 4,    ///< -W with warnings, or a quality gate
  kUnsupported = 5,   ///< version, feature or file type
  kLimit = 6,         ///< time, memory or size limit reached
  kHelperDied = 7,    ///< a helper process crashed
  kInternal = 70,     ///< a bug of ours
};

struct Error {
  ExitCode exit_code = ExitCode::kInternal;
  std::string message;            ///< one line with place, number and remedy
  std::string finding_code = {};  ///< the finding that describes the error, or empty

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
  /// The value; call only if ok().
  T& value() { return std::get<0>(state_); }
  const T& value() const { return std::get<0>(state_); }
  /// The error; call only if !ok().
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

/// What a call without a value returns.
struct Done {};

}  // namespace plush::tools
