// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace cairn::net {

/// One memory that all ranks of a machine see, zeroed at first and touched lazily.
///
/// Three ways to share it: ranks that are threads hold the same object; ranks that are forked
/// children inherit the mapping; ranks started apart open it by its address. It has no name in
/// any file system, so nothing is left behind however the ranks end.
class segment {
 public:
  /// Where a process of this machine finds another's segment. Trivially copyable: it travels.
  struct address {
    std::int64_t process = 0;
    std::int64_t descriptor = -1;
    std::uint64_t bytes = 0;
    std::uint64_t token[2] = {};  ///< random, also stored in the memory: proves it is the same
  };

  /// Memory of this process only, for ranks that are threads.
  /// Throws    system_failure if there is none (as the other two)
  [[nodiscard]] static std::shared_ptr<segment> on_heap(std::size_t bytes);
  /// Memory that children of a later fork share, and that others may open by address().
  [[nodiscard]] static std::shared_ptr<segment> shared(std::size_t bytes);
  /// Another process's memory. The owner must not have called hide() yet.
  /// Throws    system_failure if it cannot be opened, or turns out to be some other memory
  [[nodiscard]] static std::shared_ptr<segment> open(const address& where);

  ~segment();
  segment(const segment&) = delete;
  segment& operator=(const segment&) = delete;

  /// Aligned to a page.
  [[nodiscard]] std::byte* data() const noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }

  /// Of a shared() segment that is not hidden.
  [[nodiscard]] address where() const noexcept;
  /// Closes the way in. Those who are in stay in.
  void hide() noexcept;

 private:
  segment(void* base, std::size_t bytes, int descriptor) noexcept
      : base_(base), bytes_(bytes), descriptor_(descriptor) {}

  void* base_;  // the mapping; its first page holds the token
  std::size_t bytes_;
  int descriptor_;
};

}  // namespace cairn::net
