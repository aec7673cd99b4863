// SPDX-License-Identifier: Apache-2.0
// The allocation of global arrays, and errors.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/pgas/array_table.hpp>
#include <cairn/pgas/global_view.hpp>
#include <cairn/task/future.hpp>
#include <cairn/task/task.hpp>
#include <cairn/task/yield.hpp>

#include <support/global_arrays.hpp>
#include <support/places.hpp>

namespace cairn::pgas::global_array_life_test {
namespace {

using cairn::task::task;
using support::all_distributions;

TEST(AnswersInProgress, AreWaitedForBeforeAPartIsFreed) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    support::on_simulated_ranks(1, 2, seed, [](world& w) {
      answers_in_progress<> all(2);
      std::atomic<bool> begun = false, ended = false;
      w.run([&](worker_t k) {
        if (k == main_worker) {
          for (unsigned rounds = 0; !begun; ++rounds) w.pool().relax(rounds);
          all.wait_for_others(w.pool(), main_worker);
          EXPECT_TRUE(ended);
        } else {
          const answers_in_progress<>::answering now(all, k);
          begun = true;
          for (int i = 0; i < 50; ++i) w.pool().switch_point();
          ended = true;
        }
      });
      all.wait_for_others(w.pool(), main_worker);  // none is in progress
    });
  }
}

class GlobalArrayLife : public ::testing::TestWithParam<support::place> {};
INSTANTIATE_TEST_SUITE_P(Everywhere, GlobalArrayLife, ::testing::ValuesIn(support::all_places()),
                         support::place_name);
INSTANTIATE_TEST_SUITE_P(Served, GlobalArrayLife, ::testing::ValuesIn(support::served_places()),
                         support::place_name);

using numbers = global_array<std::uint64_t>;

// Arrays in an array: each task allocates some, stores their handles, and others use and free them.
task<> allocate_some(global_memory& memory, global_array<numbers> handles, std::uint64_t me,
                     std::uint64_t p) {
  auto all = memory.view(handles);
  for (auto i = me; i < all.size(); i += p) {
    const auto d = all_distributions[i % 5];
    const auto a = co_await memory.alloc<std::uint64_t>(20 + i, {.distribution = d});
    auto v = memory.view(a);
    EXPECT_EQ(co_await v.get(i), 0u);  // zero at first
    co_await v.put(i, i * i);
    co_await all.put(i, a);
  }
}
task<> use_and_free(global_memory& memory, global_array<numbers> handles, std::uint64_t me,
                    std::uint64_t p) {
  auto all = memory.view(handles);
  for (auto i = (me + 1) % p; i < all.size(); i += p) {
    const auto a = co_await all.get(i);
    EXPECT_EQ(a.size(), 20 + i);
    EXPECT_EQ(co_await memory.view(a).get(i), i * i);
    co_await memory.free(a);
    bool refused = false;
    try {
      co_await memory.free(a);
    } catch (const contract_violation&) {
      refused = true;
    }
    EXPECT_TRUE(refused);
  }
}

TEST_P(GlobalArrayLife, AnyTaskAllocatesAndAnyOtherFrees) {
  GetParam().run([](world& w) {
    global_memory memory(w);
    const auto me = static_cast<std::uint64_t>(w.rank());
    const auto p = static_cast<std::uint64_t>(w.size());
    const auto handles = memory.collective_alloc<numbers>(2 * p + 3);
    for (int round = 0; round < 2; ++round) {
      w.run(allocate_some(memory, handles, me, p));
      w.barrier();
      w.run(use_and_free(memory, handles, me, p));
      w.barrier();
      EXPECT_EQ(w.sum(memory.live()), 1u);
    }
  });
}

// Errors ---------------------------------------------------------------------------------------

template <class F>
task<bool> violates(F f) {
  try {
    static_cast<void>(co_await f());
  } catch (const contract_violation&) {
    co_return true;
  }
  co_return false;
}

task<> misuse(global_memory& memory, global_array<std::uint64_t> a,
              global_array<std::uint64_t> freed, global_view<std::uint64_t> kept) {
  auto v = memory.view(a);
  EXPECT_TRUE(co_await violates([v] { return v.get(30); }));
  EXPECT_TRUE(co_await violates([v] { return v.put(~std::uint64_t{0}, 1); }));
  EXPECT_TRUE(co_await violates([v] { return v.take(3); }));
  for (std::uint64_t i = 0; i < 30; i += 29) {
    EXPECT_TRUE(co_await violates([kept, i] { return kept.get(i); }));
    EXPECT_TRUE(co_await violates([kept, i] { return kept.add(i, 1); }));
  }
  EXPECT_THROW(static_cast<void>(memory.view(freed)), contract_violation);
  EXPECT_THROW(static_cast<void>(memory.view(global_array<std::uint64_t>{})), contract_violation);
  EXPECT_THROW(static_cast<void>(memory.view(global_array<double>{a.id, a.n})), contract_violation);
}

TEST_P(GlobalArrayLife, MisuseIsReportedWhereItIsAwaited) {
  GetParam().run([](world& w) {
    global_memory memory(w);
    const auto a = memory.collective_alloc<std::uint64_t>(30);
    const auto freed = memory.collective_alloc<std::uint64_t>(30);
    const auto kept = memory.view(freed);
    memory.collective_free(freed);
    const auto other = memory.collective_alloc<std::uint64_t>(30);  // in the same slot
    w.run(misuse(memory, a, freed, kept));
    w.barrier();
    for (const auto x : memory.view(other).local()) EXPECT_EQ(x, 0u);
  });
}

// The view checks an access before it sends a question, so the answers of owners are seen without
// it.
template <class Send>
task<std::string> answer_to(global_memory& memory, Send send) {
  auto ops = co_await memory.operations();
  send(memory.traffic(), ops.worker(), ops.group());
  try {
    co_await ops.wait();
  } catch (const contract_violation& e) {
    co_return e.what();
  }
  co_return "no fault";
}

// Asks `to` for everything that can be done to an element.
task<> ask_for_all(global_memory& memory, rank_t to, array_id id, std::uint64_t i,
                   std::string fault) {
  std::array<std::byte, 16> x{};
  const auto of = [&](access a) { return array_command(id, i, a); };
  const operands<std::uint64_t> one{.x = 1, .expected = 0};
  std::vector<std::string> said;
  said.push_back(co_await answer_to(memory, [&](array_traffic& t, worker_t k, completion& c) {
    t.get_word(k, to, of(access::get), x.data(), 8, c);
  }));
  said.push_back(co_await answer_to(memory, [&](array_traffic& t, worker_t k, completion& c) {
    t.get_pair(k, to, of(access::get), x.data(), 8, c);
  }));
  said.push_back(co_await answer_to(memory, [&](array_traffic& t, worker_t k, completion& c) {
    t.get_bytes(k, to, id, 8 * i, x, c);
  }));
  said.push_back(co_await answer_to(memory, [&](array_traffic& t, worker_t k, completion& c) {
    t.put_word(k, to, of(access::put), 1, c);
  }));
  said.push_back(co_await answer_to(memory, [&](array_traffic& t, worker_t k, completion& c) {
    t.put_pair(k, to, of(access::put), x.data(), 8, c);
  }));
  said.push_back(co_await answer_to(memory, [&](array_traffic& t, worker_t k, completion& c) {
    t.put_bytes(k, to, id, 8 * i, x, c);
  }));
  for (const auto a : {access::add, access::take, access::fill}) {
    said.push_back(co_await answer_to(memory, [&](array_traffic& t, worker_t k, completion& c) {
      t.change(k, to, of(a), one, nullptr, 0, c);
    }));
  }
  for (std::size_t n = 0; n < said.size(); ++n) {
    EXPECT_NE(said[n].find(fault), std::string::npos) << "access " << n << ": " << said[n];
  }
}
task<> take_and_fill_without_states(global_memory& memory, rank_t to, array_id id) {
  for (const auto a : {access::take, access::fill}) {
    const auto said = co_await answer_to(memory, [&](array_traffic& t, worker_t k, completion& c) {
      t.change(k, to, array_command(id, 0, a), {.x = 1, .expected = 0}, nullptr, 0, c);
    });
    EXPECT_NE(said.find("without full/empty elements"), std::string::npos) << said;
  }
}

TEST_P(GlobalArrayLife, OwnersRefuseWhatTheyDoNotHave) {
  GetParam().run([](world& w) {
    global_memory memory(w);
    const auto a = memory.collective_alloc<std::uint64_t>(30, {.full_empty = true});
    const auto plain = memory.collective_alloc<std::uint64_t>(30);
    const auto freed = memory.collective_alloc<std::uint64_t>(30);
    memory.collective_free(freed);
    const auto to = (w.rank() + 1) % w.size();
    w.run(ask_for_all(memory, to, a.id, 30, "beyond the end"));
    w.run(ask_for_all(memory, to, freed.id, 0, "was freed, or never allocated"));
    w.run(ask_for_all(memory, to, {.creator = 0, .slot = 700, .generation = 1}, 0,
                      "was freed, or never allocated"));
    w.run(take_and_fill_without_states(memory, to, plain.id));
    w.barrier();
    for (const auto x : memory.view(a).local()) EXPECT_EQ(x, 0u);
    for (const auto x : memory.view(plain).local()) EXPECT_EQ(x, 0u);
  });
}

std::string refusal(global_memory& memory, std::uint64_t elements) {
  try {
    static_cast<void>(memory.collective_alloc<std::uint64_t>(elements));
  } catch (const system_failure& e) {
    return e.what();
  }
  return "allocated";
}
TEST(GlobalMemory, SaysWhyItDoesNotAllocate) {
  world w;
  global_memory memory(w);
  EXPECT_NE(refusal(memory, std::uint64_t{1} << 41).find("at most 2^42 bytes"), std::string::npos);
  for (int i = 0; i < 65'536; ++i) {
    static_cast<void>(memory.collective_alloc<std::uint64_t>(0));
  }
  EXPECT_NE(refusal(memory, 0).find("as many global arrays as it can"), std::string::npos);
}

std::size_t num_live_later(world& w, const global_memory& memory) {
  w.barrier();
  for (int i = 0; i < 100; ++i) w.progress();
  w.barrier();
  return memory.live();
}

// A part of some megabytes is zeroed in several steps.
TEST(GlobalMemory, AnAllocationThatIsCancelledLeavesNoArray) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    support::on_simulated_ranks(2, 1, seed, [seed](world& w) {
      global_memory memory(w);
      const auto allocate = [&] {
        if (w.rank() == static_cast<rank_t>(seed % 2)) w.cancel();
        const auto elements = seed == 0 ? std::uint64_t{8} << 20 : 10;
        static_cast<void>(memory.collective_alloc<std::uint64_t>(elements));
      };
      EXPECT_THROW(allocate(), cancelled);
      EXPECT_EQ(num_live_later(w, memory), 0u) << "seed " << seed;
    });
  }
}

task<> cancels_its_allocation(world& w, global_memory& memory) {
  if (w.rank() == 0) {
    w.cancel();
    static_cast<void>(co_await memory.alloc<std::uint64_t>(10));
  }
  for (;;) co_await cairn::task::yield();
}

TEST(GlobalMemory, AnAllocationOfATaskThatIsCancelledLeavesNoArray) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    support::on_simulated_ranks(1 + static_cast<rank_t>(seed % 3), 1, seed, [seed](world& w) {
      global_memory memory(w);
      EXPECT_THROW(w.run(cancels_its_allocation(w, memory)), cancelled);
      EXPECT_EQ(num_live_later(w, memory), 0u) << "seed " << seed;
    });
  }
}

task<std::string> take_one(global_view<std::uint64_t> a, std::uint64_t i) {
  try {
    static_cast<void>(co_await a.take(i));
  } catch (const contract_violation& e) {
    co_return e.what();
  }
  co_return "a value";
}
task<> free_while_tasks_take(global_memory& memory, global_array<std::uint64_t> a) {
  auto v = memory.view(a);
  std::vector<cairn::task::future<std::string>> takers;
  for (std::uint64_t i = 0; i < 2 * a.size(); ++i) {
    auto f = co_await cairn::task::spawn(take_one(v, i % a.size()));
    takers.push_back(std::move(f));
  }
  // One of two takers of each element gets a value; the other waits.
  for (std::uint64_t i = 0; i < a.size(); ++i) co_await v.fill(i, 1);
  std::size_t values = 0;
  while (values < a.size()) {
    values = static_cast<std::size_t>(
        std::ranges::count_if(takers, [](const auto& f) { return f.ended(); }));
    co_await cairn::task::yield();
  }
  co_await memory.free(a);
  values = 0;
  for (auto& f : takers) {
    const auto said = co_await f;
    if (said == "a value") {
      ++values;
    } else {
      EXPECT_NE(said.find("was freed"), std::string::npos) << said;
    }
  }
  EXPECT_EQ(values, a.size());
}

TEST_P(GlobalArrayLife, TakersOfAnArrayThatIsFreedAreTold) {
  GetParam().run([](world& w) {
    global_memory memory(w);
    const auto a = memory.collective_alloc<std::uint64_t>(9, {.full_empty = true});
    w.run(w.rank() == 0 ? free_while_tasks_take(memory, a) : support::nothing());
    w.barrier();
    EXPECT_EQ(memory.live(), 0u);
  });
}

}  // namespace
}  // namespace cairn::pgas::global_array_life_test
