// SPDX-License-Identifier: MIT
#include "tools/paths.h"

namespace plush::tests {

const char* const kPlushProgram = PLUSH_EXECUTABLE;
const char* const kImportProgram = PLUSH_IMPORT_EXECUTABLE;
const char* const kSamplesFolder = PLUSH_SAMPLES_DIR;

}  // namespace plush::tests
