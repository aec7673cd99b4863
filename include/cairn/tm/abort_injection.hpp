// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <cairn/base/random.hpp>
#include <cairn/tm/attempt_outcome.hpp>
#include <cairn/tm/hardware_section.hpp>

namespace cairn::tm {

/// Probability of each abort cause in one attempt. The causes sum to at most 1.
struct abort_rates {
  double conflict = 0;
  double capacity = 0;
  double lock_taken = 0;  ///< an explicit abort
  double left = 0;        ///< an explicit abort
  double other = 0;
  double at_commit = 0.5;  ///< fraction of the aborts that happen after the body has run
};

struct injected_abort {
  attempt_outcome outcome = attempt_outcome::success();
  bool at_commit = false;

  friend constexpr bool operator==(const injected_abort&, const injected_abort&) = default;
};

/// Decides for each attempt whether it aborts and why, so that every retry path runs on any
/// machine. A script decides first, then rates and random numbers. Equal seeds decide equally. One
/// object per worker.
class abort_injection {
 public:
  /// Throws    contract_violation if rates are negative or sum to more than 1
  explicit abort_injection(std::uint64_t seed, const abort_rates& rates = {},
                           std::vector<injected_abort> script = {});

  /// The abort to inject into the next attempt, if any.
  [[nodiscard]] std::optional<injected_abort> next() noexcept;

  [[nodiscard]] std::uint64_t attempts() const noexcept { return attempts_; }

 private:
  struct rate {
    double below;  // a draw below this (and not below an earlier one) means `outcome`
    attempt_outcome outcome;
  };

  random64 random_;
  std::array<rate, 5> rates_;
  double at_commit_;
  std::vector<injected_abort> script_;
  std::uint64_t attempts_ = 0;
};

/// A `hardware` whose attempts also abort when an abort_injection says so.
template <hardware Inner>
class injected {
 public:
  using access = typename Inner::access;
  static constexpr bool aborts_by_exception = Inner::aborts_by_exception;

  injected(Inner inner, abort_injection injection)
      : inner_(std::move(inner)), injection_(std::move(injection)) {}

  // `decided_` is written before the transaction begins, so it survives the abort. The transaction
  // aborts with code `injected`, and begin() then returns the decided outcome.
  [[gnu::always_inline]] attempt_outcome begin() {
    decided_ = injection_.next();
    if (decided_ && !decided_->at_commit) return decided_->outcome;
    const auto outcome = inner_.begin();
    if (outcome.code() == abort_code::injected) return decided_->outcome;
    return outcome;
  }

  [[gnu::always_inline]] attempt_outcome commit() {
    if (decided_) {
      if constexpr (aborts_by_exception) {
        throw leave{decided_->outcome};
      } else {
        inner_.template abort<abort_code::injected>();
      }
    }
    return inner_.commit();
  }

  template <abort_code Code>
  [[noreturn, gnu::always_inline]] void abort() {
    inner_.template abort<Code>();
  }
  void cancel() noexcept requires aborts_by_exception { inner_.cancel(); }
  [[gnu::always_inline]] access cell_access() noexcept { return inner_.cell_access(); }
  template <class F>
  void outside(F&& f) {
    inner_.outside(std::forward<F>(f));
  }

  [[nodiscard]] const abort_injection& injection() const noexcept { return injection_; }

 private:
  Inner inner_;
  abort_injection injection_;
  std::optional<injected_abort> decided_;
};

static_assert(hardware<injected<rtm_hardware>>);

}  // namespace cairn::tm
