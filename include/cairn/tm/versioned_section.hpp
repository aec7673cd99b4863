// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <cairn/tm/versioned_log.hpp>

namespace cairn::tm {

/// Software transactions over cells: concurrent sections take effect as if run one by one. Models
/// `hardware`, so section_runner runs and retries them, and `injected` can abort them.
///
/// Stores are buffered until the commit and linked by the word that guards their cell, so a load
/// from an owned word searches only a few stores. (With Rules::in_place the same records hold the
/// values to restore.) A cell is always accessed with one type. outside(f) runs f as an irrevocable
/// transaction (versioned_log::begin_irrevocable): f accesses cells as a section does, and never
/// aborts.
///
/// Places     locates a cell's version word: word_of(address), clock(), atomics
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

  static constexpr bool aborts_by_exception = true;

  /// `places` outlives this object. Workers that share it have distinct `owner` numbers.
  versioned_section(Places& places, std::uint32_t owner, Relax relax)
      : places_(&places), log_(places.clock(), owner, std::move(relax)) {}

  [[gnu::always_inline]] attempt_outcome begin() noexcept {
    log_.begin();
    return attempt_outcome::success();
  }
  [[gnu::always_inline]] attempt_outcome commit() {
    log_.commit([&]() __attribute__((always_inline)) {
      if constexpr (!Rules::in_place) {
        for (const auto& s : stores_) s.apply();
      }
    });
    clear_stores();
    return attempt_outcome::success();
  }
  template <abort_code Code>
  [[noreturn]] void abort() {
    throw leave{attempt_outcome::abort(abort_cause::explicit_, Code)};
  }
  void cancel() noexcept {
    log_.cancel([&] {
      if constexpr (Rules::in_place) {
        for (auto s = stores_.rbegin(); s != stores_.rend(); ++s) s->apply();
      }
    });
    clear_stores();
  }
  [[gnu::always_inline]] access cell_access() noexcept { return access(*this); }
  template <class F>
  void outside(F&& f) {
    log_.begin_irrevocable();
    cancel_at_end guard{this};
    std::forward<F>(f)();
    commit();
    guard.section = nullptr;
  }

 private:
  // `bits` to write at the end: the new value, or with in_place the previous one.
  struct deferred {
    void* cell;
    std::uint64_t bits;
    void (*write)(void*, std::uint64_t) noexcept;
    std::uint32_t next;  // 1 + the index of the previous entry under the same word, or 0

    [[gnu::always_inline]] void apply() const noexcept {
      // The common case, without an indirect call.
      if (write == &versioned_section::write<std::uint64_t>) {
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
    if (log_.irrevocable()) [[unlikely]]
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

  // A record's tag is 1 + the index of the last entry under its word, or 0.
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

  void clear_stores() noexcept { stores_.clear(); }

  Places* places_;
  log log_;
  std::vector<deferred> stores_;
};

}  // namespace cairn::tm
