// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>

#include <cairn/base/types.hpp>

namespace cairn {

/// The world failed us: a file, memory, MPI, the operating system. One sentence.
class system_failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Input that cannot be used. `what()` is the one sentence that a person reads:
/// file, line (or byte offset), what stands there, what was expected.
class input_error : public system_failure {
 public:
  using system_failure::system_failure;

  /// "FILE: what" for a fault of the file as a whole.
  static input_error in_file(const std::string& file, const std::string& what);
  /// "FILE:LINE: what"; lines count from 1.
  static input_error at_line(const std::string& file, std::uint64_t line, const std::string& what);
  /// "FILE: at byte OFFSET: what", for binary files.
  static input_error at_byte(const std::string& file, std::uint64_t offset,
                             const std::string& what);
};

/// The command line or a setting cannot be used. One sentence.
class usage_error : public system_failure {
 public:
  using system_failure::system_failure;
};

/// Another rank failed, or this world was poisoned by one: every blocking call throws it.
class peer_failure : public system_failure {
 public:
  peer_failure(rank_t rank, const std::string& text);
  /// The rank that failed first, as far as this rank knows.
  [[nodiscard]] rank_t rank() const noexcept { return rank_; }

 private:
  rank_t rank_;
};

/// What the exception in flight says: for the other ranks, which cannot catch it. Called in a catch
/// block.
[[nodiscard]] std::string text_of_exception();

/// Someone asked for the end of what runs (world::cancel()). All ranks throw it at the same
/// collective call; the world stays usable.
class cancelled : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "cancelled"; }
};

}  // namespace cairn
