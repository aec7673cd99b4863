// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/types.hpp>

namespace cairn::types_test {
namespace {

// A call of send(worker, rank) compiles in this order only, and not with a number for the worker.
using send_function = void(worker_t, rank_t);
static_assert(std::is_invocable_v<send_function, worker_t, rank_t>);
static_assert(!std::is_invocable_v<send_function, rank_t, worker_t>);
static_assert(!std::is_invocable_v<send_function, int, rank_t>);
static_assert(!std::is_convertible_v<int, worker_t>);
static_assert(!std::is_convertible_v<std::size_t, worker_t>);

// A worker is its number in arithmetic, comparisons and subscripts, and as cheap.
static_assert(std::is_convertible_v<worker_t, std::int32_t>);
static_assert(std::is_trivially_copyable_v<worker_t>);
static_assert(sizeof(worker_t) == sizeof(std::int32_t));
static_assert(worker_t{std::size_t{3}} == 3 && worker_t{3} == worker_t{3});
static_assert(worker_t{1} < worker_t{2} && worker_t{1} + 1 == 2);

TEST(Worker, CountsThroughALoop) {
  std::vector<int> visits(4);
  for (worker_t k{0}; k < 4; ++k) ++visits[k];
  EXPECT_EQ(visits, std::vector<int>(4, 1));
}

}  // namespace
}  // namespace cairn::types_test
