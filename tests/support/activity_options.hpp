// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <cairn/activity/mechanism.hpp>
#include <cairn/base/random.hpp>

namespace cairn::support {

namespace detail {

/// Draws one of these mechanisms, or plain if there is one worker.
inline activity::options random_options(random64& dice, int workers,
                                        std::vector<activity::mechanism> mechanisms) {
  if (workers == 1) mechanisms.push_back(activity::mechanism::plain);
  activity::options opt;
  opt.how = mechanisms[dice.below(mechanisms.size())];
  if (dice.below(2) == 0) opt.grain = 1 + dice.below(9);
  if (dice.below(3) != 0) opt.emulate = activity::emulation_options{.seed = dice()};
  return opt;
}

}  // namespace detail

/// Random options for single-cell operators. Every value of every option occurs within a few dozen
/// draws. Emulated transactions are small and abort often.
inline activity::options random_activity(random64& dice, int workers) {
  using enum activity::mechanism;
  auto opt = detail::random_options(dice, workers, {automatic, atomics, locks, one_lock, htm});
  opt.sent_filter = dice.below(2) == 0;
  if (opt.emulate) opt.emulate->capacity = 6;
  return opt;
}

/// The same for multi-cell operators. Merges and pushes write more cells than small transactions
/// hold, so emulated transactions have the usual size.
inline activity::options random_multi_cell_activity(random64& dice, int workers) {
  using enum activity::mechanism;
  return detail::random_options(dice, workers, {automatic, locks, one_lock, htm, stm});
}

inline std::string told(const activity::options& opt) {
  return std::string(name(opt.how)) + " grain " + std::to_string(opt.grain) +
         (opt.sent_filter ? ", filter" : "") + (opt.emulate ? ", emulated" : "");
}

}  // namespace cairn::support
