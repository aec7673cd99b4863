// SPDX-License-Identifier: Apache-2.0
//
// Random 8-byte updates: million increments a second of words drawn uniformly from a table that
// is dealt to the ranks, one worker each. bench/baselines/random_updates_mpi.c does the same by
// hand-aggregated MPI, with this rule and this generator: an update travels as its word's index;
// those of own words go through the same channel as the others; all are in the sum at the end.
//
//   random_updates --ranks 2 --threads 1        mpiexec -n 2 random_updates --threads 1

#include <cstdint>
#include <numeric>
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
  std::uint64_t updates = std::uint64_t{1} << 25;  // of each rank
  int table_bits = 22;
  std::size_t chunk = 4096;  // updates between polls
};

class update_table {
 public:
  update_table(world& w, const update_options& options)
      : world_(w),
        options_(options),
        words_(std::size_t{1} << options.table_bits),
        updates_(w, [this](worker_t, std::span<const std::uint64_t> indices) {
          auto* const table = words_.data();  // plain writes: the rank has one worker
          for (const auto i : indices) ++table[i];
        }) {
    words_.prefault();
  }

  /// Returns   passes made so far
  std::uint64_t pass() {
    const auto ranks = static_cast<std::uint64_t>(world_.size());
    const auto words = ranks << options_.table_bits;
    const auto local = (std::uint64_t{1} << options_.table_bits) - 1;
    const auto start = mix64(passes_ * ranks + static_cast<std::uint64_t>(world_.rank()) + 1);
    am::epoch epoch(world_);
    world_.parallel_for(
        options_.updates,
        [&](worker_t k, std::size_t begin, std::size_t end) {
          auto send = updates_.from(k);
          auto state = start + begin * stride;
          for (auto i = begin; i < end; ++i) {
            const auto word =
                static_cast<std::uint64_t>((static_cast<uint128_t>(mix64(state)) * words) >> 64);
            send(static_cast<rank_t>(word >> options_.table_bits), word & local);
            state += stride;
          }
        },
        options_.chunk);
    epoch.close();
    return ++passes_;
  }

  /// Of all words. Collective.
  [[nodiscard]] std::uint64_t sum() {
    return world_.sum(std::accumulate(words_.begin(), words_.end(), std::uint64_t{0}));
  }

 private:
  static constexpr std::uint64_t stride = 0x9e3779b97f4a7c15u;

  world& world_;
  update_options options_;
  hw::page_buffer<std::uint64_t> words_;
  am::channel<std::uint64_t> updates_;
  std::uint64_t passes_ = 0;
};

void measure(world& w, harness& h, const update_options& options) {
  if (w.workers() != 1) throw usage_error("the handler's writes are plain: give --threads 1");
  update_table table(w, options);
  const auto all = options.updates * static_cast<std::uint64_t>(w.size());

  kernel<update_table*, std::uint64_t> kern;
  kern.name = "random_updates";
  kern.settings = {{"ranks", w.size()},
                   {"updates_per_rank", options.updates},
                   {"table_bits", options.table_bits},
                   {"chunk", options.chunk},
                   {"buffer_bytes", w.messages().coalesce_bytes()}};
  kern.item = "million_updates";
  kern.num_items = static_cast<double>(all) * 1e-6;
  kern.make_input = [&] { return &table; };
  kern.run = [](update_table* t) { return t->pass(); };
  kern.verify = [&](update_table* t, std::uint64_t passes) -> std::string {
    const auto sum = t->sum(), expected = passes * all;
    return sum == expected ? "" : fmt::format("{} increments, {} expected", sum, expected);
  };
  kern.counters = [&] { return counters_of_all(w); };
  subject s(std::move(kern));
  const auto time = h.measure(s).time;
  if (w.rank() != 0) return;
  fmt::print(stderr, "{:>5} {:>12} {:>22} {:>8} {:>5}\n", "ranks", "buffer bytes",
             "million updates/s", "mad %", "runs");
  fmt::print(stderr, "{:>5} {:>12} {:>22.1f} {:>8.1f} {:>5}\n", w.size(),
             w.messages().coalesce_bytes(), s.num_items / time.median, 100 * time.mad / time.median,
             time.runs);
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn;
  bench::update_options options;
  return bench::run_program_on_ranks(
      argc, argv, "Random 8-byte updates over ranks.",
      [&](CLI::App& app) {
        app.add_option("--updates", options.updates, "of each rank in a pass")
            ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40))
            ->capture_default_str();
        app.add_option("--table-bits", options.table_bits, "log2 of the words of each rank")
            ->check(CLI::Range(1, 32))
            ->capture_default_str();
        app.add_option("--chunk", options.chunk, "updates that a rank sends between two polls")
            ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 40))
            ->capture_default_str();
      },
      [&](world& w, bench::harness& h) { bench::measure(w, h, options); });
}
