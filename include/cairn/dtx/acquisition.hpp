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

/// Back-off after a refusal: the delay is random, below a bound that doubles with each consecutive
/// refusal.
struct back_off_limits {
  std::uint64_t first_ns = 4'000;
  std::uint32_t most_doublings = 8;
};

/// State machine of one distributed transaction on the rank that runs it: the elements that it
/// holds and its next step in the ownership protocol.
///
///   step      what the runtime does                      next event
///   claim     sends claims() to the owners               answered() for each claim
///   wait      nothing                                    answered() for each pending claim
///   run       runs the body on copies of the elements    the body returns: write back and release
///                                                        an element is missing: need(it)
///   drop      releases drop() without write-back         step rest
///   rest      waits rest_ns()                            rested()
///
/// After a refusal the transaction waits for its pending answers and then releases all elements. No
/// transaction waits for a marker while it holds one, so there is no deadlock. The random delay
/// prevents two transactions from refusing each other forever. After a restart all elements known
/// so far are claimed together, so the discovery of elements terminates.
///
/// The class has no threads, clock or messages: transactions.hpp supplies them, and tests supply
/// schedules.
/// Source    [AAM15] section 4.3
class acquisition {
 public:
  enum class step { claim, wait, run, drop, rest };

  /// Prepares for a new transaction.
  void reset() noexcept;

  /// Adds an element, if it is not in the list yet. Not while answers are pending.
  void need(const element& e);

  [[nodiscard]] step next() const noexcept;

  /// Indexes of the elements to claim now. Each claim is answered once.
  [[nodiscard]] std::vector<std::size_t> claims();
  /// Records the answer for element i. Returns whether it was the last pending one.
  [[nodiscard]] bool answered(std::size_t i, bool granted) noexcept;

  /// Indexes of the elements to release: all that are held.
  [[nodiscard]] std::vector<std::size_t> drop();
  /// Delay after drop().
  [[nodiscard]] std::uint64_t rest_ns(const back_off_limits& limits, random64& random) const;
  void rested() noexcept { resting_ = false; }

  [[nodiscard]] std::size_t size() const noexcept { return elements_.size(); }
  [[nodiscard]] const element& operator[](std::size_t i) const noexcept { return elements_[i]; }
  /// Index of an element, if it is held.
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
