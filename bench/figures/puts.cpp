// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include <cairn/am/request.hpp>
#include <cairn/base/random.hpp>
#include <cairn/pgas/global_view.hpp>
#include <cairn/task/task.hpp>
#include <cairn/task/when_all.hpp>

#include <bench/figures/cluster.hpp>
#include <bench/figures/puts.hpp>

namespace cairn::bench {
namespace {

constexpr std::uint64_t block = 1 << 12;  // elements of a rank

template <int Bytes>
struct element {
  std::array<std::uint64_t, Bytes / 8> words;
  friend bool operator==(const element&, const element&) = default;
};
template <int Bytes>
element<Bytes> value_at(std::uint64_t i) {
  element<Bytes> x;
  for (auto& word : x.words) word = mix64(i);
  return x;
}

/// Which rank puts to which.
struct put_plan {
  std::uint64_t me, ranks;
  bool one_to_all;

  [[nodiscard]] bool puts() const { return !one_to_all || me == 0; }
  [[nodiscard]] std::uint64_t target(std::uint64_t i) const {
    const auto others = one_to_all ? i % (ranks - 1) : 0;
    return (me + 1 + others) % ranks * block + mix64(i) % block;
  }
  /// The plan of the only rank that puts to this one.
  [[nodiscard]] put_plan of_source() const {
    return {one_to_all ? 0 : (me + ranks - 1) % ranks, ranks, one_to_all};
  }
};

template <class View>
task::task<> put_some(View a, put_plan plan, std::uint64_t first, std::uint64_t last) {
  for (auto i = first; i < last; ++i) {
    const auto at = plan.target(i);
    co_await a.put(at, value_at<sizeof(typename View::value_type)>(at));
  }
}
template <class View>
task::task<> put_all(View a, put_plan plan, std::uint64_t tasks, std::uint64_t puts) {
  if (!plan.puts()) co_return;
  std::vector<task::task<>> all;
  all.reserve(tasks);
  for (std::uint64_t t = 0; t < tasks; ++t) {
    all.push_back(put_some(a, plan, puts * t / tasks, puts * (t + 1) / tasks));
  }
  co_await task::when_all(std::move(all));
}

struct put_rate {
  std::vector<double> mb_per_s;
  double puts_per_buffer = 0;
};

/// The passes of one rank for one size of elements.
template <int Bytes>
class put_stage {
  using value = element<Bytes>;
  struct put {
    std::uint64_t at;
    value x;
  };

 public:
  put_stage(world& w, bool one_to_all)
      : w_(w),
        plan_{static_cast<std::uint64_t>(w.rank()), static_cast<std::uint64_t>(w.size()),
              one_to_all},
        memory_(w),
        array_(memory_.template collective_alloc<value>(block * plan_.ranks)),
        local_(memory_.view(array_).local()),
        single_(
            w,
            [data = local_.data()](worker_t, const put& p) {
              data[p.at] = p.x;
              return std::array<std::uint32_t, 1>{};
            },
            [](worker_t, std::uint64_t, const auto&) {},
            {.kind = channel_kind::standing, .coalesce_bytes = 8, .max_unanswered = 4096}) {}

  /// tasks   0: one message per put
  void pass(std::uint64_t tasks, std::uint64_t puts, put_rate& rate) {
    std::fill(local_.begin(), local_.end(), value{});
    w_.barrier();
    const auto before = w_.counters().totals();
    const auto start = w_.clock().now_ns();
    if (tasks == 0) {
      one_by_one(puts);
    } else {
      w_.run(put_all(memory_.view(array_), plan_, tasks, puts));
    }
    const auto ns = w_.max(w_.clock().now_ns() - start);
    const auto sent = sent_between(before, w_.counters().totals());
    const auto putting = w_.sum(std::uint64_t{plan_.puts() ? puts : 0});
    rate.mb_per_s.push_back(1e3 * static_cast<double>(putting * Bytes) / static_cast<double>(ns));
    rate.puts_per_buffer = static_cast<double>(2 * putting) /
                           static_cast<double>(std::max<std::uint64_t>(1, w_.sum(sent.buffers)));
    expect_right(puts);
  }

 private:
  void one_by_one(std::uint64_t puts) {
    if (plan_.puts()) {
      w_.parallel_for(puts, [&](worker_t k, std::size_t begin, std::size_t end) {
        auto ask = single_.from(k);
        for (auto i = begin; i < end; ++i) {
          const auto at = plan_.target(i);
          ask(static_cast<rank_t>(at / block), {at % block, value_at<Bytes>(at)}, am::slot(0));
        }
      });
    }
    single_.finish();
    w_.barrier();
  }
  void expect_right(std::uint64_t puts) {
    w_.barrier();
    std::vector<bool> written(local_.size());
    const auto by = plan_.of_source();
    for (std::uint64_t i = 0; by.puts() && i < puts; ++i) {
      const auto at = by.target(i);
      if (at / block == plan_.me) written[at % block] = true;
    }
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < local_.size(); ++i) {
      const auto expected = written[i] ? value_at<Bytes>(plan_.me * block + i) : value{};
      wrong += local_[i] == expected ? 0 : 1;
    }
    if (w_.sum(wrong) != 0) throw wrong_result("a put is missing, or reached a wrong element");
  }

  world& w_;
  put_plan plan_;
  pgas::global_memory memory_;
  pgas::global_array<value> array_;
  std::span<value> local_;
  am::request<put, std::array<std::uint32_t, 1>> single_;
};

template <int Bytes>
std::vector<put_rate> rates_of(world& w, const std::vector<std::uint64_t>& tasks, bool one_to_all,
                               std::uint64_t max_puts, int repeats) {
  put_stage<Bytes> stage(w, one_to_all);
  std::vector<put_rate> rates(tasks.size());
  // Few tasks wait for each put in turn.
  const auto puts = [&](std::uint64_t t) {
    return t == 0 ? max_puts / 8 : std::clamp<std::uint64_t>(64 * t, 256, max_puts);
  };
  for (int r = -1; r < repeats; ++r) {  // the first warms up, unless there is only one
    if (r < 0 && repeats == 1) continue;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      put_rate warm_up;
      stage.pass(tasks[i], puts(tasks[i]), r < 0 ? warm_up : rates[i]);
    }
  }
  return rates;
}

std::vector<put_rate> rates_of(int bytes, world& w, const std::vector<std::uint64_t>& tasks,
                               bool one_to_all, std::uint64_t max_puts, int repeats) {
  switch (bytes) {
    case 8:
      return rates_of<8>(w, tasks, one_to_all, max_puts, repeats);
    case 16:
      return rates_of<16>(w, tasks, one_to_all, max_puts, repeats);
    case 32:
      return rates_of<32>(w, tasks, one_to_all, max_puts, repeats);
    case 64:
      return rates_of<64>(w, tasks, one_to_all, max_puts, repeats);
    case 128:
      return rates_of<128>(w, tasks, one_to_all, max_puts, repeats);
    default:
      throw std::invalid_argument("an element has 8, 16, 32, 64 or 128 bytes");
  }
}

std::vector<std::uint64_t> with_single(const put_sweep& s) {
  std::vector<std::uint64_t> all{0};
  all.insert(all.end(), s.tasks.begin(), s.tasks.end());
  return all;
}

void record_rates(const char* where, int ranks, int bytes, const std::vector<std::uint64_t>& tasks,
                  const std::vector<put_rate>& rates, const figure::record_function& record) {
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    record({{"where", where},
            {"ranks", ranks},
            {"bytes", bytes},
            {"tasks", tasks[i]},
            {"mb_per_s", json_of(summarise(rates[i].mb_per_s))},
            {"puts_per_buffer", rates[i].puts_per_buffer}});
  }
}

}  // namespace

void put_sweep::add_to(argument_list& arguments) {
  arguments.number("--bytes", bytes, {8, 128}, "of an element: 8, 16, 32, 64, 128");
  arguments.number("--tasks", tasks, {1, 1 << 20}, "of a rank, ascending");
  arguments.number("--puts", puts, {1024, std::uint64_t{1} << 40}, "of a rank in a pass");
  arguments.number("--simulated", simulated, {2, 4096}, "numbers of simulated ranks");
  arguments.number("--simulated-puts", simulated_puts, {1024, std::uint64_t{1} << 40},
                   "of a simulated rank");
  arguments.number("--repeats", repeats, {1, 1000}, "of a pass on real ranks");
}

void measure_puts(const put_sweep& s, int ranks, bool one_to_all,
                  const figure::record_function& record) {
  const auto tasks = with_single(s);
  for (const int bytes : s.bytes) {
    std::vector<put_rate> rates;
    run_on_threads(ranks, {}, [&](world& w) {
      auto mine = rates_of(bytes, w, tasks, one_to_all, s.puts, s.repeats);
      if (w.rank() == 0) rates = std::move(mine);
    });
    record_rates("local", ranks, bytes, tasks, rates, record);
  }
}

void predict_puts(const put_sweep& s, int ranks, bool one_to_all,
                  const figure::record_function& record) {
  const auto tasks = with_single(s);
  for (const int bytes : s.bytes) {
    std::vector<put_rate> rates;
    run_predicted(ranks, {}, {}, [&](world& w) {
      auto mine = rates_of(bytes, w, tasks, one_to_all, s.simulated_puts, 1);
      if (w.rank() == 0) rates = std::move(mine);
    });
    record_rates("simulated", ranks, bytes, tasks, rates, record);
  }
}

}  // namespace cairn::bench
