// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include <cairn/hw/pages.hpp>

namespace cairn::hw {

/// Reuses freed memory: a run of an algorithm gets the pages that the previous run has touched,
/// which saves page faults and the kernel's zeroing.
///
/// Memory    at most the peak of the memory in use
/// Thread-safety: any thread.
class page_pool final : public page_source {
 public:
  [[nodiscard]] pages take(std::size_t bytes) override;
  void give_back(pages&& memory) noexcept override;

  /// Bytes returned and not in use.
  [[nodiscard]] std::size_t idle_bytes() const;

 private:
  void drop_beyond(std::size_t max_bytes) noexcept;

  mutable std::mutex guard_;
  std::vector<pages> idle_;  // in the order in which they were returned
  std::size_t idle_bytes_ = 0, used_bytes_ = 0, max_used_bytes_ = 0;
};

}  // namespace cairn::hw
