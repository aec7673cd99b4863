// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>

#include <cairn/pgas/array_command.hpp>
#include <cairn/pgas/array_traffic.hpp>
#include <cairn/pgas/atomic_access.hpp>
#include <cairn/pgas/completion.hpp>
#include <cairn/pgas/distribution.hpp>
#include <cairn/task/prefetch.hpp>
#include <cairn/task/promise.hpp>

// The awaiters that the functions of a global_view return. Each makes one access.
namespace cairn::pgas::detail {

/// An element that a view has found: an array, its traffic, and a place.
struct target {
  array_traffic* traffic;
  array_part* part;
  array_id id;
  element_place place;
  bool here;

  [[nodiscard]] array_command command(access operation, number_kind kind = {}) const noexcept {
    return {id, place.offset, operation, kind};
  }
};

/// Sends a get of a remote T; several pieces if T is large.
template <class T>
void send_get(worker_t k, const target& t, void* into, completion& c) {
  constexpr auto bytes = static_cast<std::uint32_t>(sizeof(T));
  auto& traffic = *t.traffic;
  if constexpr (is_word(sizeof(T))) {
    traffic.get_word(k, t.place.owner, t.command(access::get), into, bytes, c);
  } else if constexpr (sizeof(T) <= 16) {
    traffic.get_pair(k, t.place.owner, t.command(access::get), into, bytes, c);
  } else {
    traffic.get_bytes(k, t.place.owner, t.id, t.place.offset * sizeof(T),
                      {static_cast<std::byte*>(into), sizeof(T)}, c);
  }
}

template <class T>
void send_put(worker_t k, const target& t, const T& x, completion& c) {
  auto& traffic = *t.traffic;
  if constexpr (is_word(sizeof(T))) {
    traffic.put_word(k, t.place.owner, t.command(access::put), to_word(x), c);
  } else if constexpr (sizeof(T) <= 16) {
    traffic.put_pair(k, t.place.owner, t.command(access::put), &x, sizeof(T), c);
  } else {
    traffic.put_bytes(k, t.place.owner, t.id, t.place.offset * sizeof(T),
                      std::as_bytes(std::span(&x, 1)), c);
  }
}

/// An access to one element. An access to an own element is made when the task resumes: at once, or
/// after the element was fetched into the cache while other tasks ran. An access to a remote
/// element is made by its owner.
///
/// The object lies in the frame of the task, so an access to an own element writes only the address
/// there.
template <class T>
class one_access {
 public:
  explicit one_access(const target& t) noexcept {
    if (t.here) [[likely]] {
      element_ = reinterpret_cast<T*>(t.part->data) + t.place.offset;
      fetches_ = t.part->larger_than_cache;
    } else {
      element_ = nullptr;
      std::construct_at(&remote_, t);
    }
  }
  one_access(const one_access&) = delete;
  one_access& operator=(const one_access&) = delete;

  [[nodiscard]] bool await_ready() const noexcept {
    return is_local() && (!fetches_ || task::prefetch(element_).await_ready());
  }

 protected:
  struct remote_access {
    explicit remote_access(const target& t) noexcept : to(t) {}
    target to;
    completion done;
  };

  [[nodiscard]] bool is_local() const noexcept { return element_ != nullptr; }
  template <class P, class Send>
  [[gnu::always_inline]] std::coroutine_handle<> suspend(std::coroutine_handle<P> h, Send&& send) {
    if (is_local()) return task::prefetch(element_).await_suspend(h);
    const task::suspended me(h.promise());
    remote_.done.wait_as(me);
    send(me.worker(), remote_.to, remote_.done);
    return std::noop_coroutine();
  }
  void expect_done() const { expect_no_fault(remote_.done.fault); }
  [[nodiscard]] T& element() const noexcept { return *element_; }

 private:
  T* element_;  // null: the element is remote
  bool fetches_;
  union {
    remote_access remote_;
  };
};

template <class T>
class [[nodiscard("await it")]] get_operation : public one_access<T> {
 public:
  using one_access<T>::one_access;
  template <task::task_promise P>
  [[gnu::always_inline]] std::coroutine_handle<> await_suspend(std::coroutine_handle<P> h) {
    return this->suspend(h, [this](worker_t k, const target& t, completion& c) {
      send_get<T>(k, t, value_.data(), c);
    });
  }
  [[nodiscard]] T await_resume() const {
    if (this->is_local()) return load_element(this->element());
    this->expect_done();
    return std::bit_cast<T>(value_);
  }

 private:
  alignas(T) std::array<std::byte, sizeof(T)> value_;
};

template <class T>
class [[nodiscard("await it")]] put_operation : public one_access<T> {
 public:
  put_operation(const target& t, const T& x) noexcept : one_access<T>(t), value_(x) {}
  template <task::task_promise P>
  [[gnu::always_inline]] std::coroutine_handle<> await_suspend(std::coroutine_handle<P> h) {
    return this->suspend(
        h, [this](worker_t k, const target& t, completion& c) { send_put(k, t, value_, c); });
  }
  void await_resume() const {
    if (this->is_local()) return store_element(this->element(), value_);
    this->expect_done();
  }

 private:
  T value_;
};

/// An atomic. Result is T for the previous value, or void.
template <class T, class Result>
class [[nodiscard("await it")]] change_operation : public one_access<T> {
  using form = atomic_form_of<T>;

 public:
  change_operation(const target& t, access operation, const operands<T>& by) noexcept
      : one_access<T>(t), access_(operation), by_{to_word(by.x), to_word(by.expected)} {}
  template <task::task_promise P>
  [[gnu::always_inline]] std::coroutine_handle<> await_suspend(std::coroutine_handle<P> h) {
    return this->suspend(h, [this](worker_t k, const target& t, completion& c) {
      t.traffic->change(k, t.place.owner, t.command(access_, kind_of<form>()), by_, &found_,
                        sizeof(T), c);
    });
  }
  Result await_resume() {
    if (this->is_local()) {
      found_ = to_word(changed<form>(access_, reinterpret_cast<form&>(this->element()),
                                     {from_word<form>(by_.x), from_word<form>(by_.expected)}));
    } else {
      this->expect_done();
    }
    if constexpr (!std::is_void_v<Result>) return from_word<T>(found_);
  }

 private:
  access access_;
  operands<std::uint64_t> by_;
  std::uint64_t found_ = 0;
};

/// Take or fill. The owner's handlers make these accesses, also for own elements.
template <class T, class Result>
class [[nodiscard("await it")]] full_empty_operation {
 public:
  full_empty_operation(const target& t, access operation, std::uint64_t x) noexcept
      : target_(t), access_(operation), x_(x) {}
  full_empty_operation(const full_empty_operation&) = delete;
  full_empty_operation& operator=(const full_empty_operation&) = delete;
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <task::task_promise P>
  void await_suspend(std::coroutine_handle<P> h) {
    const task::suspended me(h.promise());
    done_.wait_as(me);
    target_.traffic->change(me.worker(), target_.place.owner, target_.command(access_),
                            {.x = x_, .expected = 0}, &found_, sizeof(T), done_);
  }
  Result await_resume() const {
    expect_no_fault(done_.fault);
    if constexpr (!std::is_void_v<Result>) return from_word<T>(found_);
  }

 private:
  target target_;
  access access_;
  std::uint64_t x_, found_ = 0;
  completion done_;
};

}  // namespace cairn::pgas::detail
