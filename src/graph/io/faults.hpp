// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <mutex>
#include <string>

#include <cairn/base/error.hpp>
#include <cairn/task/spin_lock.hpp>

namespace cairn::graph::io {

/// The fault with the smallest byte offset.
class faults {
 public:
  void add(std::uint64_t at, const char* problem) {
    const std::lock_guard held(guard_);
    if (at < at_) {
      at_ = at;
      problem_ = problem;
    }
  }
  void throw_if_any(const std::string& path) const {
    if (problem_ != nullptr) throw input_error::at_byte(path, at_, problem_);
  }

 private:
  task::spin_lock guard_;
  std::uint64_t at_ = std::numeric_limits<std::uint64_t>::max();
  const char* problem_ = nullptr;
};

}  // namespace cairn::graph::io
