// SPDX-License-Identifier: Apache-2.0
//
// The steps that --coalesce auto avoids: nanoseconds per 8-byte message from each rank to the next,
// by the size of buffers; 0 is auto. A buffer that is a few bytes larger than a packet is sent as
// two fragments, which the receiver joins. Between processes of a machine a packet has 65,504 bytes
// of messages, over MPI 65,520. Two processes, 2 cores (AMD EPYC, virtual), ns:
//
//                 auto    4080   16368   32752   65520   65528   131040
//   Open MPI       4.4    11.3     5.0     4.2     4.9     5.7      4.5    MAD up to 1.0
//   MPICH          8.2     7.7     8.0     8.4    10.9     8.6      8.0    MAD up to 1.1
//
// `packets` of `cairn bfs --json` has the steps measured at start: Open MPI's are at 3,968 and
// 8,064 bytes. Messages in buffers of 3,952 bytes take 3.4 ns, of 4,080 bytes 10.5.
//
// Over rings all sizes from 2 KiB on took the same time within their MAD (1.3 of 6).
//
//   buffer_steps --ranks 2 --threads 1 --buffers 0 8160 65504 65512
//   mpiexec -n 2 buffer_steps --threads 1 --transport mpi --buffers 0 32752 65520 65528

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <cairn/am/channel.hpp>
#include <cairn/am/epoch.hpp>

#include <bench/program.hpp>

namespace cairn::bench {
namespace {

struct step_options {
  std::vector<std::size_t> buffers{0, 8160, 65504, 65512};
  std::uint64_t messages = std::uint64_t{1} << 22;  // per rank
};

/// Messages through a channel with buffers of one size.
class stream {
 public:
  stream(world& w, std::size_t bytes)
      : world_(w),
        channel_(w, [this](worker_t, std::span<const std::uint64_t> batch) { add(batch); },
                 {.coalesce_bytes = bytes}) {}

  // Returns the sum of all messages that this rank has received so far.
  std::uint64_t pass(std::uint64_t messages) {
    const auto to = (world_.rank() + 1) % world_.size();
    am::epoch epoch(world_);
    world_.parallel_for(
        messages,
        [&](worker_t k, std::size_t begin, std::size_t end) {
          auto send = channel_.from(k);
          for (auto i = begin; i < end; ++i) send(to, i);
        },
        4096);
    epoch.close();
    return sum_;
  }

 private:
  void add(std::span<const std::uint64_t> batch) {
    for (const auto x : batch) sum_ += x;
  }
  world& world_;
  std::uint64_t sum_ = 0;
  am::channel<std::uint64_t> channel_;
};

subject subject_of(world& w, const step_options& options, stream& s, std::size_t bytes,
                   std::uint64_t& passes) {
  kernel<stream*, std::uint64_t> kern;
  kern.name = "buffer_steps";
  kern.settings = {{"ranks", w.size()}, {"messages", options.messages}, {"buffer_bytes", bytes}};
  kern.item = "messages";
  kern.num_items = static_cast<double>(options.messages);
  kern.make_input = [&s] { return &s; };
  kern.counters = [&w] { return counters_of_all(w); };
  kern.run = [n = options.messages, &passes](stream* t) {
    ++passes;
    return t->pass(n);
  };
  kern.verify = [&w, n = options.messages, &passes](stream*, std::uint64_t sum) -> std::string {
    const bool wrong = w.any(sum != passes * (n * (n - 1) / 2));
    return wrong ? "a message was lost or came twice" : "";
  };
  return subject(std::move(kern));
}

void measure(world& w, harness& h, const step_options& options) {
  std::deque<stream> streams;
  std::vector<std::uint64_t> passes(options.buffers.size());
  std::vector<subject> subjects;
  std::vector<subject*> turns;
  for (std::size_t i = 0; i < options.buffers.size(); ++i) {
    auto& s = streams.emplace_back(w, options.buffers[i]);
    subjects.push_back(subject_of(w, options, s, options.buffers[i], passes[i]));
  }
  for (auto& s : subjects) turns.push_back(&s);
  const auto measured = h.measure_alternating(turns);
  if (w.rank() != 0) return;
  fmt::print(stderr, "{:>5} {:>12} {:>11} {:>7} {:>5}\n", "ranks", "buffer bytes", "ns/message",
             "mad", "runs");
  for (std::size_t i = 0; i < options.buffers.size(); ++i) {
    const auto ns = 1e9 / static_cast<double>(options.messages);
    const auto& time = measured[i].time;
    fmt::print(stderr, "{:>5} {:>12} {:>11.2f} {:>7.2f} {:>5}\n", w.size(),
               options.buffers[i] == 0 ? "auto" : std::to_string(options.buffers[i]),
               time.median * ns, time.mad * ns, time.runs);
  }
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  cairn::bench::step_options options;
  return cairn::bench::run_program_on_ranks(
      argc, argv, "The cost of messages by the size of buffers, around that of a packet.",
      [&](cairn::bench::argument_list& arguments) {
        arguments.number("--buffers", options.buffers, {0, 1 << 24}, "sizes in bytes; 0: auto");
        arguments.number("--messages", options.messages, {1, 1 << 30}, "of each rank and pass");
      },
      [&](cairn::world& w, cairn::bench::harness& h) {
        if (w.workers() != 1) {
          throw cairn::usage_error("the handler's sum is plain: give --threads 1");
        }
        cairn::bench::measure(w, h, options);
      });
}
