// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <cairn/tm/abort_injection.hpp>
#include <cairn/tm/retry_policy.hpp>

namespace cairn::activity {

/// What makes the operators of a group atomic.
///
///   plain     nothing: the element has one writer (the rank has one worker)
///   atomics   one atomic instruction per operator
///   htm       up to M operators in one hardware transaction
///   locks     a lock per operator, or a sorted set of them: for comparison
///   one_lock  one lock for all operators: for comparison
///   stm       up to M multi-cell operators in one software transaction
///   automatic plain where there is one writer, else htm where the machine has it, else
///             atomics (single-cell) or what domain.hpp says (multi-cell)
enum class mechanism { automatic, plain, atomics, htm, locks, one_lock, stm };

[[nodiscard]] std::string_view name(mechanism m) noexcept;

/// Throws    usage_error for a name that is not a mechanism's
[[nodiscard]] mechanism parse_mechanism(std::string_view text);

/// Emulated hardware transactions some of whose attempts abort, for tests and simulated
/// clusters: every retry path runs on any machine. Right, and slow.
struct emulation_options {
  tm::abort_rates rates{.conflict = 0.1, .capacity = 0.05, .other = 0.05};
  std::uint64_t seed = 1;
  std::size_t capacity = 64;  ///< cells that a transaction may write
};

/// Where the choice of mechanism and M begins, until time measured in the run itself says
/// otherwise: by rule, or by a machine's fitted costs (start_values.hpp).
struct start_values {
  /// [AAM15] figure 4 and our own sweeps put the flat part of the curve at 16..128 operators.
  std::size_t htm_grain = 64;
  std::size_t stm_grain = 4;  ///< longer transactions meet more often, and gain little
  bool htm_first = true;      ///< where the machine has it: for single cells; else atomics
  bool stm_first = false;     ///< for several cells without htm; else locks
  bool fitted = false;        ///< by measured costs
};

/// How operators of one channel are to run.
struct options {
  mechanism how = mechanism::automatic;
  std::size_t grain = 0;    ///< M, operators per transaction; 0 chooses
  bool sent_filter = true;  ///< drop at the sender what can no longer take effect
  std::optional<emulation_options> emulate = {};  ///< htm means emulated transactions
  tm::retry_limits retry = tm::retry_rtm;         ///< of transactions that abort
  start_values start = {};
};

/// A group is at most this many operators.
inline constexpr std::size_t max_grain = 512;

}  // namespace cairn::activity
