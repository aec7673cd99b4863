// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <span>

#include <cairn/base/contract.hpp>
#include <cairn/pgas/element_operations.hpp>
#include <cairn/pgas/global_memory.hpp>
#include <cairn/pgas/pending_operations.hpp>

namespace cairn::pgas {

/// A rank's access to the elements of a global array. Cheap to copy; valid until the array is freed
/// or the memory ends.
///
///   const auto x = co_await a.get(i);        // awaited: complete when the task continues
///   a.put(j, x, ops);                        // non-blocking: complete after co_await ops.wait()
///
/// An access to an own element is a load or store; if this rank's part is larger than a cache, an
/// awaited access first fetches the element while other tasks run. An access to a remote element is
/// a request, and other tasks run until the answer comes.
///
/// Elements of 1, 2, 4 or 8 bytes are read and written indivisibly; larger ones piece by piece.
/// Awaited operations of one task take effect in their order, except that a put to an own element
/// may become visible to other workers of this rank after the task's next gets of own elements; an
/// atomic in between prevents it. The effects of a task before an awaited operation are visible to
/// every task that sees the effect of that operation.
///
/// Messages  two per operation on a remote element; elements of more than 16 bytes, and ranges,
///           travel in pieces of 64 bytes
/// Memory    an awaited range has at most 8,192 pieces on their way, or two elements; a range of a
///           group has all
/// Throws    contract_violation for an index beyond the end, for an array that was freed, and from
///           take() and fill() of an array without full_empty: where the operation is called, or
///           where it is awaited
/// Thread-safety: tasks of all workers may share a view; a group `ops` belongs to one task.
template <class T>
class global_view {
 public:
  using value_type = T;

  global_view(global_memory& m, const global_array<T>& a)
      : traffic_(&m.traffic()),
        part_(&m.part(a.id, global_memory::type_number<T>())),
        me_(m.owning_world().rank()),
        id_(a.id) {
    const auto& layout = part_->shape.layout;
    const auto kind = layout.kind();
    if (part_->size == 0 || kind == distribution::cyclic || kind == distribution::hashed) return;
    first_ = layout.element(me_, 0);
    in_block_ = part_->size;
    element_0_ = reinterpret_cast<std::uintptr_t>(part_->data) - first_ * sizeof(T);
  }

  [[nodiscard]] std::uint64_t size() const noexcept { return layout().n(); }
  [[nodiscard]] const array_layout& layout() const noexcept { return part_->shape.layout; }
  [[nodiscard]] rank_t owner(std::uint64_t i) const noexcept { return layout().owner(i); }
  /// This rank's elements, by offset: element k is layout().element(rank, k). Plain memory: use it
  /// while they have no other writer.
  [[nodiscard]] std::span<T> local() const noexcept {
    return {reinterpret_cast<T*>(part_->data), part_->size};
  }

  // Awaited ------------------------------------------------------------------------------------

  [[gnu::always_inline]] auto get(std::uint64_t i) const { return detail::get_operation<T>(at(i)); }
  [[gnu::always_inline]] auto put(std::uint64_t i, const T& x) const {
    return detail::put_operation<T>(at(i), x);
  }
  /// Elements first .. first + size - 1.
  auto get(std::uint64_t first, std::span<T> into) const { return awaited(first, into); }
  auto put(std::uint64_t first, std::span<const T> from) const { return awaited(first, from); }

  /// Returns   what the element held before; so do the atomics below, except add()
  auto exchange(std::uint64_t i, const T& x) const requires atomic_element<T> {
    return changing<T>(i, access::exchange, x);
  }
  /// Writes `desired` if the element holds the bytes of `expected`, and returns what the element
  /// held before.
  auto compare_exchange(std::uint64_t i, const T& expected,
                        const T& desired) const requires atomic_element<T> {
    return detail::change_operation<T, T>(at(i), access::compare_exchange,
                                          {.x = desired, .expected = expected});
  }
  /// Integers wrap around.
  auto fetch_add(std::uint64_t i, T x) const requires number_element<T> {
    return changing<T>(i, access::add, x);
  }
  auto add(std::uint64_t i, T x) const requires number_element<T> {
    return changing<void>(i, access::add, x);
  }
  auto min(std::uint64_t i, T x) const requires number_element<T> {
    return changing<T>(i, access::minimum, x);
  }
  auto max(std::uint64_t i, T x) const requires number_element<T> {
    return changing<T>(i, access::maximum, x);
  }

  /// Waits until the element is full, and returns and empties it: each value is taken once, and
  /// tasks get values in the order of their arrival. For arrays with full_empty; get() and put()
  /// ignore whether an element is full.
  auto take(std::uint64_t i) const requires(is_word(sizeof(T))) {
    return detail::full_empty_operation<T, T>(full_empty_at(i), access::take, 0);
  }
  /// Writes a value and makes the element full, whether or not it was full.
  auto fill(std::uint64_t i, const T& x) const requires(is_word(sizeof(T))) {
    return detail::full_empty_operation<T, void>(full_empty_at(i), access::fill, to_word(x));
  }

  // Non-blocking -------------------------------------------------------------------------------

  /// `into` must exist until the operations were waited for.
  void get(std::uint64_t i, T* into, pending_operations& ops) const {
    const auto t = at(i);
    if (t.here != nullptr) {
      *into = load_element(element(t));
    } else {
      detail::send_get<T>(ops.worker(), t.question(), into, ops.group());
    }
  }
  /// The value is copied.
  void put(std::uint64_t i, const T& x, pending_operations& ops) const {
    const auto t = at(i);
    if (t.here != nullptr) {
      store_element(element(t), x);
    } else {
      detail::send_put(ops.worker(), t.question(), x, ops.group());
    }
  }
  void get(std::uint64_t first, std::span<T> into, pending_operations& ops) const {
    transfer(ops.worker(), first, into, ops.group());
  }
  void put(std::uint64_t first, std::span<const T> from, pending_operations& ops) const {
    transfer(ops.worker(), first, from, ops.group());
  }
  void add(std::uint64_t i, T x, pending_operations& ops) const requires number_element<T> {
    change(i, access::add, x, ops);
  }
  void min(std::uint64_t i, T x, pending_operations& ops) const requires number_element<T> {
    change(i, access::minimum, x, ops);
  }
  void max(std::uint64_t i, T x, pending_operations& ops) const requires number_element<T> {
    change(i, access::maximum, x, ops);
  }
  void fill(std::uint64_t i, const T& x, pending_operations& ops) const
      requires(is_word(sizeof(T))) {
    const auto q = full_empty_at(i).question();
    traffic_->change(ops.worker(), q.to(), q.command(access::fill),
                     {.x = to_word(x), .expected = 0}, nullptr, 0, ops.group());
  }

 private:
  // Inlined, so that the target stays in registers: a read of a whole target that was written in
  // parts would wait for all earlier writes.
  [[nodiscard, gnu::always_inline]] detail::target at(std::uint64_t i) const {
    if (!part_->still_belongs_to(id_)) [[unlikely]]
      expect_no_fault(access_fault::no_array);
    if (const auto offset = i - first_; offset < in_block_) [[likely]] {
      return {traffic_, part_, id_, {me_, offset}, in_block(i)};
    }
    if (i >= size()) [[unlikely]]
      expect_no_fault(access_fault::out_of_range);
    return found(i);
  }
  // The address of a place in this rank's block takes little time after its number is known, which
  // may just have been read.
  [[nodiscard, gnu::always_inline]] void* in_block(std::uint64_t i) const noexcept {
    auto* const address = reinterpret_cast<void*>(element_0_ + i * sizeof(T));
    if (address == nullptr) __builtin_unreachable();
    return address;
  }
  [[nodiscard, gnu::always_inline]] detail::target found(std::uint64_t i) const noexcept {
    if (const auto offset = i - first_; offset < in_block_) [[likely]] {
      return {traffic_, part_, id_, {me_, offset}, in_block(i)};
    }
    const auto place = layout().place(i);
    auto* const part = reinterpret_cast<T*>(part_->data);
    return {traffic_, part_, id_, place, place.owner == me_ ? part + place.offset : nullptr};
  }
  [[nodiscard]] detail::target full_empty_at(std::uint64_t i) const {
    const auto t = at(i);
    if (!part_->states) expect_no_fault(access_fault::no_full_empty);
    return t;
  }
  [[nodiscard]] static T& element(const detail::target& t) noexcept {
    return *static_cast<T*>(t.here);
  }

  template <class Result>
  [[nodiscard]] auto changing(std::uint64_t i, access operation, const T& x) const {
    return detail::change_operation<T, Result>(at(i), operation, {.x = x, .expected = x});
  }
  void change(std::uint64_t i, access operation, const T& x, pending_operations& ops) const {
    using form = detail::atomic_form_of<T>;
    const auto t = at(i);
    if (t.here != nullptr) {
      const auto operand = from_word<form>(to_word(x));
      static_cast<void>(changed<form>(operation, reinterpret_cast<form&>(element(t)),
                                      {.x = operand, .expected = operand}));
    } else {
      const auto q = t.question();
      traffic_->change(ops.worker(), q.to(), q.command(operation, kind_of<form>()),
                       {.x = to_word(x), .expected = 0}, nullptr, 0, ops.group());
    }
  }

  void expect_range(std::uint64_t first, std::uint64_t n) const {
    if (!part_->still_belongs_to(id_)) expect_no_fault(access_fault::no_array);
    if (first > size() || n > size() - first) expect_no_fault(access_fault::out_of_range);
  }
  // Reads a range into a span of T, or writes it from a span of const T, as far as `max_pieces`
  // pieces reach, but at least one element. Returns how many elements it has read or written.
  template <class Element>
  std::size_t transfer_some(worker_t k, std::uint64_t first, std::span<Element> span,
                            std::size_t max_pieces, completion& c) const {
    constexpr bool reads = !std::is_const_v<Element>;
    const auto all = span.size();
    while (!span.empty() && max_pieces > 0) {
      const auto t = found(first);
      const auto fitting = std::max<std::uint64_t>(max_pieces * piece_bytes / sizeof(T), 1);
      const auto part =
          span.first(std::min<std::uint64_t>({span.size(), layout().run(first), fitting}));
      const auto bytes = part.size_bytes();
      if constexpr (reads) {
        if (t.here != nullptr) {
          load_elements(part.data(), &element(t), {.in_all = bytes, .per_element = sizeof(T)});
        } else {
          traffic_->get_bytes(k, t.place.owner, id_, t.place.offset * sizeof(T),
                              std::as_writable_bytes(part), c);
        }
      } else if (t.here != nullptr) {
        store_elements(&element(t), part.data(), {.in_all = bytes, .per_element = sizeof(T)});
      } else {
        traffic_->put_bytes(k, t.place.owner, id_, t.place.offset * sizeof(T), std::as_bytes(part),
                            c);
      }
      first += part.size();
      span = span.subspan(part.size());
      max_pieces -= std::min(max_pieces, num_pieces(bytes));
    }
    return all - span.size();
  }
  template <class Element>
  void transfer(worker_t k, std::uint64_t first, std::span<Element> span, completion& c) const {
    expect_range(first, span.size());
    transfer_some(k, first, span, std::numeric_limits<std::size_t>::max() / piece_bytes, c);
  }

  // At most two portions are on their way. When one is complete, the handler of its last answer
  // sends the next.
  template <class Element>
  class [[nodiscard("await it")]] range_operation {
   public:
    range_operation(const global_view& v, std::uint64_t first, std::span<Element> s)
        : view_(v), first_(first), span_(s) {}
    range_operation(const range_operation&) = delete;
    range_operation& operator=(const range_operation&) = delete;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <task::task_promise P>
    bool await_suspend(std::coroutine_handle<P> h) {
      view_.expect_range(first_, span_.size());
      const task::suspended me(h.promise());
      for (auto& p : portions_) {
        p.waiter = me;
        p.continues = true;
        p.next = [](portion_completion& c, worker_t k) noexcept {
          return static_cast<portion&>(c).of->next(static_cast<portion&>(c), k);
        };
        p.of = this;
        send(p, me.worker());
      }
      return !ended();
    }
    void await_resume() const {
      if (error_) std::rethrow_exception(error_);
      for (const auto& p : portions_) expect_no_fault(p.fault);
    }

   private:
    struct portion : portion_completion {
      range_operation* of = nullptr;
    };
    static constexpr std::size_t max_pieces = 4096;  // of a portion

    [[nodiscard]] bool ended() const noexcept {
      return span_.empty() && portions_[0].outstanding == 0 && portions_[1].outstanding == 0;
    }
    bool next(portion & p, worker_t k) noexcept {
      if (p.fault != access_fault::none) span_ = {};
      send(p, k);
      return ended();
    }
    // An exception is thrown after the answers, which go to this frame.
    void send(portion & p, worker_t k) noexcept {
      try {
        while (p.outstanding == 0 && !span_.empty()) {
          if (!view_.part_->still_belongs_to(view_.id_)) expect_no_fault(access_fault::no_array);
          const auto n = view_.transfer_some(k, first_, span_, max_pieces, p);
          first_ += n;
          span_ = span_.subspan(n);
        }
      } catch (...) {
        error_ = std::current_exception();
        span_ = {};
      }
    }

    global_view view_;
    std::uint64_t first_;
    std::span<Element> span_;
    std::array<portion, 2> portions_;
    std::exception_ptr error_;
  };
  template <class Element>
  [[nodiscard]] auto awaited(std::uint64_t first, std::span<Element> span) const {
    return range_operation<Element>(*this, first, span);
  }

  array_traffic* traffic_;
  array_part* part_;
  // This rank's elements, if they are consecutive, and where element 0 would be beside them.
  std::uint64_t first_ = 0, in_block_ = 0;
  std::uintptr_t element_0_ = 0;
  rank_t me_;
  array_id id_;
};

template <class T>
global_view<T> global_memory::view(const global_array<T>& a) {
  return {*this, a};
}

}  // namespace cairn::pgas
