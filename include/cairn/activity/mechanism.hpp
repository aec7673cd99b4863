// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <cairn/core/max_grain.hpp>
#include <cairn/tm/abort_injection.hpp>
#include <cairn/tm/retry_policy.hpp>

namespace cairn::activity {

/// How the operators of a group are made atomic.
///
///   plain     nothing: the element has one writer (one worker, or --deliver owner)
///   atomics   one atomic instruction per operator
///   htm       up to M operators in one hardware transaction
///   locks     a lock per operator, or a sorted set of locks; for comparison
///   one_lock  one lock for all operators; for comparison
///   stm       up to M multi-cell operators in one software transaction
///   automatic plain if there is one writer, else atomics (single-cell), or htm if the machine has
///             it, or the choice that domain.hpp describes (multi-cell); measured from then on
enum class mechanism { automatic, plain, atomics, htm, locks, one_lock, stm };

[[nodiscard]] std::string_view name(mechanism m) noexcept;

/// Throws    usage_error if `text` names no mechanism
[[nodiscard]] mechanism parse_mechanism(std::string_view text);

/// Emulated hardware transactions, for tests and simulated clusters. Some attempts abort, so that
/// every retry path runs on any machine. Emulation is correct but slow.
struct emulation_options {
  tm::abort_rates rates{.conflict = 0.1, .capacity = 0.05, .other = 0.05};
  std::uint64_t seed = 1;
  std::size_t capacity = 64;  ///< cells that a transaction may write
};

/// Where the choice of mechanism and M starts, before the run itself has been measured: fixed
/// rules, or a machine's fitted costs (start_values.hpp).
struct start_values {
  /// [AAM15] figure 4 and our own sweeps: the curve is flat from 16 to 128 operators.
  std::size_t htm_grain = 64;
  std::size_t stm_grain = 4;  ///< longer transactions conflict more often and gain little
  bool htm_first = false;     ///< single-cell: start with htm if the machine has it; else with
                              ///< atomics, which lose at most 7 % where htm wins at all
  bool stm_first = false;     ///< multi-cell without htm: start with stm; else with locks
  bool fitted = false;        ///< the values come from measured costs
};

/// How the operators of one executor run. Where a program leaves mechanism, grain or retry at its
/// default, --mechanism, --grain or --retry decides.
struct options {
  activity::mechanism mechanism = activity::mechanism::automatic;
  std::size_t grain = 0;    ///< M, at most max_grain operators per transaction; 0: automatic
  bool sent_filter = true;  ///< drop messages at the sender that can no longer take effect
  /// Run the messages of a received buffer in the order of Op::before, if the operator has one.
  bool sort_received = false;
  std::optional<emulation_options> emulate = {};  ///< if set, htm means emulated transactions
  tm::retry_limits retry = tm::retry_rtm;         ///< for aborted transactions
  start_values start = {};
  bool auxiliary = false;  ///< an algorithm's internal operators, for which no setting decides
  /// The ranks call a collective after the constructor and before the first message, so that the
  /// constructor needs no barrier.
  bool collective_follows = false;
};

}  // namespace cairn::activity
