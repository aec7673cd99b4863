// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <cairn/base/random.hpp>

namespace cairn::dtx {

/// An element of one of a transaction's maps.
struct element {
  std::uint32_t map = 0;
  std::uint64_t id = 0;
  friend bool operator==(const element&, const element&) = default;
};

/// How long a refused transaction rests: a random time up to a bound that doubles with each
/// refusal in a row.
struct back_off_limits {
  std::uint64_t first_ns = 4'000;
  std::uint32_t most_doublings = 8;
};

/// What one transaction over ranks holds and does next: the spawner's side of the ownership
/// protocol.
///
///   step      what the runtime does                          then
///   claim     sends claims() to the owners                   wait for all answers
///   wait      nothing                                        answered() for each
///   run       runs the body on copies; all is here           the body's end: write all back
///             it misses an element                           need(it): claim
///   drop      releases drop(), unwritten; rests              rested(): claim
///
/// A refusal lets the answers that are due come in, then drops all that is held. So nobody
/// waits for a marker while it holds one, and there is no deadlock; the random rest parts
/// those who would refuse each other for ever. What is known to be needed is claimed together
/// after a restart, so that finding elements on the way ends.
///
/// A pure machine: transactions.hpp feeds it messages and time, tests feed it schedules.
/// Source    [AAM15] section 4.3
class acquisition {
 public:
  enum class step { claim, wait, run, drop, rest };

  /// Forgets everything: a new transaction begins.
  void reset() noexcept;

  /// Names an element; the same may be named again. Not while answers are due.
  void need(const element& e);

  [[nodiscard]] step next() const noexcept;

  /// The numbers of the elements to claim now; each is answered once.
  [[nodiscard]] std::vector<std::size_t> claims();
  /// Takes in the answer for element i. True if it was the last that was due.
  [[nodiscard]] bool answered(std::size_t i, bool granted) noexcept;

  /// The numbers of the elements to release: all that are held.
  [[nodiscard]] std::vector<std::size_t> drop();
  /// How long to rest after the drop.
  [[nodiscard]] std::uint64_t rest_ns(const back_off_limits& limits, random64& random) const;
  void rested() noexcept { resting_ = false; }

  [[nodiscard]] std::size_t size() const noexcept { return elements_.size(); }
  [[nodiscard]] const element& operator[](std::size_t i) const noexcept { return elements_[i]; }
  /// The number of an element that is held.
  [[nodiscard]] std::optional<std::size_t> find(const element& e) const noexcept;

 protected:
  enum class state : std::uint8_t { named, asked, held };

  std::vector<element> elements_;
  std::vector<state> states_;
  std::size_t due_ = 0, num_held_ = 0;
  std::uint32_t drops_ = 0;  // since the transaction began
  bool refused_ = false, resting_ = false;
};

}  // namespace cairn::dtx
