// SPDX-License-Identifier: Apache-2.0
//
// The cost of an epoch without messages: the wave that detects its end and, on one rank, only the
// counting. Channels that a world had earlier must not increase it.
//
//   empty_epoch --ranks 2 --threads 1 --channels-before 10000

#include <cstdint>
#include <span>
#include <string>

#include <fmt/core.h>

#include <cairn/am/channel.hpp>
#include <cairn/am/epoch.hpp>

#include <bench/program.hpp>

namespace cairn::bench {
namespace {

constexpr int epochs_per_call = 100;

void measure(world& w, harness& h, int channels_before) {
  for (int i = 0; i < channels_before; ++i)
    am::channel<int> given_up(w, [](worker_t, std::span<const int>) {});
  const auto closed = [&w] { return w.counters().total(obs::counter::epochs); };
  const auto before = closed();
  kernel<std::uint64_t, std::uint64_t> kern;  // input and result: numbers of epochs
  kern.name = "empty_epoch";
  kern.settings = {
      {"ranks", w.size()}, {"threads", w.workers()}, {"channels_before", channels_before}};
  kern.item = "epochs";
  kern.num_items = epochs_per_call;
  kern.make_input = [] { return std::uint64_t{0}; };
  kern.run = [&w](std::uint64_t& all) {
    for (int i = 0; i < epochs_per_call; ++i) {
      am::epoch epoch(w);
      epoch.close();
    }
    return all += epochs_per_call;
  };
  kern.verify = [&](std::uint64_t all, std::uint64_t) -> std::string {
    const bool wrong = w.any(closed() - before != all);
    return wrong ? fmt::format("not {} epochs were closed on every rank", all) : "";
  };
  kern.counters = [&] { return counters_of_all(w); };
  subject s(std::move(kern));
  const auto time = h.measure(s).time;
  if (w.rank() != 0) return;
  const auto ns = 1e9 / epochs_per_call;
  fmt::print(stderr, "{:>5} {:>7} {:>12} {:>10} {:>5}\n", "ranks", "threads", "ns/epoch", "mad",
             "runs");
  fmt::print(stderr, "{:>5} {:>7} {:>12.1f} {:>10.1f} {:>5}\n", w.size(), w.workers(),
             time.median * ns, time.mad * ns, time.runs);
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  int channels_before = 0;
  return cairn::bench::run_program_on_ranks(
      argc, argv, "The cost of an epoch in which nothing is sent.",
      [&](cairn::bench::argument_list& arguments) {
        arguments.number("--channels-before", channels_before, {0, 1 << 24},
                         "Channels constructed and destroyed first");
      },
      [&](cairn::world& w, cairn::bench::harness& h) {
        cairn::bench::measure(w, h, channels_before);
      });
}
