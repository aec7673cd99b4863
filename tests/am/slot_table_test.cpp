// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

#include <gtest/gtest.h>

#include <cairn/am/slot_table.hpp>
#include <cairn/base/random.hpp>

namespace cairn::am::slot_table_test {
namespace {

TEST(SlotTable, KeepsEachValueUnderItsSlotAndUsesFreeSlotsAgain) {
  slot_table<std::uint64_t> table;
  std::map<std::uint64_t, std::uint64_t> model;
  std::uint64_t max_size = 0;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    const auto draw = mix64(i);
    if (model.empty() || draw % 2 == 0) {
      const auto slot = table.put(i);
      EXPECT_TRUE(model.emplace(slot, i).second) << "slot " << slot << " is taken";
      max_size = std::max<std::uint64_t>(max_size, model.size());
      EXPECT_LT(slot, max_size);
    } else {
      const auto at =
          std::next(model.begin(), static_cast<std::ptrdiff_t>(draw / 2 % model.size()));
      EXPECT_EQ(table.take(at->first), at->second);
      model.erase(at);
    }
    ASSERT_EQ(table.size(), model.size());
  }
}

}  // namespace
}  // namespace cairn::am::slot_table_test
