// SPDX-License-Identifier: MIT
// Writes the surface as .smesh, runs the program `tetgen` on it, reads the tets that it wrote.
// Formats and switches: Hang Si. TetGen, a Delaunay-Based Quality Tetrahedral Mesh Generator. 2015.
#include "tetgen/tetgen_process.h"

#include "base/child_process.h"
#include "base/files.h"
#include "base/text.h"
#include "mesh/tet_source.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace plush::tools {
namespace {

// TetGen prints little. A program that prints more is not TetGen.
constexpr uint64_t kMaxOutputBytes = 16u << 20;

// A space, and the fewest digits that read back as the same double.
void AppendNumber(double number, std::string* text) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  *text += ' ';
  text->append(digits.data(), end.ptr);
}

// The surface in TetGen's format .smesh.
std::string SmeshText(const SolidSurface& surface) {
  std::vector<uint32_t> number(surface.points.size(), UINT32_MAX);
  std::string points;
  std::string faces;
  uint32_t num_points = 0;
  for (const auto& triangle : surface.triangles) {
    faces += '3';
    for (const uint32_t corner : triangle) {
      if (number[corner] == UINT32_MAX) {
        number[corner] = num_points++;
        const Vec3d& p = surface.points[corner];
        points += std::to_string(number[corner]);
        for (const double coordinate : {p.x, p.y, p.z}) AppendNumber(coordinate, &points);
        points += '\n';
      }
      faces += ' ' + std::to_string(number[corner]);
    }
    faces += '\n';
  }
  return std::to_string(num_points) + " 3 0 0\n" + points +
         std::to_string(surface.triangles.size()) + " 0\n" + faces + "0\n0\n";
}

// A number without an exponent, as TetGen's switches need it.
std::string Fixed(double number) {
  std::array<char, 400> digits;
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), number, std::chars_format::fixed);
  return {digits.data(), end.ptr};
}

// TetGen's switches. p: fill a closed surface; F, B: no faces and no markers in the output; Q:
// quiet; Y: do not split the surface's triangles; q: ratio; a: volume.
std::string Switches(const TetGenSettings& settings) {
  std::string switches = "-pFBQ";
  if (!settings.split_surface) switches += 'Y';
  if (settings.ratio > 0.0) switches += "q" + Fixed(settings.ratio);
  if (settings.max_volume_m3 > 0.0) switches += "a" + Fixed(settings.max_volume_m3);
  return switches;
}

Error Failure(const std::string& what) {
  return {ExitCode::kHelperDied, "tetgen " + what, "CAGE_TETGEN_FAILED"};
}

Error LimitReached(const std::string& what) {
  return {ExitCode::kLimit, "tetgen " + what, "CAGE_TETGEN_LIMIT"};
}

// `what`, with the last line that the program printed, if any.
std::string WithWords(const std::string& what, const ChildResult& child) {
  std::string words = LastLine(child.err);
  if (words.empty()) {
    words = LastLine({reinterpret_cast<const char*>(child.out.data()), child.out.size()});
  }
  return words.empty() ? what : what + ", saying '" + words + "'";
}

Result<Done> CheckEnd(const ChildResult& child, const TetGenSettings& settings) {
  switch (child.end) {
    case ChildEnd::kSignalled:
      return Failure(
          WithWords(std::string("crashed (") + ::strsignal(child.signal_number) + ")", child));
    case ChildEnd::kTimeLimit:
    case ChildEnd::kProcessorLimit:
      return LimitReached("was not done after " + RoundedText(settings.time_limit_s) + " s");
    case ChildEnd::kMemoryLimit:
      return LimitReached(
          "needs more than " +
          RoundedText(static_cast<double>(settings.memory_limit_bytes) / double(1ull << 30)) +
          " GiB of memory");
    case ChildEnd::kOutputLimit:
      return Failure("wrote more than 16 MiB of messages");
    case ChildEnd::kExited:
      break;
  }
  if (child.exit_code == 0) return Done{};
  return Failure(WithWords("ended with status " + std::to_string(child.exit_code), child));
}

Result<ChildResult> RunProgram(const TetGenSettings& settings, const std::string& input) {
  const std::string program = FindProgram(settings.program);
  if (program.empty()) {
    const bool is_path = settings.program.find('/') != std::string::npos;
    return Error{ExitCode::kHelperDied,
                 "'" + settings.program + "' is " +
                     (is_path ? "no program that may be run" : "no program in PATH"),
                 "CAGE_TETGEN_MISSING"};
  }
  ChildLimits limits;
  limits.time_s = settings.time_limit_s;
  limits.memory_bytes = settings.memory_limit_bytes;
  // With a limit on address space, TetGen would crash silently and the error could not say why.
  limits.memory_limit = MemoryLimit::kResident;
  limits.output_bytes = kMaxOutputBytes;
  Result<ChildResult> child = RunChild({program, Switches(settings), input}, limits);
  if (child.ok()) return child;
  return Error{ExitCode::kHelperDied, child.error().message, "CAGE_TETGEN_MISSING"};
}

// Reads the tets that TetGen wrote. On an open surface it writes none but claims success.
Result<TetSource> ReadOutput(const ScratchFolder& folder) {
  const auto nodes = ReadFile(folder / "surface.1.node", kMaxTetFileBytes);
  const auto tets = ReadFile(folder / "surface.1.ele", kMaxTetFileBytes);
  for (const auto* file : {&nodes, &tets}) {
    if (file->ok()) continue;
    if (file->error().exit_code == ExitCode::kLimit) {
      return LimitReached("wrote a file of more than 1 GiB");
    }
    return Failure("claims success but wrote no tets");
  }
  const auto text = [](const std::vector<std::byte>& bytes) {
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  Result<TetSource> source = ParseTetGenText({"surface.1.node", text(nodes.value())},
                                             {"surface.1.ele", text(tets.value())});
  if (!source.ok()) return Failure("wrote a broken file: " + source.error().message);
  return source;
}

}  // namespace

Result<TetSource> RunTetGen(const SolidSurface& surface, const TetGenSettings& settings) {
  const auto folder = ScratchFolder::Create();
  if (!folder.ok()) return folder.error();
  const std::string input = *folder.value() / "surface.smesh";
  const std::string text = SmeshText(surface);
  if (auto done = WriteFileAtomically(input, std::as_bytes(std::span(text))); !done.ok()) {
    return done.error();
  }
  const Result<ChildResult> child = RunProgram(settings, input);
  if (!child.ok()) return child.error();
  if (auto done = CheckEnd(child.value(), settings); !done.ok()) return done.error();
  return ReadOutput(*folder.value());
}

}  // namespace plush::tools
