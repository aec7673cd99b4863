// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <new>

#include <support/starving.hpp>

namespace {

constexpr auto all = std::numeric_limits<std::size_t>::max();
constinit thread_local std::size_t max_bytes = all;

}  // namespace

namespace cairn::support {

starving::starving(std::size_t bytes) noexcept { max_bytes = bytes; }
starving::~starving() { max_bytes = all; }

}  // namespace cairn::support

void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return bytes > max_bytes ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
}
void* operator new(std::size_t bytes) {
  if (void* const p = operator new(bytes, std::nothrow)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
