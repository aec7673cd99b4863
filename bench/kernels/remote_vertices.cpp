// SPDX-License-Identifier: Apache-2.0
//
// Activities on another rank's vertices: all ranks except the last mark, or increment, each of the
// last rank's vertices once per pass. bench/baselines/remote_vertices_mpi.c does the same by
// one-sided MPI atomics. A message is 16 bytes, so --coalesce 160 sends ten per buffer.
//
//   remote_vertices --ranks 2 --threads 1 --work mark --coalesce 256

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include <fmt/core.h>

#include <cairn/activity/executor.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/error.hpp>
#include <cairn/pgas/vertex_map.hpp>

#include <bench/program.hpp>

namespace cairn::bench {
namespace {

struct remote_options {
  std::string work = "mark";
  std::uint64_t vertices = std::uint64_t{1} << 13;
};

using word_map = pgas::vertex_map<std::uint64_t>;

struct mark {
  struct message {
    std::uint64_t vertex, pass;
  };
  const word_map& words;

  auto cell(const message& m) const { return words.at(m.vertex); }
  bool attempt(auto word, const message& m) const {
    return word.claim(m.pass - 1, m.pass) == m.pass - 1;
  }
};

struct increment {
  struct message {
    std::uint64_t vertex, amount;
  };
  const word_map& words;

  auto cell(const message& m) const { return words.at(m.vertex); }
  void attempt(auto word, const message& m) const { word.add(m.amount); }
};

template <class Op>
struct stage {
  stage(world& on, const remote_options& opt)
      : w(on),
        words(w, {opt.vertices * static_cast<std::uint64_t>(w.size()), w.size()}, 0),
        op(w, Op{words}),
        first(words.partition().first(w.size() - 1)),
        last(words.partition().last(w.size() - 1)) {}

  std::uint64_t pass() {
    ++passes;
    am::epoch epoch(w);
    if (w.rank() + 1 < w.size()) {
      w.parallel_for(last - first, [&](worker_t k, std::size_t begin, std::size_t end) {
        op.spawn(k, [&](auto& send) {
          for (auto i = begin; i < end; ++i) {
            send({first + i, std::is_same_v<Op, mark> ? passes : std::uint64_t{1}});
          }
        });
      });
    }
    epoch.close();
    return passes;
  }

  [[nodiscard]] bool all_are(std::uint64_t value) {
    const auto own = words.local();
    const bool right = w.rank() + 1 < w.size() ||
                       std::all_of(own.begin(), own.end(), [&](auto x) { return x == value; });
    return !w.any(!right);
  }

  world& w;
  word_map words;
  activity::executor<Op> op;
  std::uint64_t first, last;
  std::uint64_t passes = 0;
};

template <class Op>
void measure(world& w, harness& h, const remote_options& options) {
  stage<Op> on(w, options);
  const auto senders = static_cast<std::uint64_t>(w.size() - 1);
  kernel<stage<Op>*, std::uint64_t> kern;
  kern.name = "remote_vertices";
  kern.settings = {{"work", options.work},
                   {"ranks", w.size()},
                   {"threads", w.workers()},
                   {"vertices", options.vertices},
                   {"mechanism", activity::name(on.op.chosen_mechanism())},
                   {"buffer_bytes", w.messages().coalesce_bytes()}};
  kern.item = "activities";
  kern.num_items = static_cast<double>(options.vertices * senders);
  kern.make_input = [&] { return &on; };
  kern.run = [](stage<Op>* s) { return s->pass(); };
  kern.verify = [&](stage<Op>* s, std::uint64_t passes) -> std::string {
    const bool marks = options.work == "mark";
    return s->all_are(marks ? passes : passes * senders) ? "" : "a vertex has a wrong value";
  };
  kern.counters = [&] { return counters_of_all(w); };
  subject s(std::move(kern));
  const auto time = h.measure(s).time;
  if (w.rank() != 0) return;
  fmt::print(stderr, "{:>5} ranks, {} bytes a buffer: {:.1f} ns an activity, mad {:.1f}\n",
             w.size(), w.messages().coalesce_bytes(), 1e9 * time.median / s.num_items,
             1e9 * time.mad / s.num_items);
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn;
  bench::remote_options options;
  return bench::run_program_on_ranks(
      argc, argv, "Marks or increments the last rank's vertices from all others.",
      [&](bench::argument_list& arguments) {
        arguments.word("--work", options.work, {"mark", "increment"}, "on each vertex");
        arguments.number("--vertices", options.vertices, {1, std::uint64_t{1} << 32},
                         "of the last rank");
      },
      [&](world& w, bench::harness& h) {
        if (w.size() < 2) throw usage_error("one rank has no remote vertices: give --ranks 2");
        if (options.work == "mark") {
          bench::measure<bench::mark>(w, h, options);
        } else {
          bench::measure<bench::increment>(w, h, options);
        }
      });
}
