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

struct output {
  std::vector<json> lines;
  bool wrong = false;  // says a line
};

output output_of(const std::string& command) {
  std::FILE* const out = popen(command.c_str(), "r");
  if (out == nullptr) throw failed_process(command + ": cannot be started");
  std::string text;
  std::array<char, 4096> part{};
  for (std::size_t n = 0; (n = std::fread(part.data(), 1, part.size(), out)) > 0;) {
    text.append(part.data(), n);
  }
  const bool ended = pclose(out) == 0;
  output printed;
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) {
    if (line.empty() || line.front() != '{') continue;
    auto object = json::parse(line, nullptr, ended);
    if (object.is_discarded()) break;  // the process ended in the middle of the line
    printed.wrong = printed.wrong || object.value("verified", json()) == false;
    printed.lines.push_back(std::move(object));
  }
  if (!ended && !printed.wrong) throw failed_process(command + ": failed");
  return printed;
}

/// Of one run: `seconds` is a number per line, or a list in the object of a `cairn` command.
std::vector<double> seconds_in(const json& line) {
  const auto& s = line.at("seconds");
  if (s.is_number()) return {s.get<double>()};
  return s.at("run").get<std::vector<double>>();
}

struct outcome {
  std::vector<double> seconds;
  bool verified = true;
};

outcome outcome_of(const std::string& command) {
  const auto printed = output_of(command);
  outcome o;
  for (const auto& line : printed.lines) {
    for (const auto s : seconds_in(line)) o.seconds.push_back(s);
    o.verified = o.verified && line.at("verified") == true;
  }
  return o;
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
  auto printed = output_of(command);
  if (printed.wrong) throw wrong_result(command + ": its result is wrong");
  return std::move(printed.lines);
}

std::string fastest_command(const std::vector<std::string>& commands) {
  const std::size_t runs = commands.size() > 1 ? 3 : 1;
  std::vector<std::vector<double>> seconds(commands.size());
  for (std::size_t run = 0; run < runs; ++run) {
    for (std::size_t i = 0; i < commands.size(); ++i) {
      if (seconds[i].size() < run) continue;  // left out
      try {
        const auto ran = outcome_of(commands[i]);
        if (!ran.verified) throw wrong_result(commands[i] + ": its result is wrong");
        if (ran.seconds.empty()) throw failed_process(commands[i] + " printed no time");
        seconds[i].push_back(summarise(ran.seconds).median);
      } catch (const failed_process& failure) {  // as Open MPI 4.1 may do with one-sided atomics
        fmt::print(stderr, "left out: {}\n", failure.what());
      }
    }
  }
  std::string best;
  double least = 0;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (seconds[i].size() < runs) continue;
    const auto median = summarise(seconds[i]).median;
    if (best.empty() || median < least) best = commands[i], least = median;
  }
  return best;
}

subject process(const std::string& name, json settings, const std::string& command) {
  kernel<int, outcome> kern;
  kern.name = name;
  kern.settings = std::move(settings);
  kern.make_input = [] { return 0; };
  kern.run = [command](int&) { return outcome_of(command); };
  kern.verify = [](const int&, const outcome& o) -> std::string {
    if (o.seconds.empty()) return "printed no time";
    return o.verified ? "" : "its result is wrong";
  };
  kern.seconds = [](const outcome& o) { return summarise(o.seconds).median; };
  return subject(std::move(kern));
}

}  // namespace cairn::bench
