// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <cairn/activity/mechanism.hpp>
#include <cairn/hw/tm_probe.hpp>

namespace cairn::activity {

/// One way to run an operator, and its name for messages of tests.
struct way {
  std::string name;
  options how;
};

/// All mechanisms, htm only where there are hardware transactions (see ways_test.cpp); emulated
/// transactions that never abort, that always abort for one cause, and that abort for all causes
/// now and then.
inline std::vector<way> all_ways(int workers) {
  std::vector<way> ways{{"automatic", {}},
                        {"atomics", {.how = mechanism::atomics}},
                        {"locks", {.how = mechanism::locks}},
                        {"one-lock", {.how = mechanism::one_lock}}};
  if (hw::probe_transactions().works) ways.push_back({"real htm", {.how = mechanism::htm}});
  if (workers == 1) ways.push_back({"plain", {.how = mechanism::plain}});
  const std::pair<const char*, tm::abort_rates> rates[] = {
      {"none", {}},
      {"conflict", {.conflict = 1}},
      {"capacity", {.capacity = 1}},
      {"lock taken", {.lock_taken = 1}},
      {"left", {.left = 1}},
      {"other", {.other = 1}},
      {"all", {.conflict = 0.2, .capacity = 0.1, .lock_taken = 0.1, .left = 0.1, .other = 0.2}}};
  for (const auto& [cause, r] : rates) {
    for (const std::size_t grain : {1, 5, 100'000}) {
      const emulation_options emulate{.rates = r, .seed = grain, .capacity = 20};
      ways.push_back(
          {std::string("emulated htm, aborts: ") + cause + ", grain " + std::to_string(grain),
           {.how = mechanism::htm, .grain = grain, .emulate = emulate}});
    }
  }
  return ways;
}

}  // namespace cairn::activity
