// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <cairn/activity/mechanism.hpp>
#include <cairn/base/random.hpp>

namespace cairn::support {

/// How to run single-cell operators, drawn so that every value of every option occurs within a
/// few dozen draws. Emulated transactions are small and abort often.
inline activity::options random_activity(random64& dice, int workers) {
  using activity::mechanism;
  const mechanism all[] = {mechanism::automatic, mechanism::atomics, mechanism::locks,
                           mechanism::one_lock,  mechanism::htm,     mechanism::plain};
  activity::options opt;
  opt.how = all[dice.below(workers == 1 ? 6 : 5)];
  opt.sent_filter = dice.below(2) == 0;
  if (dice.below(2) == 0) opt.grain = 1 + dice.below(9);
  if (dice.below(3) != 0) opt.emulate = activity::emulation_options{.seed = dice(), .capacity = 6};
  return opt;
}

/// The same for multi-cell operators. Merges and pushes write more cells than the small
/// transactions hold: these are of the usual size.
inline activity::options random_multi_cell_activity(random64& dice, int workers) {
  using activity::mechanism;
  const mechanism all[] = {mechanism::automatic, mechanism::locks, mechanism::one_lock,
                           mechanism::htm,       mechanism::stm,   mechanism::plain};
  activity::options opt;
  opt.how = all[dice.below(workers == 1 ? 6 : 5)];
  if (dice.below(2) == 0) opt.grain = 1 + dice.below(9);
  if (dice.below(3) != 0) opt.emulate = activity::emulation_options{.seed = dice()};
  return opt;
}

inline std::string told(const activity::options& opt) {
  return std::string(name(opt.how)) + " grain " + std::to_string(opt.grain) +
         (opt.sent_filter ? ", filter" : "") + (opt.emulate ? ", emulated" : "");
}

}  // namespace cairn::support
