// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <cairn/am/slot_table.hpp>
#include <cairn/base/contract.hpp>

namespace cairn::am {

/// The calls of one worker that wait for answers, under slots that their tickets name.
///
/// When the tasks of a rank are destroyed, its generation grows. The calls of an earlier generation
/// are forgotten at the first call of a later one, and their answers are discarded.
///
/// Pure: the caller serialises the calls.
template <class Call>
class pending_calls {
 public:
  /// Returns   the slot
  [[nodiscard]] std::uint64_t put(const Call& c, std::uint32_t generation) {
    if (generation_ != generation) {
      calls_ = {};
      generation_ = generation;
    }
    return calls_.put(c);
  }
  /// The call that an answer of generation `of_answer` is for; none if its task was destroyed.
  ///
  /// Throws    contract_violation if nothing was called in this generation
  [[nodiscard]] std::optional<Call> take(std::uint64_t slot, std::uint32_t of_answer,
                                         std::uint32_t generation) {
    if (of_answer != generation) return std::nullopt;
    CAIRN_EXPECTS(of_answer == generation_, "an answer without a call");
    return calls_.take(slot);
  }
  [[nodiscard]] std::uint64_t size() const noexcept { return calls_.size(); }

 private:
  std::uint32_t generation_ = 0;  // of the calls in the table
  slot_table<Call> calls_;
};

}  // namespace cairn::am
