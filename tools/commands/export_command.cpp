// SPDX-License-Identifier: MIT
// `plush export`: writes the cage of a .plush file in formats that mesh tools read.
// tools/README.md lists the formats and what each holds.

#include "plush/asset.h"
#include "plush/format/tet_block.h"
#include "plush/version.h"

#include "base/files.h"
#include "commands/commands.h"
#include "commands/options.h"
#include "commands/output.h"
#include "export/cage_exports.h"
#include "import/tet_files.h"
#include "simulate/open_asset.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

namespace plush::tools {
namespace {

constexpr char kExportVerb[] = "export";

enum class Format { kByExtension, kNode, kMsh, kVtu, kObj, kUsd, kUsdOmni };

constexpr NamedValue<Format> kFormats[] = {{"auto", Format::kByExtension}, {"node", Format::kNode},
                                           {"msh", Format::kMsh},          {"vtu", Format::kVtu},
                                           {"obj", Format::kObj},          {"usda", Format::kUsd},
                                           {"usda-omni", Format::kUsdOmni}};

struct ExportOptions {
  std::string file;
  std::string output_path;
  Format format = Format::kByExtension;
  OutputOptions output;
};

struct TextFile {
  std::string path;
  std::string text;
};

struct ExportRun {
  Format format = Format::kByExtension;
  std::vector<TextFile> files;
  size_t nodes = 0;
  size_t tets = 0;
};

Result<Format> ChooseFormat(const ExportOptions& options) {
  if (options.format != Format::kByExtension) return options.format;
  if (HasEnding(options.output_path, ".ele")) return Format::kNode;
  for (const NamedValue<Format>& format : std::span(kFormats).subspan(1)) {
    if (HasEnding(options.output_path, std::string(".") + format.name)) return format.value;
  }
  return Error{ExitCode::kUnsupported,
               "'" + options.output_path +
                   "': no format has this extension; name it .node, .msh, .vtu, .obj or .usda, or "
                   "give --to",
               ""};
}

// The files to write, still empty: two for TetGen.
std::vector<TextFile> FilesFor(Format format, const std::string& path) {
  if (format != Format::kNode) return {{path, ""}};
  const bool has_stem = HasEnding(path, ".node") || HasEnding(path, ".ele");
  const std::string stem = has_stem ? path.substr(0, path.rfind('.')) : path;
  return {{stem + ".node", ""}, {stem + ".ele", ""}};
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
  } else if (format == Format::kUsd || format == Format::kUsdOmni) {
    (*files)[0].text =
        UsdTextOf(cage, format == Format::kUsd ? UsdSpelling::kDraft : UsdSpelling::kOmni);
  } else {
    (*files)[0].text = format == Format::kMsh ? GmshTextOf(cage) : CageObjTextOf(cage);
  }
  return Done{};
}

Result<ExportRun> Export(const ExportOptions& options) {
  const Result<Format> format = ChooseFormat(options);
  if (!format.ok()) return format.error();
  ExportRun run;
  run.format = format.value();
  run.files = FilesFor(run.format, options.output_path);
  const std::string second = run.files.size() > 1 ? run.files.back().path : "";
  auto writable =
      CheckOutputs({run.files.front().path, second, options.output.report}, {options.file});
  if (!writable.ok()) return writable.error();
  const Result<Asset> opened = OpenBody(options.file);
  if (!opened.ok()) return opened.error();
  const Asset& asset = opened.value();
  run.nodes = asset.simulation().nodes.size();
  run.tets = asset.simulation().tets.size();
  if (auto made = MakeTexts(MeasureCage(asset), run.format, &run.files); !made.ok()) {
    return made.error().WithContext(options.file);
  }
  std::vector<FileContent> contents;
  for (const TextFile& file : run.files) {
    contents.push_back({file.path, std::as_bytes(std::span(file.text))});
  }
  if (auto written = WriteFilesAtomically(contents); !written.ok()) return written.error();
  return run;
}

nlohmann::json DocumentOf(const ExportOptions& options, const Result<ExportRun>& run) {
  nlohmann::json document = {{"tool_version", kVersionString}, {"file", options.file}};
  if (!run.ok()) return document;
  nlohmann::json files = nlohmann::json::array();
  for (const TextFile& file : run.value().files) {
    files.push_back({{"path", file.path}, {"bytes", file.text.size()}});
  }
  document["format"] = NameOf<Format>(kFormats, run.value().format);
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
  return FinishRun(kExportVerb, options.file, options.output, {}, run.ok() ? nullptr : &run.error(),
                   DocumentOf(options, run));
}

}  // namespace

void AddExportCommand(CLI::App* app, int* exit_code) {
  const auto options = std::make_shared<ExportOptions>();
  CLI::App* verb = app->add_subcommand(
      kExportVerb,
      "Writes the cage of a .plush file, with the quality of its tets, for mesh tools.");
  verb->add_option("file", options->file, "the .plush file")->required()->type_name("FILE.plush");
  verb->add_option("-o,--output", options->output_path,
                   "file to write; with --to node, NAME.node and NAME.ele")
      ->required()
      ->type_name("PATH");
  OptionGroup(verb, "Format")
      .Choice<Format>("--to", kFormats, &options->format, "FORMAT",
                      "node (TetGen), msh (Gmsh 2.2), vtu (ParaView), obj (the cage's surface), "
                      "usda (USD: Newton), usda-omni (USD: Isaac Sim) or "
                      "auto: by the extension of PATH");
  AddOutputOptions(verb, &options->output);
  verb->callback([options, exit_code] { *exit_code = RunExport(*options); });
}

}  // namespace plush::tools
