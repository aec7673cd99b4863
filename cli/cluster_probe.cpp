// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster_probe.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <cairn/algo/bfs.hpp>
#include <cairn/algo/pagerank.hpp>
#include <cairn/am/channel.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/random.hpp>

namespace cairn::cli {
namespace {

using id = std::uint32_t;

constexpr std::size_t chunk_messages = 1024, full_buffer = 4096;
constexpr int hops = 400;
constexpr std::uint64_t sweeps = 4;

/// A random graph whose edges lead to all ranks or, if `apart`, stay on their rank, except some
/// edges of vertex 0.
graph::dist_csr<id> draw_graph(world& w, const cluster_probe_options& opt, bool apart) {
  const auto ranks = static_cast<std::size_t>(w.size()), all = ranks * opt.vertices;
  const pgas::partition partition(all, w.size());
  const auto first = partition.first(w.rank());
  auto draw = random64(static_cast<std::uint64_t>(w.rank())).stream(apart);
  hw::page_buffer<std::uint64_t> offsets(opt.vertices + 1);
  hw::page_buffer<id> targets(opt.vertices * opt.degree);
  for (std::size_t v = 0; v <= opt.vertices; ++v) offsets[v] = v * opt.degree;
  for (auto& t : targets) {
    t = static_cast<id>(apart ? first + draw.below(opt.vertices) : draw.below(all));
  }
  const auto row = [&](std::size_t v) { return targets.begin() + v * opt.degree; };
  if (apart && ranks > 1 && w.rank() == 0) {  // so that the searches of both ranks overlap
    for (auto t = row(0); t != row(0) + opt.degree / 2; ++t) *t += static_cast<id>(opt.vertices);
  }
  // Sorted, as in built graphs: branches on ownership are then predictable.
  for (std::size_t v = 0; v < opt.vertices; ++v) std::sort(row(v), row(v + 1));
  return {partition, true, ranks * targets.size(),
          graph::csr<id>(first, graph::array<std::uint64_t>(std::move(offsets)),
                         graph::array<id>(std::move(targets))),
          graph::labels(all)};
}

/// Counters of one rank.
struct work {
  double edges = 0, lookups = 0, commits = 0, messages = 0, packets = 0;
};
work work_of(const obs::counters& counted) {
  using obs::counter;
  const auto n = [&](counter c) { return static_cast<double>(counted.total(c)); };
  return {n(counter::edges), n(counter::lookups), n(counter::activities),
          n(counter::messages_sent) + n(counter::messages_handled),
          n(counter::buffers_sent) + n(counter::buffers_received)};
}

/// The minimum of several times, because disturbances only add to them, and the counters of this
/// rank in the last run.
struct sample {
  double ns = std::numeric_limits<double>::infinity();
  work done;

  void add(double took) { ns = std::min(ns, took); }
};

template <class F>
void time(world& w, sample& s, F&& f) {
  w.barrier();
  const auto before = work_of(w.counters());
  const auto start = w.clock().now_ns();
  f();
  const auto ns = static_cast<double>(w.clock().now_ns() - start);
  const auto after = work_of(w.counters());
  s.done = {after.edges - before.edges, after.lookups - before.lookups,
            after.commits - before.commits, after.messages - before.messages,
            after.packets - before.packets};
  s.add(w.reduce<maximum<double>>(ns));
}

void push(world& w, const graph::dist_csr<id>& g) {
  const algo::pagerank_options options{.variant = algo::pagerank_variant::push,
                                       .iterations = sweeps,
                                       .tolerance = 0,
                                       .aggregate = pgas::accumulator_options{.reduce = false}};
  static_cast<void>(algo::pagerank<float>(w, g, options));
}

void visit(world& w, const graph::dist_csr<id>& g) {
  const auto found =
      algo::bfs<id>(w, g, 0,
                    {.activity = {.mechanism = activity::mechanism::plain, .sent_filter = false},
                     .direction = traverse::direction::push});
  CAIRN_ASSERT(found.levels > 1);
}

double positive(double ns) { return std::max(0.0, ns); }

void expect_enough(const cluster_probe_options& options) {
  CAIRN_EXPECTS(options.rounds >= 1 && options.vertices >= 16 && options.degree >= 2);
}

/// Ping-pong with messages of `Bytes` bytes.
template <std::size_t Bytes>
class ping_pong {
 public:
  explicit ping_pong(world& w)
      : w_(w), channel_(w, [this](worker_t k, std::span<const message> batch) {
          for (const auto& m : batch) reply(k, m.hops);
        }) {}

  /// One-way time in nanoseconds.
  double flight() {
    done_ = false;
    am::epoch epoch(w_);
    const auto start = w_.clock().now_ns();
    if (w_.rank() == 0) channel_.send(main_worker, 1, {hops, {}});
    w_.wait_until([&] { return done_; });
    const auto ns = static_cast<double>(w_.clock().now_ns() - start);
    epoch.close();
    return w_.reduce<maximum<double>>(ns) / hops;
  }

 private:
  struct message {
    std::uint32_t hops;
    std::array<std::byte, Bytes - sizeof(std::uint32_t)> rest;
  };

  void reply(worker_t k, std::uint32_t left) {
    done_ = left <= 2;  // the last message of either rank
    if (left > 1) channel_.send(k, 1 - w_.rank(), {left - 1, {}});
  }

  world& w_;
  bool done_ = false;
  am::channel<message> channel_;
};

class probe {
 public:
  probe(world& w, const cluster_probe_options& opt)
      : w_(w),
        messages_(opt.vertices),
        apart_(draw_graph(w, opt, true)),
        mixed_(draw_graph(w, opt, false)),
        full_(w, [](worker_t, std::span<const std::uint64_t>) {}, {.coalesce_bytes = full_buffer}),
        lone_(w, [](worker_t, std::span<const std::uint64_t>) {},
              {.coalesce_bytes = sizeof(std::uint64_t)}),
        small_(w),
        large_(w) {}

  void round() {
    time(w_, pushes_apart_, [&] { push(w_, apart_); });
    time(w_, visits_apart_, [&] { visit(w_, apart_); });
    time(w_, pushes_, [&] { push(w_, mixed_); });
    time(w_, visits_, [&] { visit(w_, mixed_); });
    time(w_, nothing_, [&] { send(full_, 0); });
    time(w_, full_ns_, [&] { send(full_, messages_); });
    time(w_, lone_ns_, [&] { send(lone_, messages_); });
    time(w_, one_way_, [&] { send(lone_, w_.rank() == 0 ? messages_ : 0); });
    small_ns_.add(small_.flight());
    large_ns_.add(large_.flight());
  }

  /// alone   costs of an edge and a commit on one rank
  [[nodiscard]] cluster_costs result(const cluster_costs& alone) const {
    auto c = alone;
    auto& net = c.network;
    const auto each = [&](const sample& s) {
      return (s.ns - nothing_.ns) / static_cast<double>(messages_);
    };
    // Costs of a packet at both ends. A lone message has a packet of its own, others a share of
    // one.
    constexpr double share = sizeof(std::uint64_t) / static_cast<double>(full_buffer);
    net.overhead_ns = positive((each(lone_ns_) - each(full_ns_)) / (2 * (1 - share)));
    const auto rest = [&](const sample& s) {
      return s.ns - c.edge_ns * s.done.edges - c.commit_ns * s.done.commits -
             net.overhead_ns * s.done.packets;
    };
    const auto by_lookup = [&](const sample& s) { return rest(s) / s.done.lookups; };
    c.owner_ns = positive((by_lookup(pushes_apart_) + by_lookup(visits_apart_)) / 2);
    const auto by_message = [&](const sample& s) {
      return (rest(s) - c.owner_ns * s.done.lookups) / s.done.messages;
    };
    c.message_ns = positive((by_message(pushes_) + by_message(visits_)) / 2);
    net.byte_ns = positive((large_ns_.ns - small_ns_.ns) / (large_bytes - small_bytes));
    const auto tail = (small_bytes + sizeof(packet_header) - 1) * net.byte_ns;
    net.latency_ns = positive(small_ns_.ns - 2 * net.overhead_ns - 2 * c.message_ns - tail);
    net.gap_ns = positive(each(one_way_) - tail);
    return c;
  }

 private:
  static constexpr double small_bytes = 8, large_bytes = 4096;

  void send(am::channel<std::uint64_t>& road, std::size_t messages) {
    am::epoch epoch(w_);
    w_.parallel_for(
        messages,
        [&](worker_t k, std::size_t begin, std::size_t end) {
          auto to = road.from(k);
          for (auto i = begin; i < end; ++i) to(1 - w_.rank(), i);
        },
        chunk_messages);
    epoch.close();
  }

  world& w_;
  const std::size_t messages_;
  graph::dist_csr<id> apart_, mixed_;
  am::channel<std::uint64_t> full_, lone_;
  ping_pong<8> small_;
  ping_pong<4096> large_;
  sample pushes_apart_, visits_apart_, pushes_, visits_;
  sample nothing_, full_ns_, lone_ns_, one_way_, small_ns_, large_ns_;
};

}  // namespace

cluster_costs probe_rank(world& w, const cluster_probe_options& options) {
  CAIRN_EXPECTS(w.size() == 1 && w.workers() == 1, "a rank of one worker is measured");
  expect_enough(options);
  const auto g = draw_graph(w, options, true);
  sample pushes, visits;
  for (int i = 0; i < options.rounds; ++i) {
    time(w, pushes, [&] { push(w, g); });
    time(w, visits, [&] { visit(w, g); });
  }
  cluster_costs c;
  c.edge_ns = pushes.ns / pushes.done.edges;
  c.commit_ns = positive((visits.ns - c.edge_ns * visits.done.edges) / visits.done.commits);
  return c;
}

cluster_costs probe_cluster(world& w, const cluster_costs& alone,
                            const cluster_probe_options& options) {
  CAIRN_EXPECTS(w.size() == 2 && w.workers() == 1, "two ranks of one worker are measured");
  expect_enough(options);
  auto of_one = alone;
  const auto agree = [&](double& cost) { cost = w.reduce<add<double>>(cost) / 2; };
  agree(of_one.edge_ns);
  agree(of_one.commit_ns);
  probe p(w, options);
  for (int i = 0; i < options.rounds; ++i) p.round();
  // Each rank counted only its own work.
  auto costs = p.result(of_one);
  for (auto* const cost : {&costs.owner_ns, &costs.message_ns, &costs.network.latency_ns}) {
    agree(*cost);
  }
  return costs;
}

}  // namespace cairn::cli
