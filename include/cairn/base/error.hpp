// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>

#include <cairn/base/types.hpp>

namespace cairn {

/// A failure outside the program: a file, memory, MPI, the operating system. what() is one
/// sentence.
class system_failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Invalid input. what() is one sentence for the user: file, line (or byte offset), what was found
/// and what was expected.
class input_error : public system_failure {
 public:
  using system_failure::system_failure;

  /// "FILE: problem" for a fault of the file as a whole.
  static input_error in_file(const std::string& file, const std::string& problem);
  /// "FILE:LINE: problem"; lines count from 1.
  static input_error at_line(const std::string& file, std::uint64_t line,
                             const std::string& problem);
  /// "FILE: at byte OFFSET: problem", for binary files.
  static input_error at_byte(const std::string& file, std::uint64_t offset,
                             const std::string& problem);
};

/// An invalid command line or setting. what() is one sentence.
class usage_error : public system_failure {
 public:
  using system_failure::system_failure;
};

/// Another rank has failed, or has poisoned this world. Every blocking call throws it.
class peer_failure : public system_failure {
 public:
  peer_failure(rank_t rank, const std::string& text);
  /// The rank that failed first, as far as this rank knows.
  [[nodiscard]] rank_t rank() const noexcept { return rank_; }

 private:
  rank_t rank_;
};

/// The text of the exception in flight, for other ranks, which cannot catch it. Called in a catch
/// block.
[[nodiscard]] std::string text_of_exception();

/// The current work was cancelled (world::cancel()). All ranks throw it at the same collective
/// call; the world stays usable.
class cancelled : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "cancelled"; }
};

}  // namespace cairn
