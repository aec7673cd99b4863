// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <cairn/activity/coarse.hpp>
#include <cairn/algo/cluster_probe.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/random.hpp>
#include <cairn/pgas/vertex_map.hpp>

namespace cairn::algo {
namespace {

constexpr std::size_t chunk_edges = 1024, full_buffer = 4096;
constexpr std::size_t lone_share = 8;  // of the edges, that many times fewer travel alone
constexpr int hops = 400;

using word = std::uint32_t;

struct visit {
  struct message {
    word v, round;
  };
  const pgas::vertex_map<word>& marks;

  auto cell(const message& m) const { return marks.at(m.v); }
  bool wanted(word mark, const message& m) const { return mark < m.round; }
  bool attempt(auto mark, const message& m) const {
    return mark.claim(m.round - 1, m.round) == m.round - 1;
  }
};

/// A message that is sent to and fro, `Bytes` long.
template <std::size_t Bytes>
class ball {
 public:
  explicit ball(world& w)
      : w_(w), courts_(w, [this](worker_t k, std::span<const message> batch) {
          for (const auto& m : batch) hit(k, m.hops);
        }) {}

  /// Nanoseconds from one rank to the other.
  double flight() {
    done_ = false;
    am::epoch epoch(w_);
    const auto start = w_.clock().now_ns();
    if (w_.rank() == 0) courts_.send(0, 1, {hops, {}});
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

  void hit(worker_t k, std::uint32_t left) {
    done_ = left <= 2;  // the other rank's last, or this one's
    if (left > 1) courts_.send(k, 1 - w_.rank(), {left - 1, {}});
  }

  world& w_;
  bool done_ = false;
  am::channel<message> courts_;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class probe {
 public:
  probe(world& w, const cluster_probe_options& opt)
      : w_(w),
        marks_(w, {2 * opt.vertices, 2}, 0),
        visits_(w, visit{marks_}),
        full_(w, taker(), full_buffer),
        lone_(w, taker(), sizeof(visit::message)),
        small_(w),
        large_(w),
        targets_(opt.vertices * opt.degree) {
    random64 draw(static_cast<std::uint64_t>(w.rank()), 1);
    for (auto& t : targets_) t = static_cast<word>(draw.below(opt.vertices));
  }

  void round() {
    const auto all = targets_.size(), some = all / lone_share;
    const auto own = marks_.first(), others = marks_.partition().first(1 - w_.rank());
    ++round_;
    const auto before = w_.counters().total(obs::counter::activities);
    const auto commits =
        pass(all, [&](worker_t k, std::size_t i, std::size_t end) { spawn_own(k, own, i, end); });
    const auto vertices = w_.counters().total(obs::counter::activities) - before;
    const auto edges =
        pass(all, [&](worker_t k, std::size_t i, std::size_t end) { spawn_own(k, own, i, end); });
    const auto full = pass(
        all, [&](worker_t k, std::size_t i, std::size_t end) { send(full_, k, others, i, end); });
    const auto lone = pass(
        some, [&](worker_t k, std::size_t i, std::size_t end) { send(lone_, k, others, i, end); });
    const auto one_way = pass(some, [&](worker_t k, std::size_t i, std::size_t end) {
      if (w_.rank() == 0) send(lone_, k, others, i, end);
    });
    const auto none = pass(0, [](worker_t, std::size_t, std::size_t) {});
    const auto each = [&](double ns, std::size_t n) {
      return (ns - none) / static_cast<double>(n);
    };
    edge_.push_back(each(edges, all));
    commit_.push_back((commits - edges) / static_cast<double>(vertices));
    full_ns_.push_back(each(full, all));
    lone_ns_.push_back(each(lone, some));
    one_way_ns_.push_back(each(one_way, some));
    small_ns_.push_back(small_.flight());
    large_ns_.push_back(large_.flight());
  }

  cluster_costs result() {
    cluster_costs c;
    auto& net = c.network;
    const auto positive = [](double ns) { return std::max(0.0, ns); };
    c.edge_ns = positive(median(edge_));
    c.commit_ns = positive(median(commit_));
    // What two ends do for a message, once with a packet of its own and once with its share.
    constexpr double share = static_cast<double>(sizeof(visit::message)) / full_buffer;
    const auto lone = median(lone_ns_), full = median(full_ns_);
    net.overhead_ns = positive((lone - full) / (2 * (1 - share)));
    c.message_ns = positive((full - c.edge_ns - 2 * share * net.overhead_ns) / 2);
    const auto small = median(small_ns_), large = median(large_ns_);
    net.byte_ns = positive((large - small) / (large_bytes - small_bytes));
    const auto tail = (small_bytes + sizeof(packet_header) - 1) * net.byte_ns;
    net.latency_ns = positive(small - 2 * net.overhead_ns - 2 * c.message_ns - tail);
    net.gap_ns = positive(median(one_way_ns_) - tail);
    return c;
  }

 private:
  static constexpr double small_bytes = 8, large_bytes = 4096;

  // Handles a buffer as the channel of a coarse operator does.
  std::function<void(worker_t, std::span<const visit::message>)> taker() {
    return [this](worker_t k, std::span<const visit::message> batch) {
      visits_.spawn(k, [&](auto& visit) {
        for (const auto& m : batch) visit(m);
      });
    };
  }

  /// Nanoseconds of an epoch in which each rank calls body(worker, i, end) for chunks of edges.
  template <class Body>
  double pass(std::size_t edges, Body body) {
    w_.barrier();
    const auto start = w_.clock().now_ns();
    am::epoch epoch(w_);
    w_.parallel_for(edges, body, chunk_edges);
    epoch.close();
    return w_.reduce<maximum<double>>(static_cast<double>(w_.clock().now_ns() - start));
  }

  void spawn_own(worker_t k, std::uint64_t first, std::size_t i, std::size_t end) {
    visits_.spawn(k, [&](auto& visit) {
      for (auto e = i; e < end; ++e) visit({static_cast<word>(first + targets_[e]), round_});
    });
    w_.counters().add(k, obs::counter::edges, end - i);
  }

  void send(am::channel<visit::message>& road, worker_t k, std::uint64_t first, std::size_t i,
            std::size_t end) {
    auto to = road.from(k);
    for (auto e = i; e < end; ++e) {
      to(1 - w_.rank(), {static_cast<word>(first + targets_[e]), round_});
    }
    w_.counters().add(k, obs::counter::edges, end - i);
  }

  world& w_;
  pgas::vertex_map<word> marks_;
  activity::coarse<visit> visits_;
  am::channel<visit::message> full_, lone_;
  ball<8> small_;
  ball<4096> large_;
  std::vector<word> targets_;
  word round_ = 0;
  std::vector<double> edge_, commit_, full_ns_, lone_ns_, one_way_ns_, small_ns_, large_ns_;
};

}  // namespace

cluster_costs probe_cluster(world& w, const cluster_probe_options& options) {
  CAIRN_EXPECTS(w.size() == 2 && w.workers() == 1, "two ranks of one worker are measured");
  CAIRN_EXPECTS(options.rounds >= 1 && options.vertices >= 1 && options.degree >= lone_share);
  probe p(w, options);
  p.round();  // pages, rings and buffers are touched
  probe measured(w, options);
  for (int i = 0; i < options.rounds; ++i) measured.round();
  auto costs = measured.result();
  // Medians of maxima over the ranks are the same on both; the counts of commits are not.
  costs.commit_ns = w.reduce<maximum<double>>(costs.commit_ns);
  return costs;
}

}  // namespace cairn::algo
