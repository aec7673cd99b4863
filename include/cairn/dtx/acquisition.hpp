// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
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
  std::uint32_t max_doublings = 8;
};

/// State machine of one distributed transaction on the rank that runs it: the elements that it
/// holds and its next step in the ownership protocol.
///
///   step         what the runtime does                   next event
///   claim        sends claims() to the owners            record_answer() for each claim
///   wait         nothing                                 record_answer() for each pending claim
///   run          runs the body on copies                 the body returns: write back and release
///                                                        an element is missing: add_element()
///   release_all  releases release_all() unchanged        step back_off
///   back_off     waits back_off_ns()                     end_back_off()
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
  enum class step { claim, wait, run, release_all, back_off };

  /// Prepares for a new transaction.
  void reset() noexcept;

  /// Adds an element, if it is not in the list yet. Not while answers are pending.
  void add_element(const element& e);

  [[nodiscard]] step next() const noexcept;

  /// Indexes of the elements to claim now. Each claim is answered once.
  [[nodiscard]] std::vector<std::size_t> claims();
  /// Records the answer for element i. Returns whether it was the last pending one.
  [[nodiscard]] bool record_answer(std::size_t i, bool granted) noexcept;

  /// Indexes of the elements to release: all that are held.
  [[nodiscard]] std::vector<std::size_t> release_all();
  /// Delay after release_all().
  [[nodiscard]] std::uint64_t back_off_ns(const back_off_limits& limits, random64& random) const;
  void end_back_off() noexcept { backing_off_ = false; }

  [[nodiscard]] std::size_t size() const noexcept { return elements_.size(); }
  [[nodiscard]] const element& operator[](std::size_t i) const noexcept { return elements_[i]; }
  /// Index of an element, if it is held.
  [[nodiscard]] std::optional<std::size_t> find(const element& e) const;

 protected:
  enum class state : std::uint8_t { named, requested, held };

  // Index of an element, if it is in the list.
  [[nodiscard]] std::optional<std::size_t> position_of(const element& e) const;

  struct hash {
    std::size_t operator()(const element& e) const noexcept { return mix64(e.id + e.map); }
  };
  std::vector<element> elements_;
  std::unordered_map<element, std::size_t, hash> positions_;  // of all elements, if they are many
  std::vector<state> states_;
  std::size_t due_ = 0, num_held_ = 0;
  std::uint32_t num_restarts_ = 0;  // since the transaction began
  bool refused_ = false, backing_off_ = false;
};

}  // namespace cairn::dtx
