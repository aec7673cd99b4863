// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <fmt/core.h>

#include <bench/figures/baseline.hpp>
#include <bench/figures/process.hpp>

namespace cairn::bench {
namespace {

void run_cairn(const std::string& arguments) {
  static_cast<void>(
      json_lines_of(fmt::format("'{}/../bin/cairn' {} --quiet", program_folder(), arguments)));
}

}  // namespace

job_files::job_files(const tasks_job& job) {
  const std::string result = folder_ / "result.csv";
  run_cairn(fmt::format("generate --uniform {}:{} --seed {} '{}'", job.scale, job.edge_factor,
                        job.seed, graph()));
  std::string same;  // options of both programs
  if (job.searches()) {
    const auto source = source_of(job);
    run_cairn(fmt::format("bfs '{}' --source {} --output '{}'", graph(), source, result));
    same = fmt::format("--root {}", source);
  } else {
    same = fmt::format("--length {} --key {}", job.length, job.seed);
    run_cairn(fmt::format("walk '{}' {} --output '{}'", graph(), same, result));
  }
  options_ = fmt::format("--graph '{}' {} --expect '{}' --runs 3", graph(), same, result);
}

nlohmann::json measure_beside(harness& h, const tasks_job& job, const std::string& baseline,
                              const job_files& files, tasks_run& by_tasks) {
  auto own_job = job;
  own_job.which = job.own();
  tasks_run own;
  std::vector<subject> subjects;
  subjects.push_back(as_subject(job, by_tasks));
  subjects.push_back(as_subject(own_job, own));
  auto by_mpi = mpi_commands(baseline, job.ranks);
  for (auto& command : by_mpi) command += " " + files.options();
  if (const auto fastest = fastest_command(by_mpi); !fastest.empty()) {
    subjects.push_back(process(baseline, {{"ranks", job.ranks}, {"command", fastest}}, fastest));
  }
  std::vector<subject*> turns;
  for (auto& each : subjects) turns.push_back(&each);
  const auto times = h.measure_alternating(turns);
  nlohmann::json seconds{{"seconds", json_of(times[0].time)},
                         {"cairn_seconds", json_of(times[1].time)}};
  if (times.size() > 2) {
    seconds["mpi_seconds"] = json_of(times[2].time);
    seconds["mpi"] = json_of(ratio_of(times[2], times[0]));
    seconds["mpi_by_cairn"] = json_of(ratio_of(times[2], times[1]));
  }
  return seconds;
}

}  // namespace cairn::bench
