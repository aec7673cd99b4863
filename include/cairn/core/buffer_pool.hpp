// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <cairn/core/buffer.hpp>
#include <cairn/task/per_worker.hpp>

namespace cairn {

/// Empty buffers of the usual size for reuse, one list per worker.
///
/// Memory    at most 64 buffers per worker
class buffer_pool {
 public:
  buffer_pool(int workers, std::size_t usual_bytes) : usual_bytes_(usual_bytes), spare_(workers) {}

  /// Payload bytes of a usual buffer.
  [[nodiscard]] std::size_t usual_bytes() const noexcept { return usual_bytes_; }

  /// An empty buffer for at least `payload_bytes`.
  [[nodiscard]] buffer take(worker_t k, std::size_t payload_bytes) {
    auto& spare = spare_[k];
    if (spare.empty() || spare.back().capacity() < payload_bytes) return buffer(payload_bytes);
    auto b = std::move(spare.back());
    spare.pop_back();
    b.set_size(0);
    return b;
  }
  void give_back(worker_t k, buffer&& b) {
    constexpr std::size_t max_spare = 64;
    auto& spare = spare_[k];
    const bool usual = b.capacity() >= usual_bytes_ && b.capacity() <= 2 * usual_bytes_;
    if (usual && spare.size() < max_spare) spare.push_back(std::move(b));
  }

 private:
  std::size_t usual_bytes_;
  task::per_worker<std::vector<buffer>> spare_;
};

}  // namespace cairn
