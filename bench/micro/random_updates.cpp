// SPDX-License-Identifier: Apache-2.0
//
// Random 8-byte updates: million increments per second of words drawn uniformly from a table that
// is distributed to ranks of one worker each. bench/baselines/random_updates_mpi.c does the same by
// hand-aggregated MPI, with the same rules and random numbers: an update is sent as the index of
// its word; updates of own words use the same channel; the sum at the end includes all.
//
// An update's owner follows from its word, so that --routing takes effect. --compare-direct
// alternates routed and direct passes and compares their processor time, summed over the ranks.
//
//   random_updates --ranks 2 --threads 1        mpiexec -n 2 random_updates --threads 1
//   random_updates --ranks 4 --threads 1 --routing grid --compare-direct

#include <sys/resource.h>

#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <cairn/am/channel.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>
#include <cairn/hw/pages.hpp>

#include <bench/program.hpp>

namespace cairn::bench {
namespace {

struct update_options {
  std::uint64_t updates = std::uint64_t{1} << 25;  // per rank
  int table_bits = 22;
  std::size_t chunk = 4096;  // updates between polls
  bool processor_time = false, compare_direct = false;
};

double processor_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

enum class travel { as_configured, directly };

class update_table {
 public:
  update_table(world& w, const update_options& options, travel path)
      : world_(w), options_(options), words_(std::size_t{1} << options.table_bits) {
    words_.prefault();
    const auto local = words_.size() - 1;
    const auto owner = [bits = options.table_bits](const std::uint64_t& word) {
      return static_cast<rank_t>(word >> bits);
    };
    const auto add = [this, local](worker_t, std::span<const std::uint64_t> updates) {
      auto* const table = words_.data();  // plain writes: the rank has one worker
      const auto mask = local;            // a local copy, which the writes cannot alias
      for (const auto word : updates) ++table[word & mask];
    };
    if (path == travel::directly) {
      updates_.emplace(w, add);
    } else {
      updates_.emplace(w, owner, add);
    }
  }

  /// Number of passes so far, and the processor time of the last one on all ranks.
  struct result {
    std::uint64_t passes;
    double processor_seconds;
  };

  result pass() {
    const auto before = processor_seconds();
    const auto ranks = static_cast<std::uint64_t>(world_.size());
    const auto words = ranks << options_.table_bits;
    const auto bits = options_.table_bits;
    const auto start = mix64(passes_ * ranks + static_cast<std::uint64_t>(world_.rank()) + 1);
    am::epoch epoch(world_);
    world_.parallel_for(
        options_.updates,
        [&](worker_t k, std::size_t begin, std::size_t end) {
          updates_->with_sender(k, [&](auto& send) {
            auto state = start + begin * stride;
            for (auto i = begin; i < end; ++i) {
              const auto word =
                  static_cast<std::uint64_t>((static_cast<uint128_t>(mix64(state)) * words) >> 64);
              send(static_cast<rank_t>(word >> bits), word);
              state += stride;
            }
          });
        },
        options_.chunk);
    epoch.close();
    return {++passes_, world_.sum(processor_seconds() - before)};
  }

  /// Sum of all words. Collective.
  [[nodiscard]] std::uint64_t sum() {
    return world_.sum(std::accumulate(words_.begin(), words_.end(), std::uint64_t{0}));
  }

 private:
  static constexpr std::uint64_t stride = 0x9e3779b97f4a7c15u;

  world& world_;
  update_options options_;
  hw::page_buffer<std::uint64_t> words_;
  std::optional<am::channel<std::uint64_t>> updates_;
  std::uint64_t passes_ = 0;
};

subject subject_of(world& w, const update_options& options, update_table& table,
                   const std::string& name, bool by_processor_time) {
  const auto all = options.updates * static_cast<std::uint64_t>(w.size());
  kernel<update_table*, update_table::result> kern;
  kern.name = name;
  kern.settings = {{"ranks", w.size()},
                   {"updates_per_rank", options.updates},
                   {"table_bits", options.table_bits},
                   {"chunk", options.chunk},
                   {"buffer_bytes", w.messages().coalesce_bytes()},
                   {"processor_time", by_processor_time}};
  kern.item = "million_updates";
  kern.num_items = static_cast<double>(all) * 1e-6;
  kern.make_input = [&] { return &table; };
  kern.counters = [&] { return counters_of_all(w); };
  kern.run = [](update_table* t) { return t->pass(); };
  if (by_processor_time) {
    kern.seconds = [](const update_table::result& r) { return r.processor_seconds; };
  }
  kern.verify = [=](update_table* t, const update_table::result& r) -> std::string {
    const auto sum = t->sum(), expected = r.passes * all;
    return sum == expected ? "" : fmt::format("{} increments, {} expected", sum, expected);
  };
  return subject(std::move(kern));
}

void measure(world& w, harness& h, const update_options& options) {
  update_table table(w, options, travel::as_configured);
  auto s = subject_of(w, options, table, "random_updates", options.processor_time);
  const auto time = h.measure(s).time;
  if (w.rank() != 0) return;
  fmt::print(stderr, "{:>5} {:>12} {:>22} {:>8} {:>5}\n", "ranks", "buffer bytes",
             "million updates/s", "mad %", "runs");
  fmt::print(stderr, "{:>5} {:>12} {:>22.1f} {:>8.1f} {:>5}\n", w.size(),
             w.messages().coalesce_bytes(), s.num_items / time.median, 100 * time.mad / time.median,
             time.runs);
}

void compare_direct(world& w, harness& h, const update_options& options) {
  if (is_direct(w.options().routing)) {
    throw usage_error("--compare-direct compares a --routing with direct: give grid, say");
  }
  update_table routed(w, options, travel::as_configured);
  update_table direct(w, options, travel::directly);
  auto first = subject_of(w, options, routed, "routed_updates", true);
  auto second = subject_of(w, options, direct, "direct_updates", true);
  const auto c = h.compare(first, second);
  if (w.rank() != 0) return;
  const auto ns = 1e3 / first.num_items;
  fmt::print(stderr, "{:>5} {:>10} {:>10} {:>8} {:>7} {:>5}\n", "ranks", "routed ns", "direct ns",
             "ratio", "mad", "runs");
  fmt::print(stderr, "{:>5} {:>10.2f} {:>10.2f} {:>8.3f} {:>7.3f} {:>5}\n", w.size(),
             ns * c.first.time.median, ns * c.second.time.median, c.ratio.median, c.ratio.mad,
             c.ratio.runs);
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn;
  bench::update_options options;
  return bench::run_program_on_ranks(
      argc, argv, "Random 8-byte updates over ranks.",
      [&](bench::argument_list& arguments) {
        arguments.number("--updates", options.updates, {1, std::uint64_t{1} << 40},
                         "of each rank in a pass");
        arguments.number("--table-bits", options.table_bits, {1, 32},
                         "log2 of the words of each rank");
        arguments.flag("--processor-time", options.processor_time,
                       "of all ranks instead of the time that passes");
        arguments.flag("--compare-direct", options.compare_direct,
                       "processor time of routed updates against direct ones, in turns");
        arguments.number("--chunk", options.chunk, {1, std::size_t{1} << 40},
                         "updates that a rank sends between two polls");
      },
      [&](world& w, bench::harness& h) {
        if (w.workers() != 1) throw usage_error("the handler's writes are plain: give --threads 1");
        options.compare_direct ? bench::compare_direct(w, h, options)
                               : bench::measure(w, h, options);
      });
}
