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

  static constexpr bool leaves_by_exception = true;

  /// `places` outlives this; each worker that shares it has another number.
  versioned_section(Places& places, std::uint32_t owner, Relax relax)
      : places_(&places), log_(places.clock(), owner, std::move(relax)) {}

  [[gnu::always_inline]] attempt_outcome begin() noexcept {
    log_.begin();
    return attempt_outcome::success();
  }
  [[gnu::always_inline]] attempt_outcome commit() {
    log_.commit([this]() __attribute__((always_inline)) {
      if constexpr (!Rules::in_place) {
        for (const auto& s : stores_) s.apply();
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
        for (auto s = stores_.rbegin(); s != stores_.rend(); ++s) s->apply();
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
    std::uint32_t next;  // 1 + the number of the one before it under the same word, or 0

    [[gnu::always_inline]] void apply() const noexcept {
      if (write == &versioned_section::write<std::uint64_t>) {  // most often: a call less
        versioned_section::write<std::uint64_t>(cell, bits);
      } else {
        write(cell, bits);
      }
    }
  };

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
      log_.own(word);
    for (;;) {
      const auto before = log_.sample(word);
      if (log_.mine(before)) {
        const auto* const s = Rules::in_place ? nullptr : find(log_.record_of(before), &cell);
        return s ? value_of<T>(s->bits) : atomics::load(cell);
      }
      const T value = atomics::load(cell);
      if (log_.confirm(word, before)) [[likely]]
        return value;
    }
  }

  template <cell_value T>
  [[gnu::always_inline]] void store(T& cell, const T& value) {
    auto& taken = log_.own(places_->word_of(&cell));
    auto* const s = find(taken, &cell);
    CAIRN_ASSERT(!s || s->write == &write<T>);
    if constexpr (Rules::in_place) {
      if (!s) chain(taken, {&cell, bits_of(atomics::load(cell)), &write<T>, taken.tag});
      atomics::store(cell, value);
    } else if (s) {
      s->bits = bits_of(value);
    } else {
      chain(taken, {&cell, bits_of(value), &write<T>, taken.tag});
    }
  }

  // A record's tag is `next` of what is stored under its word.
  using log = versioned_log<atomics, Rules, Relax>;
  using record = typename log::record;

  [[nodiscard, gnu::always_inline]] deferred* find(const record& r, const void* cell) noexcept {
    for (auto i = r.tag; i != 0; i = stores_[i - 1].next) {
      if (stores_[i - 1].cell == cell) return &stores_[i - 1];
    }
    return nullptr;
  }
  [[gnu::always_inline]] void chain(record& r, const deferred& s) {
    stores_.push_back(s);
    r.tag = static_cast<std::uint32_t>(stores_.size());
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

  void forget() noexcept { stores_.clear(); }

  Places* places_;
  log log_;
  std::vector<deferred> stores_;
};

}  // namespace cairn::tm
