// SPDX-License-Identifier: MIT
#include "tools/commands/batch_run.h"

#include "skip.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

namespace plush::tests {

using nlohmann::json;

std::string BoxText(const std::string& name) {
  return "mtllib " + name +
         ".mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nusemtl skin\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 "
         "4\n";
}

bool HasNinja() {
  if (std::system("ninja --version >/dev/null 2>&1") == 0) return true;
  Skip("there is no ninja");
  return false;
}

Batch::Batch() {
  Write("models/crate.obj", BoxText("crate"));
  Write("models/crate.mtl", "newmtl skin\n");
  Write("models/props/Bob's & box $1.obj", BoxText("b"));
  Write("models/props/level.obj", BoxText("level"));
  WriteManifest(R"({"root": "models", "output": "out", "inputs": ["**/*.obj"], "options": [
      {"match": "**", "bake": {"tets": 30}},
      {"match": ["props/l*"], "bake": {"tets": null, "static": true}}]})");
}

void Batch::Write(const std::string& name, const std::string& text) const {
  std::filesystem::create_directories(std::filesystem::path(folder / name).parent_path());
  // Ninja compares times, and those of files have the ticks of a clock of up to 10 ms.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::ofstream(folder / name, std::ios::binary) << text;
}

PlushRun Batch::Run(std::vector<std::string> more, const std::string& prefix) const {
  std::vector<std::string> arguments = {"batch", manifest, "--json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return RunPlush(arguments, prefix);
}

std::string Batch::States(int exit_code, const std::vector<std::string>& more) const {
  const PlushRun run = Run(more);
  INFO(run.err);
  CHECK(run.exit_code == exit_code);
  const json report = json::parse(run.out, nullptr, false);
  REQUIRE(report.is_object());
  CHECK(report["exit_code"] == exit_code);
  std::string states;
  for (const json& asset : report["assets"]) {
    states += asset["input"].get<std::string>() + ":" + asset["state"].get<std::string>() + " ";
  }
  return states;
}

}  // namespace plush::tests
