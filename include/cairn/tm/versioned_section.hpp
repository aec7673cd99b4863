// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <cairn/hw/pause.hpp>
#include <cairn/tm/versioned_log.hpp>

namespace cairn::tm {

/// Software transactions over cells: sections that run at the same time and take effect as if
/// one by one. Models `hardware`, so section_runner runs and retries them, and `injected` makes
/// them abort.
///
/// Stores wait in a buffer until the commit, chained by the word that guards their cell, so a
/// load that finds its word owned by itself looks through a few stores only. (Under Rules that
/// store in place, the same records hold what to restore.) A cell is always reached with one
/// type. outside(f) runs f alone (versioned_log::begin_alone): f reaches cells as a section does
/// and is never left.
///
/// Places     where the version word of a cell lies: word_of(address), clock(), atomics
template <class Places, relax_function Relax, class Rules = versioned_rules>
class versioned_section {
 public:
  using atomics = typename Places::atomics;

  class access {
   public:
    static constexpr bool indivisible = false;
    explicit access(versioned_section& section) noexcept : section_(&section) {}
    template <cell_value T>
    [[nodiscard, gnu::always_inline]] T load(T& cell) const {
      return section_->load(cell);
    }
    template <cell_value T>
    [[gnu::always_inline]] void store(T& cell, const T& value) const {
      section_->store(cell, value);
    }

   private:
    versioned_section* section_;
  };

  static constexpr bool can_undo = true;
  static constexpr bool leaves_by_exception = true;

  /// `places` outlives this; each worker that shares it has another number.
  versioned_section(Places& places, std::uint32_t owner, Relax relax)
      : places_(&places), log_(places.clock(), owner, std::move(relax)) {}

  [[gnu::always_inline]] attempt_outcome begin() noexcept {
    log_.begin();
    return attempt_outcome::success();
  }
  [[gnu::always_inline]] attempt_outcome commit() {
    log_.commit([this] {
      if constexpr (!Rules::in_place) {
        for (const auto& s : stores_) s.write(s.cell, s.bits);
      }
    });
    forget();
    return attempt_outcome::success();
  }
  template <abort_code Code>
  [[noreturn]] void abort() {
    throw leave{attempt_outcome::abort(abort_cause::explicit_, Code)};
  }
  void cancel() noexcept {
    log_.cancel([this] {
      if constexpr (Rules::in_place) {
        for (auto s = stores_.rbegin(); s != stores_.rend(); ++s) s->write(s->cell, s->bits);
      }
    });
    forget();
  }
  [[gnu::always_inline]] access cell_access() noexcept { return access(*this); }
  template <class F>
  void outside(F&& f) {
    log_.begin_alone();
    cancel_at_end guard{this};
    std::forward<F>(f)();
    commit();
    guard.section = nullptr;
  }
  void back_off(std::uint32_t pauses) noexcept {
    for (std::uint32_t i = 0; i < pauses; ++i) hw::pause();
  }

 private:
  // `bits` to write at the end: the new value, or in place the one before.
  struct deferred {
    void* cell;
    std::uint64_t bits;
    void (*write)(void*, std::uint64_t) noexcept;
    std::uint32_t next;  // of the same word, or `last`
  };
  static constexpr std::uint32_t last = ~std::uint32_t{0};

  struct cancel_at_end {
    versioned_section* section;
    ~cancel_at_end() {
      if (section) section->cancel();
    }
  };

  template <cell_value T>
  [[gnu::always_inline]] T load(T& cell) {
    auto& word = places_->word_of(&cell);
    if (log_.alone()) [[unlikely]]
      own(word);
    for (;;) {
      const auto before = log_.sample(word);
      if (log_.mine(before)) {
        const auto* const s = Rules::in_place ? nullptr : find(before.record(), &cell);
        return s ? value_of<T>(s->bits) : atomics::load(cell);
      }
      const T value = atomics::load(cell);
      if (log_.confirm(word, before)) [[likely]]
        return value;
    }
  }

  template <cell_value T>
  [[gnu::always_inline]] void store(T& cell, const T& value) {
    const auto record = own(places_->word_of(&cell));
    auto* const s = find(record, &cell);
    CAIRN_ASSERT(!s || s->write == &write<T>);
    if constexpr (Rules::in_place) {
      if (!s) chain(record, {&cell, bits_of(atomics::load(cell)), &write<T>, last});
      atomics::store(cell, value);
    } else if (s) {
      s->bits = bits_of(value);
    } else {
      chain(record, {&cell, bits_of(value), &write<T>, last});
    }
  }

  [[gnu::always_inline]] std::size_t own(typename atomics::word& word) {
    const auto record = log_.own(word);
    if (record == first_.size()) first_.push_back(last);
    return record;
  }

  [[nodiscard, gnu::always_inline]] deferred* find(std::size_t record, const void* cell) noexcept {
    for (auto i = first_[record]; i != last; i = stores_[i].next) {
      if (stores_[i].cell == cell) return &stores_[i];
    }
    return nullptr;
  }
  [[gnu::always_inline]] void chain(std::size_t record, deferred s) {
    s.next = first_[record];
    stores_.push_back(s);
    first_[record] = static_cast<std::uint32_t>(stores_.size() - 1);
  }

  template <cell_value T>
  static std::uint64_t bits_of(const T& value) noexcept {
    return std::bit_cast<detail::word_of<T>>(value);
  }
  template <cell_value T>
  static T value_of(std::uint64_t bits) noexcept {
    return std::bit_cast<T>(static_cast<detail::word_of<T>>(bits));
  }
  template <cell_value T>
  static void write(void* cell, std::uint64_t bits) noexcept {
    atomics::store(*static_cast<T*>(cell), value_of<T>(bits));
  }

  void forget() noexcept {
    first_.clear();
    stores_.clear();
  }

  Places* places_;
  versioned_log<atomics, Rules, Relax> log_;
  std::vector<std::uint32_t> first_;  // the latest store under each owned word
  std::vector<deferred> stores_;
};

}  // namespace cairn::tm
