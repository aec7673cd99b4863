// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <cairn/activity/mechanism.hpp>
#include <cairn/hw/tm_probe.hpp>

namespace cairn::activity {

/// The options of an operator, and their name for messages of tests.
struct setting {
  std::string name;
  activity::options options;
};

/// All mechanisms, htm only where there are hardware transactions (see all_settings_test.cpp);
/// emulated transactions that never abort, that always abort for one cause, and that abort for all
/// causes now and then.
inline std::vector<setting> all_settings(int workers) {
  std::vector<setting> settings{{"automatic", {}},
                                {"atomics", {.mechanism = mechanism::atomics}},
                                {"locks", {.mechanism = mechanism::locks}},
                                {"one-lock", {.mechanism = mechanism::one_lock}}};
  if (hw::probe_transactions().works)
    settings.push_back({"real htm", {.mechanism = mechanism::htm}});
  if (workers == 1) settings.push_back({"plain", {.mechanism = mechanism::plain}});
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
      settings.push_back(
          {std::string("emulated htm, aborts: ") + cause + ", grain " + std::to_string(grain),
           {.mechanism = mechanism::htm, .grain = grain, .emulate = emulate}});
    }
  }
  return settings;
}

}  // namespace cairn::activity
