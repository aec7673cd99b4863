// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

#include <gtest/gtest.h>

namespace cairn::support {

/// The seed of a test's network. If the test fails during the lifetime of this object, the seed is
/// printed. With CAIRN_TEST_SEED set to it, the test repeats that network.
class network_seed {
 public:
  explicit network_seed(std::uint64_t given) : value_(given) {
    if (const auto* const again = std::getenv("CAIRN_TEST_SEED")) {
      value_ = std::strtoull(again, nullptr, 10);
    }
  }
  ~network_seed() {
    const bool threw = std::uncaught_exceptions() > exceptions_;
    if (threw || (!failed_ && ::testing::Test::HasFailure())) {
      std::cerr << "the seed of the network was " << value_
                << ": repeat it with CAIRN_TEST_SEED=" << value_ << "\n";
    }
  }
  network_seed(const network_seed&) = delete;
  network_seed& operator=(const network_seed&) = delete;

  [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_;
  const int exceptions_ = std::uncaught_exceptions();
  const bool failed_ = ::testing::Test::HasFailure();
};

/// Number of seeds of a test: `few`, or CAIRN_SOAK_SEEDS if set (make soak).
inline std::uint64_t num_seeds(std::uint64_t few) {
  const auto* const many = std::getenv("CAIRN_SOAK_SEEDS");
  return many ? std::strtoull(many, nullptr, 10) : few;
}

}  // namespace cairn::support
