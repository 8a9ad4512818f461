// SPDX-License-Identifier: MIT
// The executable `plush-import FILE [--keep-axes]`: reads one file and writes it to stdout as the
// stream of raw_scene_stream.h. It runs as a child of `plush` and may crash, hang or run out of
// memory; its exit codes are those of HelperExit.

#include "import/assimp_scene.h"
#include "import/gltf_document.h"
#include "import/raw_scene_stream.h"

#include <unistd.h>

#include <cstdio>
#include <exception>
#include <new>
#include <string>

#if defined(__SANITIZE_ADDRESS__)
// A fault found is a crash like any other; Assimp's own leaks are none of our business.
extern "C" const char* __asan_default_options() {
  return "abort_on_error=1:detect_leaks=0:handle_segv=0:handle_abort=0";
}
#endif

namespace {

using plush::tools::ExitCode;
using plush::tools::HelperExit;

int Exit(HelperExit code) { return static_cast<int>(code); }

HelperExit ExitOf(const plush::tools::Error& error) {
  switch (error.exit_code) {
    case ExitCode::kUnsupported:
      return HelperExit::kUnsupported;
    case ExitCode::kIo:
      return HelperExit::kUnreadable;
    default:
      return HelperExit::kRefused;
  }
}

int Import(const std::string& path, bool keep_axes, std::FILE* out) {
  auto scene = plush::tools::ReadWithAssimp(path, keep_axes);
  if (!scene.ok()) {
    std::fprintf(stderr, "%s\n", scene.error().message.c_str());
    return Exit(ExitOf(scene.error()));
  }
  if (scene.value().format == "glTF2") plush::tools::AddGltfSideData(path, &scene.value());
  return plush::tools::WriteRawScene(scene.value(), out) ? 0 : Exit(HelperExit::kUnreadable);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3 || (argc == 3 && std::string(argv[2]) != "--keep-axes")) {
    std::fprintf(stderr, "usage: plush-import FILE [--keep-axes]\n");
    return 1;
  }
  // An allocation that fails means the memory limit, whoever asked for it.
  std::set_new_handler([] { ::_exit(Exit(HelperExit::kOutOfMemory)); });
  // Whatever an importer prints must not get into the stream.
  std::FILE* out = ::fdopen(::dup(STDOUT_FILENO), "wb");
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  if (out == nullptr) return Exit(HelperExit::kUnreadable);
  try {
    return Import(argv[1], argc == 3, out);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return Exit(HelperExit::kRefused);
  }
}
