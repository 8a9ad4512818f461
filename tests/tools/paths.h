// SPDX-License-Identifier: MIT
// Where the programs and files lie that tests run and read.
#pragma once

namespace plush::tests {

extern const char* const kPlushProgram;
extern const char* const kImportProgram;
extern const char* const kSamplesFolder;

}  // namespace plush::tests
