// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

#include <cairn/activity/cost_probe.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/random.hpp>
#include <cairn/hw/pages.hpp>
#include <cairn/obs/counters.hpp>
#include <cairn/tm/cell.hpp>
#include <cairn/tm/fallback_lock.hpp>
#include <cairn/tm/hardware_section.hpp>
#include <cairn/tm/lock_table.hpp>
#include <cairn/tm/section.hpp>
#include <cairn/tm/versioned_section.hpp>

namespace cairn::activity {
namespace {

using mark = std::uint64_t;

struct no_relax {
  void operator()(unsigned) const noexcept {}
};

/// One activity: vertices of `marks` that go from one mark to the next.
struct batch {
  mark* marks;
  const std::uint32_t* vertices;
  std::size_t size;
  mark before;

  template <class Access>
  [[gnu::always_inline]] void modify(Access access) const {
    for (std::size_t i = 0; i < size; ++i) {
      tm::cell_ref(marks[vertices[i]], access).claim(before, before + 1);
    }
  }
};

struct by_plain {
  void run(const batch& b) const { b.modify(tm::plain_access{}); }
};

struct by_atomics {
  void run(const batch& b) const { b.modify(tm::atomic_access{}); }
};

struct by_locks {
  void run(const batch& b) {
    for (std::size_t i = 0; i < b.size; ++i) held.add(&b.marks[b.vertices[i]]);
    held.lock(no_relax{});
    b.modify(tm::section_access{});
    held.unlock();
  }
  tm::lock_table all{};
  tm::lock_set held{all};
};

struct by_one_lock {
  void run(const batch& b) {
    const tm::fallback_lock::guard alone(all, no_relax{});
    b.modify(tm::section_access{});
  }
  tm::fallback_lock all{};
};

struct by_stm {
  void run(const batch& b) {
    const auto body = [b](auto access) __attribute__((always_inline)) { b.modify(access); };
    const auto end = runner.run(tm::unsubscribed{}, 1, body, [] {});
    if (end == tm::section_end::committed) return;
    runner.hardware().outside([&] { body(runner.hardware().cell_access()); });
  }
  using section = tm::versioned_section<tm::version_table<>, no_relax>;
  obs::counters counted{1};
  tm::version_table<> versions{};
  tm::section_runner<section, no_relax> runner{
      section(versions, 0, {}), tm::retry_limits{}, 1, counted, 0, no_relax{}};
};

struct by_htm {
  void run(const batch& b) {
    const auto body = [b](auto access) __attribute__((always_inline)) { b.modify(access); };
    const auto pretouch = [b] {
      for (std::size_t i = 0; i < b.size; ++i)
        hw::touch_pages(&b.marks[b.vertices[i]], sizeof(mark));
    };
    const auto end = runner.run(tm::subscribed(net), 1, body, pretouch);
    if (end == tm::section_end::committed) return;
    const tm::fallback_lock::guard alone(net, no_relax{});
    body(tm::section_access{});
  }
  obs::counters counted{1};
  tm::fallback_lock net{};
  tm::section_runner<tm::rtm_hardware, no_relax> runner{
      tm::rtm_hardware{}, tm::retry_limits{}, 1, counted, 0, no_relax{}};
};

/// A mechanism with its own marks. pass(size) returns nanoseconds per activity of that size.
class bench_of {
 public:
  explicit bench_of(std::size_t vertices) : marks_(vertices) { marks_.prefault(); }
  virtual ~bench_of() = default;
  bench_of(const bench_of&) = delete;
  bench_of& operator=(const bench_of&) = delete;

  double pass(const hw::clock& clock, std::span<const std::uint32_t> order, std::size_t size) {
    const auto start = clock.now_ns();
    modify_all(marks_.data(), order, size, passes_++);
    const auto ns = static_cast<double>(clock.now_ns() - start);
    return ns * static_cast<double>(size) / static_cast<double>(order.size());
  }
  [[nodiscard]] bool right() const {
    return std::all_of(marks_.begin(), marks_.end(), [&](mark m) { return m == passes_; });
  }

 private:
  virtual void modify_all(mark* marks, std::span<const std::uint32_t> order, std::size_t size,
                          mark before) = 0;

  hw::page_buffer<mark> marks_;
  mark passes_ = 0;
};

template <class How>
class bench_by final : public bench_of {
 public:
  using bench_of::bench_of;

 private:
  void modify_all(mark* marks, std::span<const std::uint32_t> order, std::size_t size,
                  mark before) override {
    for (std::size_t i = 0; i < order.size(); i += size) {
      how_.run({marks, order.data() + i, std::min(size, order.size() - i), before});
    }
  }

  How how_;
};

double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<std::uint32_t> random_order(std::size_t n) {
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  random64 draw(1);
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[draw.below(i)]);
  return order;
}

mechanism_cost summarise(mechanism how, const std::vector<std::size_t>& sizes,
                         std::vector<std::vector<double>>& passes) {
  mechanism_cost cost{.how = how, .samples = {}, .spread_ns = {}, .model = {}};
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
  CAIRN_EXPECTS(sizes.front() >= 1 && sizes.back() <= options.vertices);
  CAIRN_EXPECTS(std::is_sorted(sizes.begin(), sizes.end(), std::less_equal<>()));
  const auto n = options.vertices;
  std::vector<std::pair<mechanism, std::unique_ptr<bench_of>>> benches;
  benches.emplace_back(mechanism::plain, std::make_unique<bench_by<by_plain>>(n));
  benches.emplace_back(mechanism::atomics, std::make_unique<bench_by<by_atomics>>(n));
  if (w.transactions().works)
    benches.emplace_back(mechanism::htm, std::make_unique<bench_by<by_htm>>(n));
  benches.emplace_back(mechanism::locks, std::make_unique<bench_by<by_locks>>(n));
  benches.emplace_back(mechanism::one_lock, std::make_unique<bench_by<by_one_lock>>(n));
  benches.emplace_back(mechanism::stm, std::make_unique<bench_by<by_stm>>(n));

  const auto order = random_order(n);
  using passes_by_size = std::vector<std::vector<double>>;
  std::vector<passes_by_size> passes(benches.size(), passes_by_size(sizes.size()));
  for (int round = -1; round < options.rounds; ++round) {  // the first one warms up
    for (std::size_t b = 0; b < benches.size(); ++b) {
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        const auto ns = benches[b].second->pass(w.clock(), order, sizes[i]);
        if (round >= 0) passes[b][i].push_back(ns);
      }
    }
  }
  std::vector<mechanism_cost> costs;
  for (std::size_t b = 0; b < benches.size(); ++b) {
    costs.push_back(summarise(benches[b].first, sizes, passes[b]));
    if (!benches[b].second->right())
      costs.back().fault = "a vertex has another mark than it should";
  }
  return costs;
}

const mechanism_cost* cost_of(std::span<const mechanism_cost> all, mechanism how) noexcept {
  const auto at = std::find_if(all.begin(), all.end(), [&](const auto& c) { return c.how == how; });
  return at == all.end() ? nullptr : &*at;
}

fitted_costs fitted(std::span<const mechanism_cost> all) {
  constexpr double largest_operator = 8;
  fitted_costs lines;
  for (const auto& c : all) {
    const bool in_groups = c.how == mechanism::htm || c.how == mechanism::stm;
    const auto small =
        std::partition_point(c.samples.begin(), c.samples.end(),
                             [](const cost_sample& s) { return s.vertices <= largest_operator; });
    const std::span some(c.samples.begin(), in_groups ? c.samples.end() : small);
    lines.of(c.how) = some.size() < 2 ? c.model : fit_cost(some);
  }
  return lines;
}

}  // namespace cairn::activity
