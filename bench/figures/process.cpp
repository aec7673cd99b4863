// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <utility>

#include <fmt/core.h>

#include <bench/figures/process.hpp>

namespace cairn::bench {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

bool on_path(const std::string& program) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (fs::exists(fs::path(folder) / program)) return true;
  }
  return false;
}

/// Of one run: `seconds` is a number per line, or a list in the object of a `cairn` command.
std::vector<double> seconds_in(const json& line) {
  const auto& s = line.at("seconds");
  if (s.is_number()) return {s.get<double>()};
  return s.at("run").get<std::vector<double>>();
}

}  // namespace

std::string program_folder() { return fs::read_symlink("/proc/self/exe").parent_path().string(); }

std::vector<std::string> mpi_commands(const std::string& name, int ranks) {
  std::vector<std::string> found;
  for (const std::string mpi : {"mpich", "openmpi"}) {
    const auto program = fs::path(program_folder()) / fmt::format("{}_{}", name, mpi);
    const auto starter = fmt::format("mpiexec.{}", mpi);
    if (!fs::exists(program) || !on_path(starter)) continue;
    const auto* const more_than_cores = mpi == "openmpi" ? " --oversubscribe" : "";
    found.push_back(
        fmt::format("{}{} -n {} '{}'", starter, more_than_cores, ranks, program.string()));
  }
  return found;
}

std::vector<json> json_lines_of(const std::string& command) {
  std::FILE* const out = popen(command.c_str(), "r");
  if (out == nullptr) throw wrong_result(command + ": cannot be started");
  std::string text;
  std::array<char, 4096> part{};
  for (std::size_t n = 0; (n = std::fread(part.data(), 1, part.size(), out)) > 0;) {
    text.append(part.data(), n);
  }
  if (pclose(out) != 0) throw wrong_result(command + ": failed");
  std::vector<json> lines;
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) {
    if (!line.empty() && line.front() == '{') lines.push_back(json::parse(line));
  }
  return lines;
}

subject process(const std::string& name, json settings, const std::string& command) {
  struct outcome {
    std::vector<double> seconds;
    bool verified = true;
  };
  kernel<int, outcome> kern;
  kern.name = name;
  kern.settings = std::move(settings);
  kern.make_input = [] { return 0; };
  kern.run = [command](int&) {
    outcome o;
    for (const auto& line : json_lines_of(command)) {
      for (const auto s : seconds_in(line)) o.seconds.push_back(s);
      o.verified = o.verified && line.at("verified") == true;
    }
    return o;
  };
  kern.verify = [](const int&, const outcome& o) -> std::string {
    if (o.seconds.empty()) return "printed no time";
    return o.verified ? "" : "its result is wrong";
  };
  kern.seconds = [](const outcome& o) { return summarise(o.seconds).median; };
  return subject(std::move(kern));
}

}  // namespace cairn::bench
