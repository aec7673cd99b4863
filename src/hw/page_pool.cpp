// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <cairn/hw/page_pool.hpp>

namespace cairn::hw {

pages page_pool::take(std::size_t bytes) {
  const std::lock_guard held(guard_);
  // Takes the smallest sufficient block, if it is not much larger than requested; of blocks of
  // equal size the one returned last.
  auto best = idle_.end();
  for (auto at = idle_.begin(); at != idle_.end(); ++at) {
    if (at->bytes() < bytes || at->bytes() / 2 > bytes) continue;
    if (best == idle_.end() || at->bytes() <= best->bytes()) best = at;
  }
  pages memory;
  if (best != idle_.end()) {
    memory = std::move(*best);
    idle_.erase(best);
    idle_bytes_ -= memory.bytes();
  } else {
    drop_beyond(std::max(max_used_bytes_, used_bytes_ + bytes) - bytes);
    memory = pages(bytes);
  }
  used_bytes_ += memory.bytes();
  max_used_bytes_ = std::max(max_used_bytes_, used_bytes_);
  return memory;
}

// Frees the oldest idle blocks until at most `max_bytes` bytes are in use or idle.
void page_pool::drop_beyond(std::size_t max_bytes) noexcept {
  auto kept = idle_.begin();
  while (kept != idle_.end() && used_bytes_ + idle_bytes_ > max_bytes)
    idle_bytes_ -= kept++->bytes();
  idle_.erase(idle_.begin(), kept);
}

void page_pool::give_back(pages&& memory) noexcept {
  const std::lock_guard held(guard_);
  used_bytes_ -= memory.bytes();
  const auto bytes = memory.bytes();
  try {
    idle_.push_back(std::move(memory));
  } catch (...) {  // the memory returns to the system
    return;
  }
  idle_bytes_ += bytes;
}

std::size_t page_pool::idle_bytes() const {
  const std::lock_guard held(guard_);
  return idle_bytes_;
}

}  // namespace cairn::hw
