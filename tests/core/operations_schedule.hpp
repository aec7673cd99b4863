// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <cairn/base/random.hpp>
#include <cairn/base/types.hpp>

#include <support/schedules.hpp>

namespace cairn::support {

enum class operations_ending { correct, wrong_result, early, stuck };

/// Plays one schedule of ranks that all begin the same operations of a machine such as
/// `collectives`. Ranks run ahead as far as the machine lets them.
///
/// make(r)         the machine of rank r
/// inputs          by operation and rank
/// expected        by operation, on every rank
/// take(machine)   the result
template <class Machine, class Input, class Result>
operations_ending play_operations(random64& random, auto&& make,
                                  const std::vector<std::vector<Input>>& inputs,
                                  const std::vector<Result>& expected, auto&& take) {
  struct participant {
    Machine machine;
    std::size_t begun = 0, finished = 0;
  };
  struct flight {
    rank_t from, to;
    decltype(Machine::outgoing::packet) packet;
  };
  const auto size = static_cast<rank_t>(inputs[0].size());
  std::vector<participant> ranks;
  for (rank_t r = 0; r < size; ++r) ranks.push_back({make(r, size)});
  std::vector<flight> in_flight;
  auto unfinished = inputs.size() * ranks.size();
  auto ending = operations_ending::correct;

  const auto take_turn = [&](rank_t r) {
    auto& rank = ranks[static_cast<std::size_t>(r)];
    if (rank.begun == rank.finished) {
      if (rank.begun == inputs.size()) return false;
      rank.machine.begin(inputs[rank.begun++][static_cast<std::size_t>(r)]);
    } else if (auto out = rank.machine.next_send()) {
      in_flight.push_back({r, out->to, std::move(out->packet)});
    } else if (rank.machine.done()) {
      for (const auto& other : ranks) {
        if (other.begun < rank.begun) ending = operations_ending::early;
      }
      if (take(rank.machine) != expected[rank.finished]) ending = operations_ending::wrong_result;
      ++rank.finished;
      --unfinished;
    } else {
      return false;
    }
    return true;
  };
  const auto arrive = [&](flight f) {
    ranks[static_cast<std::size_t>(f.to)].machine.receive(f.from, f.packet);
  };
  const auto ended = [&] { return ending != operations_ending::correct || unfinished == 0; };
  const bool moved = play_ranks(random, size, in_flight, ended, take_turn, arrive);
  if (ending != operations_ending::correct) return ending;
  return moved && in_flight.empty() ? ending : operations_ending::stuck;
}

}  // namespace cairn::support
