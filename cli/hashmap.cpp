// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include <cairn/algo/hash_map_access.hpp>
#include <cairn/base/error.hpp>
#include <cairn/graph/memory.hpp>

#include "cli/facts.hpp"
#include "cli/input.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/trace.hpp"

namespace cairn::cli {
namespace {

constexpr std::uint64_t max_strings = std::uint64_t{1} << 40;

struct hashmap_command {
  std::string file;  // empty: generated strings
  std::optional<std::uint64_t> strings, entries, seed;
  std::uint64_t tasks = 4096, steps = 256;
  int trials = 1;
  bool verify = false;

  [[nodiscard]] std::string name() const {
    return file.empty() ? "generated" : std::filesystem::path(file).filename().string();
  }
};

// The strings of all runs of a process. In a simulated cluster all ranks share them.
class pool_keeper {
 public:
  pool_keeper(const hashmap_command& cmd, const common& c) : cmd_(cmd), c_(c) {}

  /// Reads or generates them at the first call. Collective.
  const algo::string_pool& get(world& w) {
    const bool one_process = !c_.settings.sim.empty();
    progress bar(!c_.quiet && w.rank() == 0, cmd_.name());
    w.agree([&] {
      if (pool_ || (one_process && w.rank() != 0)) return;
      if (cmd_.file.empty()) {
        pool_.emplace(algo::string_pool::generated{.size = cmd_.strings.value_or(1'000'000),
                                                   .seed = cmd_.seed.value_or(1)});
      } else {
        read(w, bar);
      }
    });
    return *pool_;
  }
  [[nodiscard]] std::uint64_t cut() const noexcept { return cut_; }

 private:
  void read(world& w, progress& bar) {
    auto found =
        algo::read_words(w, cmd_.file, [&](auto done, auto all) { bar.at("loading ", done, all); });
    const auto all = found.words.size(), wanted = cmd_.strings.value_or(all);
    if (wanted > all) {
      throw usage_error(
          fmt::format("--strings {} is more than the {} words of {}", wanted, all, cmd_.name()));
    }
    found.words.resize(wanted);
    cut_ = found.cut;
    pool_.emplace(std::move(found.words));
  }

  const hashmap_command& cmd_;
  const common& c_;
  std::optional<algo::string_pool> pool_;
  std::uint64_t cut_ = 0;
};

void expect_options(const hashmap_command& cmd, const common& c) {
  if (cmd.seed && !cmd.file.empty()) {
    throw usage_error("--seed has no effect here: the strings are those of a file");
  }
  if (uint128_t{cmd.tasks} * cmd.steps >> 63 != 0) {
    throw usage_error(
        fmt::format("--tasks {} times --steps {} is not below 2^63", cmd.tasks, cmd.steps));
  }
  expect_trace(c, {cmd.file});
}

algo::hash_map_access_options options_of(const hashmap_command& cmd, const common& c,
                                         const algo::string_pool& pool) {
  const auto entries = cmd.entries.value_or(std::max<std::uint64_t>(1, pool.size() / 10));
  if (entries > pool.size()) {
    throw usage_error(
        fmt::format("--entries {} is more than the {} strings of the pool", entries, pool.size()));
  }
  algo::hash_map_access_options opt{.tasks = cmd.tasks, .steps = cmd.steps, .entries = entries};
  if (c.settings.loop_tasks != 0) opt.max_live = c.settings.loop_tasks;
  return opt;
}

// The map may double its entries, because it may finally contain the reverse of each entry.
void expect_memory(world& w, const hashmap_command& cmd, const algo::hash_map_access_options& opt) {
  const auto max_entries = opt.entries + std::min(opt.entries, opt.tasks * opt.steps);
  const auto ranks = static_cast<std::uint64_t>(w.size());
  const auto replay = cmd.verify ? 64 * max_entries / ranks : 0;  // only one rank has it
  graph::expect_memory_for(w, algo::string_map::bytes(max_entries, w.size()) + replay,
                           fmt::format("a hash map of {} entries", opt.entries));
}

struct trial_result {
  algo::hash_map_access_totals totals;
  std::uint64_t before, after, checksum;  // of entries
  double seconds, build_seconds;
  std::string broken;
};

trial_result run_trial(world& w, const hashmap_command& cmd, const common& c,
                       const algo::string_pool& pool, algo::hash_map_access_options opt, int trial,
                       phase_counts& counts, recording& rec) {
  const auto since = [&](auto start) {
    w.barrier();
    return static_cast<double>(w.clock().now_ns() - start) * 1e-9;
  };
  trial_result t{};
  progress bar(!c.quiet && w.rank() == 0, "hashmap");
  bar.at("filling ", 0, 0);
  w.barrier();
  const auto begin = w.clock().now_ns();
  algo::string_map map(w, {.entries = opt.entries});
  algo::populate(w, pool, map, opt);
  t.build_seconds = since(begin);
  t.before = map.size();
  opt.progress = [&](auto done, auto all) { bar.at("", done, all); };
  w.barrier();
  counts.end(phase_counts::load_and_verify);
  {
    const recording::part part(rec, "trial", static_cast<std::uint32_t>(trial));
    const auto start = w.clock().now_ns();
    t.totals = algo::access_hash_map(w, pool, map, opt);
    t.seconds = since(start);
  }
  counts.end(phase_counts::run);
  t.after = map.size();
  t.checksum = algo::checksum_of(w, map);
  if (cmd.verify) {
    bar.at("verifying ", 0, 0);
    t.broken = algo::verify_hash_map_access(w, pool, map, opt, t.totals).value_or("");
  }
  return t;
}

json json_of(const trial_result& t) {
  return {{"accesses", t.totals.accesses}, {"found", t.totals.found},  {"stored", t.totals.stored},
          {"entries_before", t.before},    {"entries_after", t.after}, {"checksum", t.checksum}};
}

void say_result(const hashmap_command& cmd, const world& w, const pool_keeper& pools,
                std::uint64_t strings, const trial_result& last, report& r) {
  const auto cut = pools.cut() == 0
                       ? std::string()
                       : fmt::format(", {} words cut to 20 bytes", format_count(pools.cut()));
  const auto* const joint = cmd.file.empty() ? ", " : " of ";
  r.line("strings", format_count(strings) + joint + cmd.name() + cut);
  r.line("tasks", fmt::format("{} of {} steps", format_count(cmd.tasks), format_count(cmd.steps)));
  r.line("entries",
         fmt::format("{} before, {} after", format_count(last.before), format_count(last.after)));
  r.line("found", fmt::format("{} of {} accesses", format_count(last.totals.found),
                              format_count(last.totals.accesses)));
  r.line("ranks", fmt::format("{} x {} workers", w.size(), w.workers()));
  const auto seconds = r["seconds"]["run"].get<std::vector<double>>();
  r.line("time", fmt::format("{} (median of {})", format_seconds(median(seconds)), cmd.trials));
  r.line("rate", format_rate(r["result"]["accesses_per_second"].get<double>()) + " accesses/s");
}

int run_trials(world& w, const hashmap_command& cmd, const common& c, pool_keeper& pools,
               recording& rec, report& r) {
  const auto begin = w.clock().now_ns();
  const auto& pool = pools.get(w);
  const auto opt = options_of(cmd, c, pool);
  expect_memory(w, cmd, opt);
  r["seconds"]["load"] = static_cast<double>(w.clock().now_ns() - begin) * 1e-9;
  auto& result = r["result"];
  result = {{"strings", {{"name", cmd.name()}, {"number", pool.size()}, {"cut", pools.cut()}}},
            {"tasks", opt.tasks},
            {"steps", opt.steps},
            {"entries", opt.entries},
            {"trials", json::array()}};
  phase_counts counts(w);
  double build = 0;
  std::vector<double> seconds, rates;
  trial_result last{};
  for (int trial = 0; trial < cmd.trials && last.broken.empty(); ++trial) {
    last = run_trial(w, cmd, c, pool, opt, trial, counts, rec);
    build += last.build_seconds;
    seconds.push_back(last.seconds);
    rates.push_back(last.seconds > 0 ? static_cast<double>(last.totals.accesses) / last.seconds
                                     : 0);
    result["trials"].push_back(json_of(last));
  }
  r["seconds"]["build"] = build;
  r["seconds"]["run"] = seconds;
  result["accesses_per_second"] = median(rates);
  if (cmd.verify) r["verified"] = last.broken.empty();
  counts.end(phase_counts::load_and_verify);
  counts.report_to(r);
  rec.write(&r);
  say_result(cmd, w, pools, pool.size(), last, r);
  return conclude(w, r, cmd.verify, last.broken);
}

int run_command(const hashmap_command& cmd, const common& c) {
  expect_options(cmd, c);
  pool_keeper pools(cmd, c);
  return run_ranks(c, [&](world& w) {
    report r("hashmap", c, w);
    w.agree([&] {
      if (w.rank() == 0) expect_trace_writable(c);
    });
    recording rec(w, c);
    return rec.run([&] { return run_trials(w, cmd, c, pools, rec, r); });
  });
}

void add_options(CLI::App& command, hashmap_command& cmd) {
  constexpr auto any = std::numeric_limits<std::uint64_t>::max();
  const auto number = [&](const std::string& name, auto& to, const std::string& help,
                          std::uint64_t max) {
    command.add_option(name, to, help)->type_name("N")->transform(unsigned_integer(1, max));
  };
  command
      .add_option("INPUT,-f,--file", cmd.file,
                  "A text file whose words are the strings, plain or .gz .zst .xz; by default they "
                  "are generated")
      ->type_name("FILE")
      ->check(not_empty());
  number("--tasks", cmd.tasks, "Number of tasks of all ranks together (default: 4096)", any);
  number("--steps", cmd.steps, "Number of steps of a task (default: 256)", any);
  number("--strings", cmd.strings, "Number of strings (default: 1,000,000, or all words of INPUT)",
         max_strings);
  number("--entries", cmd.entries,
         "Number of strings in the map at the beginning (default: a tenth)", max_strings);
  command.add_option("--seed", cmd.seed, "Seed of generated strings (default: 1)")
      ->type_name("N")
      ->transform(unsigned_integer());
  command.add_option("--trials,-n", cmd.trials, "Number of runs (default: 1)")
      ->type_name("N")
      ->transform(unsigned_integer(1, std::numeric_limits<int>::max()));
  command.add_flag("--verify,-v", cmd.verify, "Compare the map with that of a serial run");
}

}  // namespace

void add_hashmap(CLI::App& app, common& c, action& chosen) {
  auto& command = *app.add_subcommand(
      "hashmap", "Concurrent hash map access: many tasks look up and store strings");
  const auto cmd = std::make_shared<hashmap_command>();
  add_options(command, *cmd);
  using enum setting_group;
  auto settings = settings_of({workers, processes, simulation, messages, tasks});
  std::erase(settings, "routing");  // only channels in epochs are routed
  add_common(command, c, {.settings = settings});
  add_trace(command, c);
  command.callback([&c, cmd, &chosen] { chosen = [&c, cmd] { return run_command(*cmd, c); }; });
}

}  // namespace cairn::cli
