// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/am/parallel_for.hpp>
#include <cairn/pgas/global_view.hpp>
#include <cairn/task/task.hpp>
#include <cairn/task/when_all.hpp>

#include <support/global_arrays.hpp>
#include <support/places.hpp>

namespace cairn::pgas::global_array_test {
namespace {

using cairn::task::task;
using cairn::task::when_all;
using support::all_distributions;
using support::nothing;
using support::value_at;

const world_options small_buffers{.coalesce_bytes = 256};

class GlobalArray : public ::testing::TestWithParam<support::place> {};
INSTANTIATE_TEST_SUITE_P(Everywhere, GlobalArray, ::testing::ValuesIn(support::all_places()),
                         support::place_name);
INSTANTIATE_TEST_SUITE_P(Served, GlobalArray, ::testing::ValuesIn(support::served_places()),
                         support::place_name);

template <std::size_t N>
struct bytes_of {
  std::array<unsigned char, N> bytes;
  friend bool operator==(const bytes_of&, const bytes_of&) = default;
};

struct two_words {
  std::uint64_t a, b;
  friend bool operator==(const two_words&, const two_words&) = default;
};

// Every step-th element from `first` on.
template <class T>
task<> put_some(global_view<T> a, std::uint64_t first, std::uint64_t step, std::uint64_t salt) {
  for (auto i = first; i < a.size(); i += step) co_await a.put(i, value_at<T>(i, salt));
}
template <class T>
task<std::uint64_t> count_wrong(global_view<T> a, std::uint64_t first, std::uint64_t step,
                                std::uint64_t salt) {
  std::uint64_t wrong = 0;
  for (auto i = first; i < a.size(); i += step) {
    const T x = co_await a.get(i);
    wrong += x == value_at<T>(i, salt) ? 0 : 1;
  }
  co_return wrong;
}

template <class T>
task<> put_by_many(global_view<T> a, std::uint64_t first, std::uint64_t step, std::uint64_t salt) {
  std::vector<task<>> all;
  for (std::uint64_t k = 0; k < 4; ++k) {
    all.push_back(put_some(a, first + k * step, 4 * step, salt));
  }
  co_await when_all(std::move(all));
}

template <class T>
task<std::uint64_t> count_by_several(global_view<T> a, std::uint64_t salt) {
  std::vector<task<std::uint64_t>> all;
  for (std::uint64_t k = 0; k < 8; ++k) all.push_back(count_wrong(a, k, 8, salt));
  const auto counts = co_await when_all(std::move(all));
  std::uint64_t wrong = 0;
  for (const auto c : counts) wrong += c;
  co_return wrong;
}

template <class T>
void put_and_get(world& w, global_memory& memory) {
  const auto me = static_cast<std::uint64_t>(w.rank());
  const auto p = static_cast<std::uint64_t>(w.size());
  for (const auto d : all_distributions) {
    const auto a = memory.collective_alloc<T>(27, {.distribution = d});
    w.run(put_by_many(memory.view(a), me, p, 7));
    w.barrier();
    EXPECT_EQ(w.run(count_by_several(memory.view(a), 7)), 0u) << "size " << sizeof(T);
    memory.collective_free(a);
  }
}

TEST(CachedParts, TellWhereAPartIsBySize) {
  using cairn::task::likely_in;
  constexpr cached_parts sizes{.own_bytes = 100, .shared_bytes = 1'000, .partly_bytes = 2'000};
  EXPECT_EQ(sizes.likely(0), likely_in::own_cache);
  EXPECT_EQ(sizes.likely(100), likely_in::own_cache);
  EXPECT_EQ(sizes.likely(101), likely_in::shared_cache);
  EXPECT_EQ(sizes.likely(1'000), likely_in::shared_cache);
  EXPECT_EQ(sizes.likely(1'001), likely_in::partly_cached);
  EXPECT_EQ(sizes.likely(2'000), likely_in::partly_cached);
  EXPECT_EQ(sizes.likely(2'001), likely_in::memory);
}

TEST_P(GlobalArray, EveryRankReadsWhatOthersHavePut) {
  GetParam().run(
      [](world& w) {
        {
          global_memory memory(w);
          put_and_get<std::uint8_t>(w, memory);
          put_and_get<std::uint64_t>(w, memory);
          put_and_get<bytes_of<16>>(w, memory);
          put_and_get<two_words>(w, memory);
          put_and_get<bytes_of<100>>(w, memory);
          EXPECT_EQ(memory.live(), 0u);
        }
        // Each access to an own element yields.
        global_memory memory(w, {.cached = {.own_bytes = 0, .shared_bytes = 0, .partly_bytes = 0}});
        put_and_get<std::uint16_t>(w, memory);
        put_and_get<std::uint32_t>(w, memory);
        put_and_get<bytes_of<3>>(w, memory);
      },
      small_buffers);
}

task<std::uint64_t> ranges(global_memory& memory, global_array<std::uint32_t> of, bool writes) {
  auto a = memory.view(of);
  std::uint64_t wrong = 0;
  for (std::uint64_t first = 0; first < 90; first += 30) {
    std::vector<std::uint32_t> part(30);
    if (writes) {
      for (std::uint64_t i = 0; i < 30; ++i) part[i] = value_at<std::uint32_t>(first + i, 3);
      co_await a.put(first, std::span<const std::uint32_t>(part));
    }
    std::vector<std::uint32_t> copy(30);
    co_await a.get(first, std::span(copy));
    for (std::uint64_t i = 0; i < 30; ++i) {
      wrong += copy[i] != value_at<std::uint32_t>(first + i, 3);
    }
  }
  std::vector<std::uint32_t> none;
  co_await a.get(90, std::span(none));
  co_return wrong;
}

TEST_P(GlobalArray, RangesCrossOwners) {
  GetParam().run(
      [](world& w) {
        global_memory memory(w);
        for (const auto d : all_distributions) {
          const auto a = memory.collective_alloc<std::uint32_t>(90, {.distribution = d});
          if (w.rank() == 0) {
            EXPECT_EQ(w.run(ranges(memory, a, true)), 0u);
          } else {
            w.run(nothing());
          }
          w.barrier();
          EXPECT_EQ(w.run(ranges(memory, a, false)), 0u);
          memory.collective_free(a);
        }
      },
      small_buffers);
}

task<std::uint64_t> non_blocking(global_memory& memory, global_array<std::uint64_t> of,
                                 std::uint64_t me, std::uint64_t p) {
  auto a = memory.view(of);
  auto ops = co_await memory.operations();
  for (auto i = me; i < a.size(); i += p) a.put(i, value_at<std::uint64_t>(i, 5), ops);
  co_await ops.wait();
  EXPECT_EQ(ops.pending(), 0u);
  std::vector<std::uint64_t> copies(a.size());
  for (auto i = me; i < a.size(); i += p) a.get(i, &copies[i], ops);
  co_await ops.wait();
  std::uint64_t wrong = 0;
  for (auto i = me; i < a.size(); i += p) wrong += copies[i] != value_at<std::uint64_t>(i, 5);
  co_return wrong;
}

TEST_P(GlobalArray, NonBlockingOperationsAreCompleteAfterTheWait) {
  GetParam().run(
      [](world& w) {
        global_memory memory(w);
        for (const auto d : all_distributions) {
          const auto a = memory.collective_alloc<std::uint64_t>(300, {.distribution = d});
          EXPECT_EQ(w.run(non_blocking(memory, a, static_cast<std::uint64_t>(w.rank()),
                                       static_cast<std::uint64_t>(w.size()))),
                    0u);
          memory.collective_free(a);
        }
      },
      small_buffers);
}

// A task that ends earlier than its operations: puts take effect, gets write nowhere.
task<> leaves_early(global_view<std::uint64_t> a, global_memory& memory) {
  auto ops = co_await memory.operations();
  std::vector<std::uint64_t> copies(a.size());
  for (std::uint64_t i = 0; i < a.size(); ++i) {
    a.get(i, &copies[i], ops);
    a.max(i, i + 1, ops);
  }
}

TEST_P(GlobalArray, ATaskMayEndBeforeItsOperations) {
  GetParam().run([](world& w) {
    global_memory memory(w);
    const auto a = memory.collective_alloc<std::uint64_t>(50);
    w.run(leaves_early(memory.view(a), memory));
    w.barrier();
    // Nothing waits for the puts, so each rank waits until its own elements have changed.
    w.wait_until([&] {
      const auto mine = memory.view(a).local();
      for (std::size_t k = 0; k < mine.size(); ++k) {
        if (std::atomic_ref(mine[k]).load() == 0) return false;
      }
      return true;
    });
  });
}

// Table I of [GMT14], as pgas/global_memory.hpp maps it ----------------------------------------

void add_iterations(world& w, std::uint64_t begin, std::uint64_t end,
                    std::uintptr_t iterations_of_ranks) {
  auto& of = *reinterpret_cast<std::vector<std::atomic<std::uint64_t>>*>(iterations_of_ranks);
  of[static_cast<std::size_t>(w.rank())] += end - begin;
}
// How many iterations of 60 ran on this rank, and how many on all.
task<> every_locality(world& w) {
  using am::locality;
  const auto me = static_cast<std::size_t>(w.rank());
  const auto ranks = static_cast<std::uint64_t>(w.size());
  for (const auto where : {locality::partition, locality::local, locality::remote}) {
    std::vector<std::atomic<std::uint64_t>> of(ranks);  // all ranks are in this process
    co_await w.parallel_for<&add_iterations>(60, am::loop_options{.where = where},
                                             reinterpret_cast<std::uintptr_t>(&of));
    std::uint64_t all = 0;
    for (const auto& n : of) all += n;
    EXPECT_EQ(all, 60u);
    const bool here = where == locality::local || ranks == 1;
    if (here) {
      EXPECT_EQ(of[me], 60u);
    } else if (where == locality::remote) {
      EXPECT_EQ(of[me], 0u);
    } else {
      EXPECT_LT(of[me], 60u);
    }
  }
}

task<> every_primitive(global_memory& memory) {
  for (const auto locality : {distribution::partition, distribution::local, distribution::remote}) {
    const auto array =
        co_await memory.alloc<std::uint32_t>(10, {.distribution = locality});  // gmt_alloc
    auto a = memory.view(array);
    const std::array<std::uint32_t, 3> three{1, 2, 3};
    std::array<std::uint32_t, 4> four{};
    co_await a.put(2, std::span<const std::uint32_t>(three));  // gmt_put
    co_await a.put(5, 9u);                                     // gmt_putValue
    co_await a.get(2, std::span<std::uint32_t>(four));         // gmt_get
    EXPECT_EQ(four, (std::array<std::uint32_t, 4>{1, 2, 3, 9}));
    EXPECT_EQ(co_await a.get(3), 2u);
    auto ops = co_await memory.operations();
    std::uint32_t x = 0;
    a.put(0, std::span<const std::uint32_t>(three), ops);  // gmt_putNB
    a.put(9, 7u, ops);                                     // gmt_putValueNB
    a.get(4, &x, ops);                                     // gmt_getNB
    a.get(2, std::span<std::uint32_t>(four).first(1), ops);
    co_await ops.wait();  // gmt_waitCommands
    EXPECT_EQ(x, 3u);
    EXPECT_TRUE(four[0] == 1u || four[0] == 3u);
    EXPECT_EQ(co_await a.get(2), 3u);
    EXPECT_EQ(co_await a.fetch_add(9, 5u), 7u);  // gmt_atomicAdd
    co_await a.add(9, 1u);
    EXPECT_EQ(co_await a.compare_exchange(9, 13u, 1u), 13u);  // gmt_atomicCAS
    EXPECT_EQ(co_await a.compare_exchange(9, 13u, 2u), 1u);
    co_await memory.free(array);  // gmt_free
  }
}

TEST_P(GlobalArray, HasEveryPrimitiveOfGmt) {
  GetParam().run([](world& w) {
    global_memory memory(w);
    w.run(every_primitive(memory));
    w.run(every_locality(w));  // gmt_parFor
  });
}

task<std::uint64_t> count_nonzero(global_view<std::uint64_t> a, std::uint64_t times) {
  std::uint64_t n = 0;
  for (std::uint64_t k = 0; k < times; ++k) {
    n += (co_await a.get(a.size() - 1)) == value_at<std::uint64_t>(a.size() - 1, 2);
  }
  co_return n;
}
task<std::uint64_t> count_by_many(global_view<std::uint64_t> a) {
  std::vector<task<std::uint64_t>> all;
  for (int k = 0; k < 20; ++k) all.push_back(count_nonzero(a, 5));
  const auto counts = co_await when_all(std::move(all));
  std::uint64_t sum = 0;
  for (const auto c : counts) sum += c;
  co_return sum;
}

// Rank 0 asks for the last element, 20 tasks at once. Returns the messages that it sends.
std::uint64_t messages_of_gets(world& w, const global_memory_options& options) {
  global_memory memory(w, options);
  const auto a = memory.collective_alloc<std::uint64_t>(64);
  w.run(w.rank() == 0 ? put_some(memory.view(a), 0, 1, 2) : nothing());
  w.barrier();
  const auto before = w.counters().total(obs::counter::messages_sent);
  EXPECT_EQ(w.run(count_by_many(memory.view(a))), 100u);
  w.barrier();
  return w.counters().total(obs::counter::messages_sent) - before;
}

TEST_P(GlobalArray, GetsOfOneElementMayShareARequest) {
  GetParam().run([](world& w) {
    const auto apart = messages_of_gets(w, {}), shared = messages_of_gets(w, {.share_gets = true});
    if (w.rank() == 0 && w.size() > 1) {
      EXPECT_LT(shared, apart);
    }
  });
}

TEST_P(GlobalArray, GetsShareARequestIfTheWorldsOptionsSaySo) {
  GetParam().run(
      [](world& w) {
        const auto apart = messages_of_gets(w, {.share_gets = false});
        const auto shared = messages_of_gets(w, {});
        if (w.rank() == 0 && w.size() > 1) {
          EXPECT_LT(shared, apart);
        }
      },
      {.share_gets = true});
}

}  // namespace
}  // namespace cairn::pgas::global_array_test
