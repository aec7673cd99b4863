// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include <cairn/task/frame_pool.hpp>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace cairn::task {
namespace {

// The sanitizer reports accesses to a free block beyond its link.
void forbid([[maybe_unused]] void* at, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(__SANITIZE_ADDRESS__)
  ASAN_POISON_MEMORY_REGION(at, bytes);
#endif
}
void allow([[maybe_unused]] void* at, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(__SANITIZE_ADDRESS__)
  ASAN_UNPOISON_MEMORY_REGION(at, bytes);
#endif
}

}  // namespace

frame_pool::~frame_pool() {
  for (auto& k : classes_) {
    for (auto& slab : k.slabs) allow(slab.data(), slab.bytes());
  }
  while (large_ != nullptr) ::operator delete(std::exchange(large_, large_->next));
}

void* frame_pool::allocate(std::size_t bytes) {
  const auto k = class_of(bytes);
  if (k >= num_classes) [[unlikely]]
    return allocate_large(bytes);
  ++allocated_;
  auto& list = classes_[k].free;
  if (list == nullptr) [[unlikely]]
    return refill(k);
  void* const frame = list;
  list = list->next;
  allow(frame, k * step - sizeof(header));
  return frame;
}

// Blocks that other workers released come first, then new memory.
void* frame_pool::refill(std::size_t k) {
  collect_remote();
  auto& c = classes_[k];
  if (c.free != nullptr) {
    void* const frame = std::exchange(c.free, c.free->next);
    allow(frame, k * step - sizeof(header));
    return frame;
  }
  try {
    return carve(k);
  } catch (...) {
    --allocated_;
    throw;
  }
}

void* frame_pool::carve(std::size_t k) {
  auto& c = classes_[k];
  const auto block = k * step;
  if (static_cast<std::size_t>(c.end - c.at) < block) {
    const auto last = c.slabs.empty() ? 0 : c.slabs.back().bytes();
    hw::pages slab(std::clamp(2 * last, std::max(first_slab_bytes, block), largest_slab_bytes));
    c.slabs.push_back(std::move(slab));
    c.at = static_cast<std::byte*>(c.slabs.back().data());
    c.end = c.at + c.slabs.back().bytes();
    bytes_ += c.slabs.back().bytes();
  }
  auto* const h = ::new (c.at) header{reinterpret_cast<std::uintptr_t>(this), 0};
  c.at += block;
  return h + 1;
}

void frame_pool::put_back(void* frame, std::size_t k) noexcept {
  ++released_;
  auto& list = classes_[k].free;
  list = ::new (frame) free_block{list, k};
  forbid(list + 1, k * step - sizeof(header) - sizeof(free_block));
}

void frame_pool::collect_remote() noexcept {
  auto* b = remote_.exchange(nullptr, std::memory_order_acquire);
  while (b != nullptr) {
    auto* const next = b->next;
    const auto k = b->size_class;
    put_back(b, k);
    b = next;
  }
}

void frame_pool::release(void* frame, std::size_t bytes, frame_pool* here) noexcept {
  auto* const h = header_of(frame);
  if (h->root == held) [[unlikely]] {
    h->root = bytes << 1 | held;
    return;
  }
  auto* const owner = h->owner();
  if (h->is_large()) return owner->release_large(frame);
  if (owner == nullptr) return ::operator delete(large_of(frame));
  const auto k = class_of(bytes);
  h->root = 0;
  if (owner == here) return owner->put_back(frame, k);
  auto* const b = ::new (frame) free_block{owner->remote_.load(std::memory_order_relaxed), k};
  while (!owner->remote_.compare_exchange_weak(b->next, b, std::memory_order_release,
                                               std::memory_order_relaxed)) {
  }
}

void frame_pool::release_held(void* frame, frame_pool* here) noexcept {
  auto* const h = header_of(frame);
  const auto bytes = std::exchange(h->root, 0) >> 1;
  release(frame, bytes, here);
}

void* frame_pool::allocate_without_pool(std::size_t bytes) {
  auto* const memory = ::operator new(sizeof(large_frame) + sizeof(header) + bytes);
  auto* const large = ::new (memory) large_frame{nullptr, nullptr};
  auto* const h = ::new (large + 1) header{0, 0};
  return h + 1;
}

void* frame_pool::allocate_large(std::size_t bytes) {
  void* const frame = allocate_without_pool(bytes);
  list(frame);
  return frame;
}

void frame_pool::mark_root(void* frame, void* root) noexcept {
  auto* const h = header_of(frame);
  if (h->pool == 0) list(frame);
  h->root = reinterpret_cast<std::uintptr_t>(root);
}

void frame_pool::list(void* frame) noexcept {
  header_of(frame)->pool = reinterpret_cast<std::uintptr_t>(this) | listed;
  auto* const large = large_of(frame);
  const std::lock_guard locked(large_guard_);
  large->next = large_;
  if (large_ != nullptr) large_->previous = large;
  large_ = large;
  ++num_large_;
}

void frame_pool::release_large(void* frame) noexcept {
  auto* const large = large_of(frame);
  {
    const std::lock_guard locked(large_guard_);
    (large->previous != nullptr ? large->previous->next : large_) = large->next;
    if (large->next != nullptr) large->next->previous = large->previous;
    --num_large_;
  }
  ::operator delete(large);
}

void frame_pool::for_each_root(const std::function<void(void*)>& f) {
  for (std::size_t k = 1; k < num_classes; ++k) {
    const auto block = k * step;
    for (std::size_t s = 0; s < classes_[k].slabs.size(); ++s) {
      auto* const begin = static_cast<std::byte*>(classes_[k].slabs[s].data());
      const bool last = s + 1 == classes_[k].slabs.size();
      auto* const end =
          last ? classes_[k].at : begin + classes_[k].slabs[s].bytes() / block * block;
      for (auto* at = begin; at < end; at += block) {
        const auto root = reinterpret_cast<header*>(at)->root;
        if (root != 0 && (root & held) == 0) f(reinterpret_cast<void*>(root));
      }
    }
  }
  // Releasing one may release others, so the search begins again after each.
  for (bool found = true; found;) {
    found = false;
    for (auto* l = large_; l != nullptr; l = l->next) {
      const auto root = reinterpret_cast<header*>(l + 1)->root;
      if (root == 0 || (root & held) != 0) continue;
      found = true;
      f(reinterpret_cast<void*>(root));
      break;  // l may be gone
    }
  }
}

std::uint64_t frame_pool::live() const noexcept {
  auto n = allocated_ - released_ + num_large_;
  for (auto* b = remote_.load(std::memory_order_acquire); b != nullptr; b = b->next) --n;
  return n;
}

}  // namespace cairn::task
