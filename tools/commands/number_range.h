// SPDX-License-Identifier: MIT
// Ranges of numeric options, said the same way in --help and in messages.
#pragma once

#include <CLI/CLI.hpp>

namespace plush::tools {

/// Which ends of a range are outside.
enum class OpenEnds { kNone, kLow, kHigh };

/// A check for options that take one number of [low, high], an open end excluded. Refuses what is
/// not a finite number. CLI11 puts the option's name before the message.
CLI::Validator NumberIn(double low, double high, OpenEnds open = OpenEnds::kNone);

}  // namespace plush::tools
