// SPDX-License-Identifier: Apache-2.0
// Accesses to global arrays when there is no memory for questions.
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/pgas/accumulator_bins.hpp>
#include <cairn/pgas/global_view.hpp>
#include <cairn/task/task.hpp>

#include <support/global_arrays.hpp>
#include <support/places.hpp>
#include <support/starving.hpp>

namespace cairn::pgas::out_of_memory_test {
namespace {

using cairn::task::task;

constexpr std::size_t too_few_bytes = 100 << 10;
constexpr std::uint64_t overwritten = 0xabababababababab;

// Overwrites the copies after the failure: no answer may change them later.
task<> get_into_too_little(global_view<std::uint64_t> a, std::vector<std::uint64_t>& copies,
                           bool& refused) {
  auto no_memory = std::make_unique<support::starving>(too_few_bytes);
  try {
    co_await a.get(0, std::span(copies));
  } catch (const std::bad_alloc&) {
    refused = true;
  }
  no_memory.reset();
  for (auto& x : copies) x = overwritten;
}
task<> get_all(global_view<std::uint64_t> a, std::vector<std::uint64_t>& copies) {
  co_await a.get(0, std::span(copies));
}

void fails_and_writes_nothing_later(const support::place& at) {
  at.run([](world& w) {
    global_memory memory(w);
    const auto a =
        memory.collective_alloc<std::uint64_t>(50'000, {.distribution = distribution::cyclic});
    for (auto& x : memory.view(a).local()) x = 1;
    w.barrier();
    std::vector<std::uint64_t> copies(a.size());
    if (w.rank() == 0) {
      bool refused = false;
      w.run(get_into_too_little(memory.view(a), copies, refused));
      EXPECT_TRUE(refused);
    } else {
      w.run(support::nothing());
    }
    for (int i = 0; i < 100; ++i) w.progress();
    w.barrier();
    for (const auto x : copies) ASSERT_EQ(x, w.rank() == 0 ? overwritten : 0);
    // The rank can still do what it has the memory for.
    w.run(get_all(memory.view(a), copies));
    for (const auto x : copies) ASSERT_EQ(x, 1u);
  });
}

// Most questions of the range are sent before one fails.
TEST(OutOfMemory, ARangeThatFailsHasNoAnswersLeft) {
  for (const auto& at : {support::place{support::place::network::rings, 2, 1},
                         support::place{support::place::network::simulated, 3, 1}}) {
    SCOPED_TRACE(at.name());
    fails_and_writes_nothing_later(at);
  }
}

// What a group could not send is not pending.
task<> get_in_a_group(global_view<std::uint64_t> a, global_memory& memory, bool as_range) {
  auto ops = co_await memory.operations();
  std::vector<std::uint64_t> copies(a.size());
  std::uint64_t sent = 0;
  bool refused = false;
  auto no_memory = std::make_unique<support::starving>(too_few_bytes);
  try {
    if (as_range) a.get(0, std::span(copies), ops);
    for (auto& x : copies) {
      a.get(sent, &x, ops);
      ++sent;
    }
  } catch (const std::bad_alloc&) {
    refused = true;
  }
  no_memory.reset();
  EXPECT_TRUE(refused);
  EXPECT_EQ(ops.pending(), sent);
  co_await ops.wait();
  for (std::uint64_t i = 0; i < copies.size(); ++i) {
    if (copies[i] != (i < sent ? 1u : 0u)) {
      ADD_FAILURE() << "element " << i << " of " << sent;
      break;
    }
  }
}

TEST(OutOfMemory, AGroupWaitsForWhatItHasSent) {
  support::on_ranks(2, 1, [](world& w) {
    global_memory memory(w);
    const auto a = memory.collective_alloc<std::uint64_t>(
        100'000, {.distribution = distribution::remote});  // on rank 1
    for (auto& x : memory.view(a).local()) x = 1;
    w.barrier();
    for (const bool as_range : {true, false}) {
      if (w.rank() == 0) {
        w.run(get_in_a_group(memory.view(a), memory, as_range));
      } else {
        w.run(support::nothing());
      }
    }
  });
}

// There is a block for the bin, but no memory to note it.
TEST(OutOfMemory, ABlockOfEntriesBelongsToOneBin) {
  accumulator_bins<std::uint64_t> bins(3);
  bins.append(0, 10);
  bool refused = false;
  try {
    const support::starving no_memory(0);
    bins.append(1, 0);
  } catch (const std::bad_alloc&) {
    refused = true;
  }
  EXPECT_TRUE(refused);
  bins.append(1, 11);
  bins.append(2, 12);
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<std::uint64_t> entries;
    bins.each(i, [&](std::uint64_t&& x) { entries.push_back(x); });
    EXPECT_EQ(entries, std::vector{10 + i});
  }
}

}  // namespace
}  // namespace cairn::pgas::out_of_memory_test
