// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace cairn::net {

/// Memory shared by all ranks of a machine, initially zero and allocated on first touch.
///
/// There are three cases: ranks that are threads hold the same object; ranks that are forked
/// children inherit the mapping; ranks started separately open it by its address. It has no name in
/// any file system, so nothing is left behind however the ranks end.
class segment {
 public:
  /// Identifies a segment to other processes of this machine. Trivially copyable, so it can be
  /// sent.
  struct address {
    std::int64_t process = 0;
    std::int64_t descriptor = -1;
    std::uint64_t bytes = 0;
    std::uint64_t token[2] = {};  ///< random, also stored in the memory: identifies it
  };

  /// Memory of this process only, for ranks that are threads.
  /// Throws    system_failure if memory cannot be allocated; so do the functions below
  [[nodiscard]] static std::shared_ptr<segment> on_heap(std::size_t bytes);
  /// Memory that later forked children share, and that other processes may open by address.
  [[nodiscard]] static std::shared_ptr<segment> shared(std::size_t bytes);
  /// Opens another process's memory. The owner must not have called close_descriptor().
  /// Throws    system_failure if it cannot be opened, or is not the expected memory
  [[nodiscard]] static std::shared_ptr<segment> open(const address& where);

  ~segment();
  segment(const segment&) = delete;
  segment& operator=(const segment&) = delete;

  /// Aligned to a page.
  [[nodiscard]] std::byte* data() const noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }

  /// Requires a shared() segment whose close_descriptor() was not called.
  [[nodiscard]] address where() const noexcept;
  /// Prevents new mappings; existing ones remain valid.
  void close_descriptor() noexcept;

 private:
  segment(void* base, std::size_t bytes, int descriptor) noexcept
      : base_(base), bytes_(bytes), descriptor_(descriptor) {}

  void* base_;  // the mapping; its first page holds the token
  std::size_t bytes_;
  int descriptor_;
};

}  // namespace cairn::net
