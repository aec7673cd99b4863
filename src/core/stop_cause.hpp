// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <cairn/base/error.hpp>

namespace cairn {

/// Why a run was cancelled. A number, so that a signal handler can store it and a reduction to the
/// maximum can agree on one for all ranks: a signal or a time limit takes precedence over an
/// unknown cause.
class stop_cause {
 public:
  constexpr stop_cause() = default;
  constexpr explicit stop_cause(std::uint64_t number) : number_(number) {}

  /// The body or a user of the world called world::cancel().
  static constexpr stop_cause program() { return of(kind::program, 0); }
  static constexpr stop_cause signal(int number) {
    return of(kind::signal, static_cast<std::uint64_t>(number));
  }
  static constexpr stop_cause time_limit(std::chrono::milliseconds limit) {
    return of(kind::time_limit, static_cast<std::uint64_t>(limit.count()));
  }

  [[nodiscard]] constexpr std::uint64_t number() const noexcept { return number_; }
  [[nodiscard]] constexpr bool any() const noexcept { return number_ != 0; }

  /// The exit status of the job: 128 + the number of the signal, 124 after the time limit (as
  /// timeout(1) does), 130 without a known cause.
  [[nodiscard]] int status() const noexcept;
  /// "cancelled by SIGTERM".
  [[nodiscard]] std::string sentence() const;

 private:
  enum class kind : std::uint64_t { none, program, time_limit, signal };
  static constexpr std::uint64_t kinds = 4;
  static constexpr stop_cause of(kind k, std::uint64_t value) {
    return stop_cause(value * kinds + static_cast<std::uint64_t>(k));
  }
  [[nodiscard]] constexpr kind kind_of_cause() const noexcept { return kind{number_ % kinds}; }
  [[nodiscard]] constexpr std::uint64_t value() const noexcept { return number_ / kinds; }

  std::uint64_t number_ = 0;
};

/// `cancelled` on all ranks of a job, with the cause on which they have agreed.
class stopped : public cancelled {
 public:
  explicit stopped(stop_cause cause) : cause_(cause), sentence_(cause.sentence()) {}
  [[nodiscard]] stop_cause cause() const noexcept { return cause_; }
  [[nodiscard]] const char* what() const noexcept override { return sentence_.c_str(); }

 private:
  stop_cause cause_;
  std::string sentence_;
};

}  // namespace cairn
