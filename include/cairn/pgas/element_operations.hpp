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

/// A question about a remote element, before it is sent. In the frame of a task it is written and
/// read in whole words: a load of a value that was stored in parts waits until all earlier stores
/// have reached the cache.
class remote_question {
 public:
  remote_question(array_traffic& t, const array_id& id, const element_place& place) noexcept
      : traffic_(&t),
        offset_(place.offset),
        id_and_owner_(id.creator | static_cast<std::uint64_t>(id.slot) << 16 |
                      static_cast<std::uint64_t>(id.generation) << 32 |
                      static_cast<std::uint64_t>(place.owner) << 48) {}

  [[nodiscard]] array_traffic& traffic() const noexcept { return *traffic_; }
  [[nodiscard]] rank_t to() const noexcept { return static_cast<rank_t>(id_and_owner_ >> 48); }
  [[nodiscard]] array_id id() const noexcept {
    return {static_cast<std::uint16_t>(id_and_owner_),
            static_cast<std::uint16_t>(id_and_owner_ >> 16),
            static_cast<std::uint16_t>(id_and_owner_ >> 32)};
  }
  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
  [[nodiscard]] array_command command(access operation, number_kind kind = {}) const noexcept {
    return {id(), offset_, operation, kind};
  }

 private:
  array_traffic* traffic_;
  std::uint64_t offset_, id_and_owner_;
};

/// An element that a view has found: an array, its traffic, and a place.
///
/// here      the element, if it is on this rank, else null
struct target {
  array_traffic* traffic;
  array_part* part;
  array_id id;
  element_place place;
  void* here;

  [[nodiscard]] remote_question question() const noexcept { return {*traffic, id, place}; }
};

/// Sends a get of a remote T; several pieces if T is large.
template <class T>
[[gnu::always_inline]] inline void send_get(worker_t k, const remote_question& q, void* into,
                                            completion& c) {
  constexpr auto bytes = static_cast<std::uint32_t>(sizeof(T));
  if constexpr (is_word(sizeof(T))) {
    q.traffic().get_word(k, q.to(), q.command(access::get), into, bytes, c);
  } else if constexpr (sizeof(T) <= 16) {
    q.traffic().get_pair(k, q.to(), q.command(access::get), into, bytes, c);
  } else {
    q.traffic().get_bytes(k, q.to(), q.id(), q.offset() * sizeof(T),
                          {static_cast<std::byte*>(into), sizeof(T)}, c);
  }
}

template <class T>
[[gnu::always_inline]] inline void send_put(worker_t k, const remote_question& q, const T& x,
                                            completion& c) {
  if constexpr (is_word(sizeof(T))) {
    q.traffic().put_word(k, q.to(), q.command(access::put), to_word(x), c);
  } else if constexpr (sizeof(T) <= 16) {
    q.traffic().put_pair(k, q.to(), q.command(access::put), &x, sizeof(T), c);
  } else {
    q.traffic().put_bytes(k, q.to(), q.id(), q.offset() * sizeof(T),
                          std::as_bytes(std::span(&x, 1)), c);
  }
}

/// An access to one element. An access to an own element is made when the task resumes: at once, or
/// after the element was fetched into the cache while other tasks ran. An access to a remote
/// element is made by its owner.
///
/// The object lies in the frame of the task, where stores are the cost of an access: an own element
/// takes only its address, and `done_` reuses the storage of `question_`, which is copied to
/// registers before it is sent.
template <class T>
class one_access {
 public:
  explicit one_access(const target& t) noexcept {
    if (t.here != nullptr) [[likely]] {
      element_ = static_cast<T*>(t.here);
      likely_ = t.part->likely;
    } else {
      element_ = nullptr;
      std::construct_at(&question_, t.question());
    }
  }
  one_access(const one_access&) = delete;
  one_access& operator=(const one_access&) = delete;

  [[nodiscard]] bool await_ready() const noexcept { return is_local() && fetch().await_ready(); }

 protected:
  [[nodiscard]] bool is_local() const noexcept { return element_ != nullptr; }
  template <class P, class Send>
  [[gnu::always_inline]] std::coroutine_handle<> suspend(std::coroutine_handle<P> h, Send&& send) {
    if (is_local()) return fetch().await_suspend(h);
    const auto question = question_;
    const task::suspended me(h.promise());
    std::construct_at(&done_)->wait_as(me);
    send(me.worker(), question, done_);
    return std::noop_coroutine();
  }
  void expect_done() const { expect_no_fault(done_.fault); }
  [[nodiscard]] T& element() const noexcept { return *element_; }
  /// Of an element of another rank: null.
  [[nodiscard]] const T* address() const noexcept { return element_; }

 private:
  [[nodiscard]] task::prefetch fetch() const noexcept { return task::prefetch(element_, likely_); }

  T* element_;  // null: the element is remote
  union {
    task::likely_in likely_;
    remote_question question_;
    completion done_;
  };
};

template <class T>
class [[nodiscard("await it")]] get_operation : public one_access<T> {
 public:
  using one_access<T>::one_access;
  template <task::task_promise P>
  [[gnu::always_inline]] std::coroutine_handle<> await_suspend(std::coroutine_handle<P> h) {
    return this->suspend(h, [this](worker_t k, const remote_question& q, completion& c) {
      send_get<T>(k, q, value_.data(), c);
    });
  }
  // One load for both cases: compilers join two values of a structure in a vector register.
  [[nodiscard]] T await_resume() const {
    const T* from = this->address();
    if (from == nullptr) {
      this->expect_done();
      from = reinterpret_cast<const T*>(value_.data());
    }
    return load_element(*from);
  }

 private:
  // Read as an element of an array, which a word of its size may read.
  alignas(is_word(sizeof(T)) ? sizeof(T) : alignof(T)) std::array<std::byte, sizeof(T)> value_;
};

template <class T>
class [[nodiscard("await it")]] put_operation : public one_access<T> {
 public:
  put_operation(const target& t, const T& x) noexcept : one_access<T>(t), value_(x) {}
  template <task::task_promise P>
  [[gnu::always_inline]] std::coroutine_handle<> await_suspend(std::coroutine_handle<P> h) {
    return this->suspend(h, [this](worker_t k, const remote_question& q, completion& c) {
      send_put(k, q, value_, c);
    });
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
    return this->suspend(h, [this](worker_t k, const remote_question& q, completion& c) {
      q.traffic().change(k, q.to(), q.command(access_, kind_of<form>()), by_, &found_, sizeof(T),
                         c);
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
      : question_(t.question()), access_(operation), x_(x) {}
  full_empty_operation(const full_empty_operation&) = delete;
  full_empty_operation& operator=(const full_empty_operation&) = delete;
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <task::task_promise P>
  void await_suspend(std::coroutine_handle<P> h) {
    const task::suspended me(h.promise());
    done_.wait_as(me);
    question_.traffic().change(me.worker(), question_.to(), question_.command(access_),
                               {.x = x_, .expected = 0}, &found_, sizeof(T), done_);
  }
  Result await_resume() const {
    expect_no_fault(done_.fault);
    if constexpr (!std::is_void_v<Result>) return from_word<T>(found_);
  }

 private:
  remote_question question_;
  access access_;
  std::uint64_t x_, found_ = 0;
  completion done_;
};

}  // namespace cairn::pgas::detail
