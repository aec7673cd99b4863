// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <cairn/base/contract.hpp>
#include <cairn/base/types.hpp>
#include <cairn/pgas/distribution.hpp>

namespace cairn::pgas {

/// Names a global array on every rank: the rank that allocated it, a slot of that rank, and how
/// often the slot has been used. An id is never used twice; the default one names no array.
struct array_id {
  std::uint16_t creator = 0, slot = 0, generation = 0;
  friend bool operator==(const array_id&, const array_id&) = default;
};

/// The properties of an array that a rank needs to make its part.
struct array_shape {
  array_layout layout;
  std::uint32_t element_bytes = 1;
  std::uint32_t type = 0;   ///< a hash of the type's name
  bool full_empty = false;  ///< each element is full or empty
};

/// The protocol by which any task allocates and frees arrays that have a part on every rank.
///
/// The creator, the rank that allocates, chooses the id and asks all ranks to make their parts;
/// when all have answered, the allocation has finished. If a rank refuses, the creator asks all
/// ranks to drop their parts. Any rank may free: it asks the creator, which asks all ranks to drop
/// their parts. When all have confirmed, the slot is used again, under the next generation. So a
/// part never meets another part of its slot, and an id that was freed is refused everywhere until
/// the end.
///
/// A pure state machine of one rank: it neither sends nor blocks, and accesses no memory. The
/// caller serialises the calls, except those for which needs_machine() is false. A Port has
///   send(to, message)          to another rank, or to this one if it is alone; messages may
///                              overtake each other
///   make_part(id, shape)       makes this rank's part for another one; false if it cannot
///   drop_part(id)              hides this rank's part, if there is one, and frees it before any
///                              message of this call leaves
///   finished(by, id, outcome)  an operation that began here has ended
///
/// Messages  2 (P - 1) per allocation, as many per free, and 2 if another rank frees; with one rank
///           1 per free
/// Memory    32 bytes per slot used so far
class allocation {
 public:
  enum class outcome : std::uint8_t {
    done,
    refused,  ///< a rank could not make its part; no rank has one
    unknown   ///< no such array: it was freed, or never allocated
  };
  enum class step : std::uint8_t { make, made, refuse, drop, dropped, free, freed, not_found };
  struct message {
    step kind;
    array_id id;
    std::uint64_t by;   ///< the operation that waits at the rank that frees
    array_shape shape;  ///< of `make`
  };

  /// max_generations   after so many uses a slot is not used again
  allocation(rank_t me, rank_t ranks, std::uint16_t max_generations = 0xffff)
      : me_(me), ranks_(ranks), max_generations_(max_generations) {
    CAIRN_EXPECTS(ranks >= 1 && ranks <= 65'536, "the id of an array has 16 bits for the rank");
  }

  /// Begins an allocation: chooses the id. The caller then makes its part, without this machine,
  /// and calls ask_others(). An empty result means that no id is left: the operation has ended.
  template <class Port>
  [[nodiscard]] std::optional<array_id> begin_alloc(std::uint64_t by, Port& port) {
    const auto slot = take_slot();
    if (slot == no_slot) {
      port.finished(by, array_id{}, outcome::refused);
      return std::nullopt;
    }
    auto& s = slots_[slot];
    s.by = by;
    s.from = me_;
    s.ends = outcome::done;
    s.phase = phase::making;
    return id_of(slot);
  }
  /// made   whether this rank has made its part
  template <class Port>
  void ask_others(const array_id& id, const array_shape& shape, bool made, Port& port) {
    auto& s = slots_[id.slot];
    if (!made) {
      const auto by = s.by;
      end_slot(id.slot);
      return port.finished(by, id, outcome::refused);
    }
    ask_all({step::make, id, 0, shape}, s, port);
    if (s.missing == 0) made_by_all(id.slot, port);
  }

  /// Frees any array of any rank.
  template <class Port>
  void free(const array_id& id, std::uint64_t by, Port& port) {
    if (id.generation == 0 || id.creator >= ranks_) {
      return port.finished(by, id, outcome::unknown);
    }
    if (id.creator != me_) {
      port.send(id.creator, message{step::free, id, by, {}});
    } else if (!begin_drop(id, me_, by, port)) {
      port.finished(by, id, outcome::unknown);
    }
  }

  template <class Port>
  void handle(rank_t from, const message& m, Port& port) {
    const auto reply = [&](step kind) { port.send(from, message{kind, m.id, m.by, {}}); };
    switch (m.kind) {
      case step::make:
        return reply(port.make_part(m.id, m.shape) ? step::made : step::refuse);
      case step::drop:
        port.drop_part(m.id);
        return reply(step::dropped);
      case step::free:
        if (!begin_drop(m.id, from, m.by, port)) reply(step::not_found);
        return;
      case step::freed:
        return port.finished(m.by, m.id, outcome::done);
      case step::not_found:
        return port.finished(m.by, m.id, outcome::unknown);
      case step::made:
      case step::refuse:
      case step::dropped:
        return answered(m, port);
    }
  }

  /// Whether handle() reads or changes this machine, or ends an operation, for such a message.
  [[nodiscard]] static constexpr bool needs_machine(step kind) noexcept {
    return kind != step::make && kind != step::drop;
  }
  /// Number of this rank's arrays: allocated, and not freed.
  [[nodiscard]] std::size_t live() const noexcept { return live_; }

 private:
  enum class phase : std::uint8_t { unused, making, live, dropping };
  struct slot_state {
    std::uint64_t by = 0;  // the operation in progress, which began at rank `from`
    rank_t from = 0;
    rank_t missing = 0;  // answers
    std::uint16_t generation = 1;
    allocation::phase phase = phase::unused;
    outcome ends = outcome::done;
  };
  static constexpr std::uint32_t no_slot = std::numeric_limits<std::uint32_t>::max();

  [[nodiscard]] array_id id_of(std::uint32_t slot) const noexcept {
    return {static_cast<std::uint16_t>(me_), static_cast<std::uint16_t>(slot),
            slots_[slot].generation};
  }

  // The slot that has been unused for longest.
  std::uint32_t take_slot() {
    if (!unused_.empty()) {
      const auto slot = unused_.front();
      unused_.pop_front();
      return slot;
    }
    if (slots_.size() > std::numeric_limits<std::uint16_t>::max()) return no_slot;
    slots_.emplace_back();
    return static_cast<std::uint32_t>(slots_.size() - 1);
  }
  void end_slot(std::uint32_t slot) {
    auto& s = slots_[slot];
    s.phase = phase::unused;
    if (s.generation == max_generations_) return;  // never used again
    ++s.generation;
    unused_.push_back(slot);
  }

  template <class Port>
  void ask_all(const message& m, slot_state& s, Port& port) {
    s.missing = ranks_ - 1;
    for (rank_t r = 0; r < ranks_; ++r) {
      if (r != me_) port.send(r, m);
    }
  }

  template <class Port>
  void made_by_all(std::uint32_t slot, Port& port) {
    auto& s = slots_[slot];
    if (s.ends == outcome::refused) return drop(slot, port);
    s.phase = phase::live;
    ++live_;
    port.finished(s.by, id_of(slot), outcome::done);
  }

  template <class Port>
  bool begin_drop(const array_id& id, rank_t from, std::uint64_t by, Port& port) {
    if (id.slot >= slots_.size()) return false;
    auto& s = slots_[id.slot];
    if (s.phase != phase::live || s.generation != id.generation) return false;
    --live_;
    s.by = by;
    s.from = from;
    drop(id.slot, port);
    return true;
  }
  template <class Port>
  void drop(std::uint32_t slot, Port& port) {
    auto& s = slots_[slot];
    const auto id = id_of(slot);
    s.phase = phase::dropping;
    port.drop_part(id);
    ask_all({step::drop, id, 0, {}}, s, port);
    if (ranks_ > 1) return;
    // An answer of its own, so that the slot is used again only after the port has freed the part.
    s.missing = 1;
    port.send(me_, message{step::dropped, id, 0, {}});
  }
  template <class Port>
  void dropped_by_all(std::uint32_t slot, Port& port) {
    const auto s = slots_[slot];
    const auto id = id_of(slot);
    end_slot(slot);
    if (s.from == me_) return port.finished(s.by, id, s.ends);
    port.send(s.from, message{step::freed, id, s.by, {}});
  }

  template <class Port>
  void answered(const message& m, Port& port) {
    CAIRN_ASSERT(m.id.creator == me_ && m.id.slot < slots_.size());
    auto& s = slots_[m.id.slot];
    CAIRN_ASSERT(s.generation == m.id.generation && s.missing > 0);
    if (m.kind == step::refuse) s.ends = outcome::refused;
    if (--s.missing > 0) return;
    m.kind == step::dropped ? dropped_by_all(m.id.slot, port) : made_by_all(m.id.slot, port);
  }

  rank_t me_, ranks_;
  std::uint16_t max_generations_;
  std::vector<slot_state> slots_;
  std::deque<std::uint32_t> unused_;
  std::size_t live_ = 0;
};

}  // namespace cairn::pgas
