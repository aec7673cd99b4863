// SPDX-License-Identifier: Apache-2.0
#include "task/fiber.hpp"

#include <cxxabi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include <boost/context/detail/fcontext.hpp>

#include <cairn/base/error.hpp>
#include <cairn/task/worker_context.hpp>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace cairn::task {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

// Lies on the stack of the suspended fiber, which does not change until the fiber resumes.
struct fiber::passage {
  fiber* from;
  fiber* to;
};

struct entry {
  [[noreturn]] static void enter(transfer_t t) noexcept {
    const auto& way = *static_cast<const fiber::passage*>(t.data);
    auto& self = *way.to;
    fiber::arrive(self, way, t.fctx);
    self.main_(self.argument_);
    __builtin_unreachable();
  }
};

fiber::fiber() {
#if defined(__SANITIZE_THREAD__)
  tsan_fiber_ = __tsan_get_current_fiber();
#endif
}

fiber::fiber(std::size_t stack_bytes, void (*main)(void*), void* argument)
    : main_(main), argument_(argument) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  stack_bytes_ = (stack_bytes + page - 1) / page * page;
  mapping_bytes_ = stack_bytes_ + page;
  mapping_ = mmap(nullptr, mapping_bytes_, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapping_ == MAP_FAILED || mprotect(mapping_, page, PROT_NONE) != 0) {
    const std::string why = std::strerror(errno);
    if (mapping_ != MAP_FAILED) munmap(mapping_, mapping_bytes_);
    throw system_failure("cannot allocate a fiber stack of " + std::to_string(stack_bytes_) +
                         " bytes: " + why);
  }
  auto* const bottom = static_cast<std::byte*>(mapping_) + page;
  stack_bottom_ = bottom;
  context_ = make_fcontext(bottom + stack_bytes_, stack_bytes_, entry::enter);
#if defined(__SANITIZE_THREAD__)
  tsan_fiber_ = __tsan_create_fiber(0);
#endif
}

fiber::~fiber() {
  if (mapping_ == nullptr) return;
#if defined(__SANITIZE_THREAD__)
  __tsan_destroy_fiber(tsan_fiber_);
#endif
#if defined(__SANITIZE_ADDRESS__)
  // The last frames left poisoned memory, and the next mapping may get the same addresses.
  ASAN_UNPOISON_MEMORY_REGION(stack_bottom_, stack_bytes_);
#endif
  munmap(mapping_, mapping_bytes_);
}

void fiber::switch_to(fiber& to) noexcept {
  passage way{this, &to};
  std::memcpy(exceptions_.data(), abi::__cxa_get_globals(), exceptions_.size());
  task_context_ = current_context;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&fake_stack_, to.stack_bottom_, to.stack_bytes_);
#endif
#if defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(to.tsan_fiber_, 0);
#endif
  const transfer_t t = jump_fcontext(to.context_, &way);
  arrive(*this, *static_cast<const passage*>(t.data), t.fctx);
}

void fiber::arrive(fiber& self, const passage& way, void* context) noexcept {
  way.from->context_ = context;
#if defined(__SANITIZE_ADDRESS__)
  const void* bottom = nullptr;
  std::size_t bytes = 0;
  __sanitizer_finish_switch_fiber(self.fake_stack_, &bottom, &bytes);
  way.from->stack_bottom_ = bottom;
  way.from->stack_bytes_ = bytes;
#endif
  std::memcpy(abi::__cxa_get_globals(), self.exceptions_.data(), self.exceptions_.size());
  current_context = self.task_context_;
}

}  // namespace cairn::task
