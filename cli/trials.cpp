// SPDX-License-Identifier: Apache-2.0
#include "cli/trials.hpp"

#include <fmt/format.h>

namespace cairn::cli {

void add_trials(CLI::App& command, trial_options& t, common& c, const std::string& checks,
                bool has_output) {
  add_input(command, t.in);
  command.add_option("--trials,-n", t.trials, "Runs")->check(CLI::PositiveNumber);
  command.add_flag("--verify,-v", t.verify, checks);
  if (has_output) {
    command.add_option("--output", t.output, "Write one row per vertex: .csv .tsv .npy, also .gz");
  }
  add_common(command, c);
}

activity::options activity_of(const common& c) {
  return {.how = activity::parse_mechanism(c.settings.mechanism),
          .grain = c.settings.grain,
          .sent_filter = c.settings.filter_entries != 0,
          .retry = tm::parse_retry(c.settings.retry)};
}

int finish(world& w, const trial_options& t, report& r, const std::string& broken) {
  const json& last = r["result"]["trials"].back();
  r.line("mechanism", fmt::format("{}, grain {}", last["mechanism"].get<std::string>(),
                                  last["grain"].get<std::uint64_t>()));
  say_chosen(r);
  r.line("ranks", fmt::format("{} x {} workers", w.size(), w.workers()));
  r.line("time", fmt::format("{} (median of {})",
                             human_seconds(median(r["seconds"]["run"].get<std::vector<double>>())),
                             t.trials));
  if (t.verify) r.line("verified", broken.empty() ? "yes" : "NO: " + broken);
  r.print(w);
  if (!broken.empty() && w.rank() == 0) say("verification failed: " + broken);
  return broken.empty() ? 0 : 1;
}

}  // namespace cairn::cli
