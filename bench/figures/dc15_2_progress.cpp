// SPDX-License-Identifier: Apache-2.0
//
// [DC15] figure 2: shortest paths by Distributed Control under each style of progress
// (--progress poll|thread|auto|specialised), strong scaling over local ranks, and over simulated
// ranks, whose threads beside the worker have cores of their own. The paper has MPI's progress
// thread on and off.
//
// Then what a style does to one message, by poll, thread and auto, on two local ranks with one
// worker each, in two cases:
//
//   round trips  rank 0 asks a question and waits for its answer, again and again. Rank 1 computes
//                chunks of busy_ns and polls between them; 0: it only waits
//   exchange     each rank computes chunks of busy_ns, and asks the other rank a batch of questions
//                after each chunk. It waits for the answers at the end
//
// An answer takes handler_ns to compute.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <cairn/am/request.hpp>
#include <cairn/base/random.hpp>

#include <bench/figures/cluster.hpp>
#include <bench/figures/figure.hpp>
#include <bench/figures/paths.hpp>

namespace cairn::bench {
namespace {

constexpr rank_t asker = 0;
constexpr rank_t num_ranks = 2;
constexpr std::uint64_t last_question = (std::uint64_t{1} << 48) - 1;
constexpr std::uint64_t batch = 64;  // questions after a chunk of an exchange

struct progress_job {
  bool exchange = false;
  progress_style style = progress_style::poll;
  std::uint64_t handler_ns = 0, busy_ns = 0;
  std::uint64_t duration_ns = 0;  // of a run, about

  [[nodiscard]] const char* name() const { return exchange ? "exchange" : "round trips"; }
};

struct progress_run {
  double seconds = 0;    // per question of any rank
  double by_thread = 0;  // share of the answers that a thread beside the workers computed
  std::string fault;
};

/// Work of a fixed number of steps, so that it ends later if another thread takes the core.
class computation {
 public:
  computation() {
    constexpr std::uint64_t steps = 1 << 17;
    const hw::steady_clock clock;
    for (int i = 0; i < 15; ++i) {  // the fastest was not disturbed
      const auto start = clock.now_ns();
      run(steps);
      const auto ns = static_cast<double>(clock.now_ns() - start);
      steps_per_ns_ = std::max(steps_per_ns_, static_cast<double>(steps) / ns);
    }
  }
  void operator()(std::uint64_t ns) const {
    run(static_cast<std::uint64_t>(steps_per_ns_ * static_cast<double>(ns)));
  }

 private:
  static void run(std::uint64_t steps) {
    std::uint64_t x = steps;
    for (std::uint64_t i = 0; i < steps; ++i) {
      x = mix64(x);
      asm volatile("" : "+r"(x));
    }
  }
  double steps_per_ns_ = 0;
};

/// One rank's part of a run.
class progress_stage {
 public:
  progress_stage(world& w, const progress_job& job, const computation& compute)
      : w_(w),
        job_(job),
        compute_(compute),
        requests_(
            w,
            [this](worker_t k, std::uint64_t question) {
              compute_(job_.handler_ns);
              if (question == last_question) {
                ended_.store(true, std::memory_order_relaxed);
              } else if (k != main_worker) {
                by_thread_.fetch_add(1, std::memory_order_relaxed);
              }
              return mix64(question);
            },
            [this](worker_t, std::uint64_t question, std::uint64_t answer) {
              wrong_ += answer != mix64(question) ? 1 : 0;
            },
            {.kind = channel_kind::standing}) {}

  progress_run run() {
    w_.barrier();
    const auto start = w_.clock().now_ns();
    const auto end = job_.exchange ? exchange() : round_trips(start);
    const auto longest = static_cast<double>(w_.max(end - start));
    const auto asked = static_cast<double>(w_.sum(asked_));
    const auto by_thread = static_cast<double>(w_.sum(by_thread_.load()));
    const auto wrong = w_.sum(wrong_);
    return {1e-9 * longest / asked, by_thread / asked, wrong == 0 ? "" : "an answer is wrong"};
  }

 private:
  void ask(std::uint64_t question) {
    requests_.from(main_worker)(1 - w_.rank(), question, am::slot(question));
  }

  // Each returns the end of the measured time.
  std::uint64_t round_trips(std::uint64_t start) {
    if (w_.rank() != asker) {
      answer();
      return start;
    }
    auto now = start;
    while (now < start + job_.duration_ns) {
      ask(asked_++);
      requests_.finish();
      now = w_.clock().now_ns();
    }
    ask(last_question);
    requests_.finish();
    return now;
  }
  void answer() {
    const auto ended = [this] { return ended_.load(std::memory_order_relaxed); };
    if (job_.busy_ns == 0) return w_.wait_until(ended);
    while (!ended()) {
      compute_(job_.busy_ns);
      w_.progress();
    }
  }
  std::uint64_t exchange() {
    // A rank answers as many questions as it asks. Both take some 20 ns beside the handler.
    const auto chunk_ns = job_.busy_ns + batch * (job_.handler_ns + 20);
    for (auto n = std::max<std::uint64_t>(1, job_.duration_ns / chunk_ns); n > 0; --n) {
      compute_(job_.busy_ns);
      for (std::uint64_t i = 0; i < batch; ++i) ask(asked_++);
      w_.progress();
    }
    requests_.finish();
    return w_.clock().now_ns();
  }

  world& w_;
  const progress_job& job_;
  const computation& compute_;
  std::atomic<bool> ended_{false};
  std::atomic<std::uint64_t> by_thread_{0};
  std::uint64_t asked_ = 0, wrong_ = 0;
  am::request<std::uint64_t, std::uint64_t> requests_;
};

progress_run run_job(const progress_job& job) {
  static const computation compute;
  progress_run ran;
  run_on_threads(num_ranks, {.progress = job.style}, [&](world& w) {
    auto mine = progress_stage(w, job, compute).run();
    if (w.rank() == asker) ran = std::move(mine);
  });
  return ran;
}

using named_style = std::pair<const char*, progress_style>;
constexpr std::array<named_style, 3> styles{{{"poll", progress_style::poll},
                                             {"thread", progress_style::thread},
                                             {"auto", progress_style::automatic}}};
// Of shortest paths, which have no standing channels that a helper could serve.
constexpr std::array<named_style, 4> path_styles{
    {styles[0], styles[1], styles[2], {"specialised", progress_style::specialised}}};

subject as_subject(const progress_job& job, const char* style, progress_run& last) {
  kernel<progress_job, progress_run> kern;
  kern.name = job.name();
  kern.settings = {{"style", style}, {"handler_ns", job.handler_ns}, {"busy_ns", job.busy_ns}};
  kern.make_input = [job] { return job; };
  kern.run = [&last](const progress_job& j) { return last = run_job(j); };
  kern.verify = [](const progress_job&, const progress_run& ran) { return ran.fault; };
  kern.seconds = [](const progress_run& ran) { return ran.seconds; };
  return subject(std::move(kern));
}

void measure_styles(harness& h, progress_job job, const figure::record_function& record) {
  std::array<progress_run, styles.size()> last;
  std::vector<subject> subjects;
  std::vector<subject*> turns;
  for (std::size_t i = 0; i < styles.size(); ++i) {
    job.style = styles[i].second;
    subjects.push_back(as_subject(job, styles[i].first, last[i]));
  }
  for (auto& x : subjects) turns.push_back(&x);
  const auto measured = h.measure_alternating(turns);
  const auto &poll = measured[0], &thread = measured[1], &automatic = measured[2];
  const auto& better = poll.time.median < thread.time.median ? poll : thread;
  for (std::size_t i = 0; i < styles.size(); ++i) {
    nlohmann::json point{{"case", job.name()},
                         {"style", styles[i].first},
                         {"handler_ns", job.handler_ns},
                         {"busy_ns", job.busy_ns},
                         {"seconds", json_of(measured[i].time)},
                         {"by_thread", last[i].by_thread}};
    if (i > 0) point["by_poll"] = json_of(ratio_of(poll, measured[i]));
    if (&measured[i] == &automatic) point["by_better"] = json_of(ratio_of(better, automatic));
    record(std::move(point));
  }
}

// Shortest paths ------------------------------------------------------------------------------

nlohmann::json point_of(const paths_job& job, const paths_run& ran, const char* where,
                        const char* style, const summary& time) {
  auto point = ran.counts();
  point.update({{"where", where},
                {"graph", job.graph},
                {"ranks", job.ranks},
                {"style", style},
                {"seconds", json_of(time)}});
  return point;
}

void measure_paths(harness& h, paths_job job, const figure::record_function& record) {
  std::array<paths_run, path_styles.size()> last;
  std::vector<subject> subjects;
  std::vector<subject*> turns;
  for (std::size_t i = 0; i < path_styles.size(); ++i) {
    job.world.progress = path_styles[i].second;
    subjects.push_back(as_subject(job, last[i]));
    subjects.back().settings["progress"] = path_styles[i].first;
  }
  for (auto& x : subjects) turns.push_back(&x);
  const auto measured = h.measure_alternating(turns);
  const auto& better = measured[0].time.median < measured[1].time.median ? measured[0]  // poll
                                                                         : measured[1];
  for (std::size_t i = 0; i < path_styles.size(); ++i) {
    auto point = point_of(job, last[i], "local", path_styles[i].first, measured[i].time);
    if (i > 0) point["by_poll"] = json_of(ratio_of(measured[0], measured[i]));
    if (path_styles[i].second == progress_style::automatic)
      point["by_better"] = json_of(ratio_of(better, measured[i]));
    record(std::move(point));
  }
}

void predict_paths(paths_job job, const cluster_costs& costs,
                   const figure::record_function& record) {
  job.repeats = 1;
  double polling = 0;
  for (const auto& [name, style] : path_styles) {
    job.world.progress = style;
    const auto ran = find_paths(job, costs);
    if (!ran.fault.empty()) throw wrong_result(ran.fault);
    auto point = point_of(job, ran, "simulated", name, {ran.seconds, 0, 1});
    if (style == progress_style::poll) polling = ran.seconds;
    if (style != progress_style::poll)
      point["by_poll"] = json_of(summary{polling / ran.seconds, 0, 1});
    record(std::move(point));
  }
}

struct paths_sweep {
  paths_job job;
  std::vector<std::string> graphs{"kronecker", "grid"};
  std::vector<int> local{1, 2, 4, 8};
  std::vector<int> simulated{2, 4, 8, 16, 32, 64};
};

void sweep_paths(harness& h, const paths_sweep& s, const figure::record_function& record) {
  auto costs = costs_here();
  costs.network = net::loggp{};
  record({{"costs", nlohmann::json::parse(costs.text())}});
  auto job = s.job;
  for (const auto& graph : s.graphs) {
    job.graph = graph;
    for (const int ranks : s.local) {
      job.ranks = ranks;
      measure_paths(h, job, record);
    }
    for (const int ranks : s.simulated) {
      job.ranks = ranks;
      predict_paths(job, costs, record);
    }
  }
}

struct progress_sweep {
  std::vector<std::uint64_t> handlers{0, 1'000, 10'000};
  std::vector<std::uint64_t> busy{0, 10'000, 100'000, 1'000'000, 10'000'000};
  std::uint64_t milliseconds = 20;
};

void sweep(harness& h, const progress_sweep& s, const figure::record_function& record) {
  for (const bool exchange : {false, true}) {
    for (const auto handler_ns : s.handlers) {
      for (const auto busy_ns : s.busy) {
        const auto duration_ns = std::max(1'000'000 * s.milliseconds, 4 * busy_ns);
        measure_styles(h, {exchange, progress_style::poll, handler_ns, busy_ns, duration_ns},
                       record);
      }
    }
  }
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn::bench;
  paths_sweep paths;
  progress_sweep s;
  figure f;
  f.name = "dc15_2_progress";
  f.description = "[DC15] figure 2: progress by polling, by threads, and as chosen online.";
  f.add_options = [&](argument_list& arguments) {
    arguments.word("--graphs", paths.graphs, {"kronecker", "uniform", "grid"}, "one or more");
    arguments.number("--scale", paths.job.scale, {1, 24}, "log2 of the vertices");
    arguments.number("--seed", paths.job.seed, {}, "of graph, weights and source");
    arguments.number("--local", paths.local, {1, 64}, "numbers of ranks that are threads");
    arguments.number("--simulated", paths.simulated, {2, 1 << 14}, "numbers of ranks");
    arguments.number("--repeats", paths.job.repeats, {1, 1 << 10}, "searches of a run");
    arguments.number("--handlers", s.handlers, {0, 1'000'000'000}, "ns of an answer, one or more");
    arguments.number("--busy", s.busy, {0, 1'000'000'000},
                     "ns computed between polls, one or more");
    arguments.number("--milliseconds", s.milliseconds, {1, 10'000}, "of a run");
  };
  f.sweep = [&](harness& h, const figure::record_function& record) {
    sweep_paths(h, paths, record);
    sweep(h, s, record);
  };
  return run_figure(argc, argv, f);
}
