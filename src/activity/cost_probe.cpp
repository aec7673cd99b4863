// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include <cairn/activity/cost_probe.hpp>
#include <cairn/activity/executor.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/random.hpp>
#include <cairn/hw/pages.hpp>

namespace cairn::activity {
namespace {

using mark = std::uint64_t;

/// The marks of the vertices, as a map that operators can name.
struct mark_map {
  using value_type = mark;
  struct place {
    const mark_map* map;
    std::uint64_t id;
    [[nodiscard]] static rank_t owner() noexcept { return 0; }
    [[nodiscard]] mark& element() const noexcept { return map->marks[id]; }
  };
  mark* marks;
  std::uint64_t count;

  [[nodiscard]] bool owns(std::uint64_t id) const noexcept { return id < count; }
  [[nodiscard]] place at(std::uint64_t id) const noexcept { return {this, id}; }
};

/// Single-cell operator: sets a vertex's mark to its next value.
struct claim_mark {
  struct message {
    std::uint32_t vertex, before;
  };
  mark_map marks;

  auto cell(const message& m) const { return marks.at(m.vertex); }
  bool attempt(auto x, const message& m) const {
    return x.claim(m.before, mark{m.before} + 1) == m.before;
  }
};

/// The same as a multi-cell operator, for stm.
struct write_mark {
  using message = claim_mark::message;
  mark_map marks;

  void elements(const message& m, auto&& each) const { each(marks.at(m.vertex)); }
  bool attempt(auto& tx, const message& m) const {
    if (tx.read(marks, m.vertex) != m.before) return false;
    tx.write(marks, m.vertex, mark{m.before} + 1);
    return true;
  }
};

/// Marks several vertices, one after another.
struct write_marks {
  struct message {
    std::uint32_t first, count, before;  // `first` and `count`: a range of `order`
  };
  mark_map marks;
  const std::uint32_t* order;

  void elements(const message& m, auto&& each) const {
    for (std::uint32_t i = 0; i < m.count; ++i) each(marks.at(order[m.first + i]));
  }
  void attempt(auto& tx, const message& m) const {
    for (std::uint32_t i = 0; i < m.count; ++i) {
      const auto v = order[m.first + i];
      if (tx.read(marks, v) == m.before) tx.write(marks, v, mark{m.before} + 1);
    }
  }
};

using order_span = std::span<const std::uint32_t>;

void spawn_ones(auto& op, order_span order, std::uint32_t before) {
  op.spawn(main_worker, [&](auto& send) {
    for (const auto v : order) send({v, before});
  });
}

/// A mechanism with its own marks and executors; each executor runs activities of one size.
class bench_of {
 public:
  bench_of(world& w, mechanism chosen, order_span order)
      : w_(w), mechanism_(chosen), order_(order) {
    marks_ = hw::page_buffer<mark>(order.size());
    marks_.prefault();
  }

  [[nodiscard]] mechanism chosen_mechanism() const noexcept { return mechanism_; }

  /// Marks every vertex once. Returns nanoseconds per activity of that size.
  double pass(std::size_t size) {
    if (std::exchange(size_, size) != size) prepare();
    am::epoch epoch(w_);
    const auto start = w_.clock().now_ns();
    modify_all(static_cast<std::uint32_t>(passes_++));
    const auto ns = static_cast<double>(w_.clock().now_ns() - start);
    epoch.close();
    return ns * static_cast<double>(size) / static_cast<double>(order_.size());
  }
  [[nodiscard]] bool right() const {
    return std::all_of(marks_.begin(), marks_.end(), [&](mark m) { return m == passes_; });
  }

 private:
  void prepare() {
    const mark_map marks{marks_.data(), marks_.size()};
    const options requested{.mechanism = mechanism_, .grain = size_};
    claims_.reset();
    writes_.reset();
    groups_.reset();
    if (mechanism_ == mechanism::atomics || mechanism_ == mechanism::htm) {
      claims_.emplace(w_, claim_mark{marks}, requested);
      return;
    }
    data_.emplace(w_, requested);
    if (mechanism_ == mechanism::stm) {
      writes_.emplace(*data_, write_mark{marks});
    } else {
      groups_.emplace(*data_, write_marks{marks, order_.data()});
    }
  }

  void modify_all(std::uint32_t before) {
    if (claims_) return spawn_ones(*claims_, order_, before);
    if (writes_) return spawn_ones(*writes_, order_, before);
    groups_->spawn(main_worker, [&](auto& send) {
      for (std::size_t i = 0; i < order_.size(); i += size_) {
        const auto count = std::min(size_, order_.size() - i);
        send({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(count), before});
      }
    });
  }

  world& w_;
  const mechanism mechanism_;
  const order_span order_;
  hw::page_buffer<mark> marks_;
  mark passes_ = 0;
  std::size_t size_ = 0;  // vertices per activity
  std::optional<domain> data_;
  std::optional<executor<claim_mark>> claims_;
  std::optional<executor<write_mark>> writes_;
  std::optional<executor<write_marks>> groups_;
};

double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<std::uint32_t> random_order(world& w, std::size_t n) {
  constexpr std::size_t at_once = 1 << 16;
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  random64 draw(1);
  for (std::size_t i = n; i > 1; --i) {
    if (i % at_once == 0) w.throw_if_interrupted();
    std::swap(order[i - 1], order[draw.below(i)]);
  }
  return order;
}

mechanism_cost summarise(mechanism chosen, const std::vector<std::size_t>& sizes,
                         std::vector<std::vector<double>>& passes) {
  mechanism_cost cost{.mechanism = chosen, .samples = {}, .spread_ns = {}, .model = {}};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto ns = median_of(passes[i]);
    for (auto& x : passes[i]) x = std::abs(x - ns);
    cost.samples.push_back({static_cast<double>(sizes[i]), ns});
    cost.spread_ns.push_back(median_of(passes[i]));
  }
  cost.model = fit_cost(cost.samples);
  return cost;
}

}  // namespace

std::vector<mechanism_cost> probe_costs(world& w, const cost_probe_options& options) {
  const auto& sizes = options.sizes;
  CAIRN_EXPECTS(options.rounds >= 1 && sizes.size() >= 2);
  CAIRN_EXPECTS(sizes.front() >= 1 && sizes.back() <= std::min(options.vertices, max_grain));
  CAIRN_EXPECTS(options.vertices <= std::size_t{1} << 31);
  CAIRN_EXPECTS(std::is_sorted(sizes.begin(), sizes.end(), std::less_equal<>()));
  world alone;
  const auto order = random_order(w, options.vertices);
  std::deque<bench_of> benches;
  for (const auto chosen : {mechanism::plain, mechanism::atomics, mechanism::htm, mechanism::locks,
                            mechanism::one_lock, mechanism::stm}) {
    if (chosen == mechanism::htm && !w.transactions().works) continue;
    benches.emplace_back(alone, chosen, order);
  }
  using passes_by_size = std::vector<std::vector<double>>;
  std::vector<passes_by_size> passes(benches.size(), passes_by_size(sizes.size()));
  for (int round = -1; round < options.rounds; ++round) {  // the first round warms up
    for (std::size_t b = 0; b < benches.size(); ++b) {
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        w.throw_if_interrupted();  // cancel() of w does not reach `alone`
        const auto ns = benches[b].pass(sizes[i]);
        if (round >= 0) passes[b][i].push_back(ns);
      }
    }
  }
  std::vector<mechanism_cost> costs;
  for (std::size_t b = 0; b < benches.size(); ++b) {
    costs.push_back(summarise(benches[b].chosen_mechanism(), sizes, passes[b]));
    if (!benches[b].right()) costs.back().fault = "a vertex has another mark than it should";
  }
  return costs;
}

const mechanism_cost* cost_of(std::span<const mechanism_cost> all, mechanism chosen) noexcept {
  const auto at =
      std::find_if(all.begin(), all.end(), [&](const auto& c) { return c.mechanism == chosen; });
  return at == all.end() ? nullptr : &*at;
}

fitted_costs fitted(std::span<const mechanism_cost> all) {
  constexpr double largest_operator = 8;
  fitted_costs lines;
  for (const auto& c : all) {
    const bool in_groups = c.mechanism == mechanism::htm || c.mechanism == mechanism::stm;
    const auto small =
        std::partition_point(c.samples.begin(), c.samples.end(),
                             [](const cost_sample& s) { return s.vertices <= largest_operator; });
    const std::span some(c.samples.begin(), in_groups ? c.samples.end() : small);
    lines.of(c.mechanism) = some.size() < 2 ? c.model : fit_cost(some);
  }
  return lines;
}

}  // namespace cairn::activity
