// SPDX-License-Identifier: MIT
// `plush export`: the cage of a .plush file in formats that mesh tools read.
#include "plush/asset.h"
#include "plush/format/tet_block.h"
#include "plush/version.h"

#include "base/aligned_bytes.h"
#include "base/files.h"
#include "commands/choice_option.h"
#include "commands/commands.h"
#include "commands/open_file.h"
#include "commands/output.h"
#include "export/cage_obj_export.h"
#include "export/cage_table.h"
#include "export/gmsh_export.h"
#include "export/tetgen_export.h"
#include "export/vtu_export.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

namespace plush::tools {
namespace {

constexpr char kVerb[] = "export";

enum class Format { kByExtension, kNode, kMsh, kVtu, kObj };

struct ExportOptions {
  std::string file;
  std::string output_path;
  Format format = Format::kByExtension;
  OutputOptions output;
};

// A file to write.
struct TextFile {
  std::string path;
  std::string text;
};

// What the verb has done.
struct ExportRun {
  Format format = Format::kByExtension;
  std::vector<TextFile> files;
  size_t nodes = 0;
  size_t tets = 0;
};

const char* FormatName(Format format) {
  constexpr std::array<const char*, 5> kNames = {"auto", "node", "msh", "vtu", "obj"};
  return kNames[static_cast<size_t>(format)];
}

std::string Extension(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return extension;
}

Result<Format> ChooseFormat(const ExportOptions& options) {
  if (options.format != Format::kByExtension) return options.format;
  const std::string extension = Extension(options.output_path);
  if (extension == ".node" || extension == ".ele") return Format::kNode;
  if (extension == ".msh") return Format::kMsh;
  if (extension == ".vtu") return Format::kVtu;
  if (extension == ".obj") return Format::kObj;
  return Error{ExitCode::kUnsupported,
               "'" + options.output_path +
                   "': no format goes by this extension; name it .node, .msh, .vtu or .obj, or "
                   "give --to",
               ""};
}

// Names of the files to write: TetGen's come in pairs.
std::vector<TextFile> FilesFor(Format format, const std::string& path) {
  if (format != Format::kNode) return {{path, ""}};
  const std::string extension = Extension(path);
  const bool has_stem = extension == ".node" || extension == ".ele";
  const std::string stem = has_stem ? path.substr(0, path.size() - extension.size()) : path;
  return {{stem + ".node", ""}, {stem + ".ele", ""}};
}

// Everything that can be refused before any work.
Result<Done> CheckPaths(const ExportOptions& options, const std::vector<TextFile>& files) {
  std::error_code ignored;
  for (const TextFile& file : files) {
    if (std::filesystem::equivalent(file.path, options.file, ignored)) {
      return Error{ExitCode::kUsage, "'" + file.path + "' would overwrite the file to export", ""};
    }
    if (auto writable = CheckWritable(file.path); !writable.ok()) return writable;
  }
  return options.output.report.empty() ? Done{} : CheckWritable(options.output.report);
}

Result<Done> MakeTexts(const CageTable& cage, Format format, std::vector<TextFile>* files) {
  if (format == Format::kNode) {
    TetGenText text = TetGenTextOf(cage);
    (*files)[0].text = std::move(text.node);
    (*files)[1].text = std::move(text.ele);
  } else if (format == Format::kVtu) {
    Result<std::string> text = VtuTextOf(cage);
    if (!text.ok()) return text.error();
    (*files)[0].text = std::move(text.value());
  } else {
    (*files)[0].text = format == Format::kMsh ? GmshTextOf(cage) : CageObjTextOf(cage);
  }
  return Done{};
}

Result<Done> WriteTexts(const std::vector<TextFile>& files) {
  std::vector<FileContent> contents;
  for (const TextFile& file : files) {
    contents.push_back({file.path, std::as_bytes(std::span(file.text))});
  }
  return WriteFilesAtomically(contents);
}

Result<ExportRun> Export(const ExportOptions& options) {
  const Result<Format> format = ChooseFormat(options);
  if (!format.ok()) return format.error();
  ExportRun run;
  run.format = format.value();
  run.files = FilesFor(run.format, options.output_path);
  if (auto good = CheckPaths(options, run.files); !good.ok()) return good.error();
  const auto bytes = ReadAssetFile(options.file);
  if (!bytes.ok()) return bytes.error();
  const AlignedBytes aligned(bytes.value());
  Asset asset;
  const Status status = asset.Open(aligned.bytes());
  if (!status.ok()) return OpenError(options.file, status);
  run.nodes = asset.simulation().nodes.size();
  run.tets = asset.simulation().tets.size();
  if (auto made = MakeTexts(MeasureCage(asset), run.format, &run.files); !made.ok()) {
    return made.error().WithContext(options.file);
  }
  if (auto written = WriteTexts(run.files); !written.ok()) return written.error();
  return run;
}

nlohmann::json DocumentOf(const ExportOptions& options, const Result<ExportRun>& run) {
  nlohmann::json document = {{"tool_version", kVersionString}, {"file", options.file}};
  if (!run.ok()) return document;
  nlohmann::json files = nlohmann::json::array();
  for (const TextFile& file : run.value().files) {
    files.push_back({{"path", file.path}, {"bytes", file.text.size()}});
  }
  document["format"] = FormatName(run.value().format);
  document["files"] = files;
  document["nodes"] = run.value().nodes;
  document["tets"] = run.value().tets;
  return document;
}

int RunExport(const ExportOptions& options) {
  const Result<ExportRun> run = Export(options);
  if (run.ok() && !options.output.quiet) {
    for (const TextFile& file : run.value().files) {
      std::fprintf(stderr, "plush export: %s: %zu tets, %zu nodes, %zu bytes\n", file.path.c_str(),
                   run.value().tets, run.value().nodes, file.text.size());
    }
  }
  return FinishRun(kVerb, options.file, options.output, {}, run.ok() ? nullptr : &run.error(),
                   DocumentOf(options, run));
}

}  // namespace

void AddExportCommand(CLI::App* app, int* exit_code) {
  const auto options = std::make_shared<ExportOptions>();
  CLI::App* verb = app->add_subcommand(
      kVerb, "Writes the cage of a .plush file, with the quality of its tets, for mesh tools.");
  verb->add_option("file", options->file, "the .plush file")->required()->type_name("FILE.plush");
  verb->add_option("-o,--output", options->output_path,
                   "file to write; of node, both NAME.node and NAME.ele")
      ->required()
      ->type_name("PATH");
  AddChoice<Format>(verb, "--to",
                    {{"auto", Format::kByExtension},
                     {"node", Format::kNode},
                     {"msh", Format::kMsh},
                     {"vtu", Format::kVtu},
                     {"obj", Format::kObj}},
                    &options->format,
                    "node (TetGen), msh (Gmsh 2.2), vtu (ParaView), obj (the cage's surface) or "
                    "auto: what the extension of PATH says")
      ->type_name("FORMAT");
  AddOutputOptions(verb, &options->output);
  verb->callback([options, exit_code] { *exit_code = RunExport(*options); });
}

}  // namespace plush::tools
