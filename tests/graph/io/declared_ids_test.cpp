// SPDX-License-Identifier: Apache-2.0
#include "graph/io/declared_ids.hpp"

#include <atomic>
#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/error.hpp>

namespace cairn::graph::io::declared_ids_test {
namespace {

/// Ends loops after some chunks.
class chunk_limit final : public task::progress_source {
 public:
  explicit chunk_limit(int chunks) : left_(chunks) {}
  bool poll(worker_t) noexcept override { return false; }
  bool may_continue(worker_t) noexcept override { return --left_ > 0; }
  void throw_if_interrupted() override {
    if (left_ <= 0) throw cancelled();
  }

 private:
  std::atomic<int> left_;
};

TEST(ByDeclaredIds, EndsWithinAFewThousandRowsOfAnInterrupt) {
  // A cycle whose ids descend.
  constexpr std::uint64_t n = 100'000;
  std::vector<std::uint64_t> offsets(n + 1), ids(n);
  std::vector<std::uint32_t> targets(n);
  std::iota(offsets.begin(), offsets.end(), 0);
  for (std::uint64_t v = 0; v < n; ++v) {
    ids[v] = n - v;
    targets[v] = static_cast<std::uint32_t>((v + 1) % n);
  }
  native_graph g;
  g.directed = true;
  g.num_edges = n;
  g.offsets = offsets;
  g.targets = std::span<const std::uint32_t>(targets);
  g.labels = ids;
  const auto pool = task::make_threads({.workers = 1});
  for (const int chunks : {1, 40, 60, 1000}) {
    chunk_limit limit(chunks);
    pool->add_source(limit);
    const auto order = [&] { return by_declared_ids(*pool, "g.mtx", g, "a file"); };
    if (chunks < 1000) {
      EXPECT_THROW(static_cast<void>(order()), cancelled) << chunks;
    } else {
      const auto found = order();
      const auto to = std::get<std::span<const std::uint32_t>>(found.g.targets);
      for (std::uint64_t v = 0; v < n; ++v) ASSERT_EQ(to[v], (v + n - 1) % n);
    }
    pool->remove_source(limit);
  }
}

}  // namespace
}  // namespace cairn::graph::io::declared_ids_test
