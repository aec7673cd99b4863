// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <cairn/am/remote_calls.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/base/packing.hpp>
#include <cairn/base/type_name.hpp>
#include <cairn/core/world.hpp>
#include <cairn/task/task.hpp>
#include <cairn/task/yield.hpp>

namespace cairn::am {

/// An exception left the function that a task called at another rank. what() is its text.
class call_failure : public std::runtime_error {
 public:
  call_failure(rank_t rank, const std::string& text) : std::runtime_error(text), rank_(rank) {}
  /// The rank that was called; it may have called the one where the exception was thrown.
  [[nodiscard]] rank_t rank() const noexcept { return rank_; }

 private:
  rank_t rank_;
};

namespace detail {

template <class T>
inline constexpr bool is_task = false;
template <class T>
inline constexpr bool is_task<task::task<T>> = true;

template <class R>
struct value_of {
  using type = R;
};
template <class T>
struct value_of<task::task<T>> {
  using type = T;
};

/// Parameters and result of a function; a first parameter world& is not an argument.
template <class F>
struct signature;
template <class R, class... P>
struct signature<R (*)(P...)> {
  static constexpr bool takes_world = false;
  using result = R;
  using arguments = std::tuple<std::remove_cvref_t<P>...>;
};
template <class R, class... P>
struct signature<R (*)(world&, P...)> {
  static constexpr bool takes_world = true;
  using result = R;
  using arguments = std::tuple<std::remove_cvref_t<P>...>;
};
template <class R, class... P>
struct signature<R (*)(P...) noexcept> : signature<R (*)(P...)> {};

template <auto F>
using arguments_of = typename signature<decltype(F)>::arguments;
template <auto F>
using result_of = typename signature<decltype(F)>::result;
template <auto F>
using awaited_of = typename value_of<result_of<F>>::type;

template <auto F>
result_of<F> apply(world& w, arguments_of<F>&& arguments) {
  if constexpr (signature<decltype(F)>::takes_world) {
    return std::apply([&w](auto&&... a) { return F(w, std::move(a)...); }, std::move(arguments));
  } else {
    return std::apply([](auto&&... a) { return F(std::move(a)...); }, std::move(arguments));
  }
}

/// Runs a coroutine for another rank and sends its value or exception back.
template <auto F>
task::task<void> serve(remote_calls* calls, call_origin to, arguments_of<F> arguments) {
  using value = awaited_of<F>;
  const auto k = co_await task::current_worker();
  std::string text;
  try {
    auto called = apply<F>(calls->owning_world(), std::move(arguments));
    if constexpr (std::is_void_v<value>) {
      co_await std::move(called);
      calls->answer(k, to, awaited_answer::kind::value);
    } else {
      const value result = co_await std::move(called);
      calls->answer(k, to, awaited_answer::kind::value, result);
    }
    co_return;
  } catch (...) {
    text = text_of_exception();
  }
  calls->answer(k, to, awaited_answer::kind::exception, text);
}

/// Calls a plain function for another rank, inside the handler.
template <auto F>
void serve_plain(remote_calls& calls, worker_t k, const call_origin& to,
                 arguments_of<F>&& arguments) {
  try {
    if constexpr (std::is_void_v<result_of<F>>) {
      apply<F>(calls.owning_world(), std::move(arguments));
      calls.answer(k, to, awaited_answer::kind::value);
    } else {
      const auto result = apply<F>(calls.owning_world(), std::move(arguments));
      calls.answer(k, to, awaited_answer::kind::value, result);
    }
  } catch (...) {
    calls.answer(k, to, awaited_answer::kind::exception, text_of_exception());
  }
}

template <auto F>
void start(remote_calls& calls, worker_t k, const call_origin& to,
           std::span<const std::byte> bytes) {
  auto arguments = unpacked<arguments_of<F>>(bytes);
  if constexpr (is_task<result_of<F>>) {
    calls.owning_world().tasks().start_detached(
        k, [&] { return serve<F>(&calls, to, std::move(arguments)); });
  } else {
    serve_plain<F>(calls, k, to, std::move(arguments));
  }
}

template <auto F>
struct named {};
/// Listed among the remote functions because call() uses it.
template <auto F>
inline const remote_function function_of{type_name<std::pair<named<F>, decltype(F)>>(), &start<F>};

inline const bool calls_are_made = [] {
  task_service::make = [](world& w) -> std::unique_ptr<task_service> {
    return std::make_unique<remote_calls>(w);
  };
  return true;
}();

template <auto F>
class [[nodiscard("co_await it")]] call_awaiter final : awaited_answer {
  using value = awaited_of<F>;
  static constexpr bool has_value = !std::is_void_v<value>;
  static_assert(packable<arguments_of<F>>, "arguments travel as their bytes");
  static_assert(!has_value || packable<std::conditional_t<has_value, value, int>>,
                "values travel as their bytes");

 public:
  call_awaiter(world & w, rank_t at, arguments_of<F> arguments)
      : world_(w), at_(at), arguments_(std::move(arguments)) {
    CAIRN_EXPECTS(at >= 0 && at < w.size(), "the world has no such rank");
  }

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <task::task_promise P>
  bool await_suspend(std::coroutine_handle<P> h) {
    if (at_ != world_.rank()) {
      remote_calls::of(world_).ask(at_, function_of<F>, task::suspended(h.promise()), *this,
                                   arguments_);
      return true;
    }
    if constexpr (is_task<result_of<F>>) {
      here_ = apply<F>(world_, std::move(arguments_));
      return task::detail::start_nested(here_.promise(), h.promise());
    } else if constexpr (has_value) {
      value_.emplace(apply<F>(world_, std::move(arguments_)));
    } else {
      apply<F>(world_, std::move(arguments_));
    }
    return false;
  }
  value await_resume() {
    if (failure_) throw call_failure(at_, *failure_);
    if constexpr (is_task<result_of<F>>) {
      if (at_ == world_.rank()) return here_.promise().take();
    }
    if constexpr (has_value) return std::move(*value_);
  }

 private:
  void receive(kind k, std::span<const std::byte> bytes) override {
    if (k == kind::exception) {
      failure_ = std::make_unique<std::string>(unpacked<std::string>(bytes));
    } else if constexpr (has_value) {
      value_.emplace(unpacked<value>(bytes));
    }
  }

  struct nothing {};
  world& world_;
  const rank_t at_;
  arguments_of<F> arguments_;
  [[no_unique_address]] std::conditional_t<is_task<result_of<F>>, result_of<F>, nothing> here_;
  [[no_unique_address]] std::conditional_t<has_value, std::optional<value>, nothing> value_;
  std::unique_ptr<std::string> failure_;
};

}  // namespace detail
}  // namespace cairn::am

namespace cairn {

/// co_await w.call<&f>(rank, arguments...): runs f at that rank, and returns its value. For tasks.
///
///   task::task<double> lookup(world& w, std::uint64_t v) { ... }
///   const double x = co_await w.call<&lookup>(owner_of(v), v);
///
/// f           a function; its first parameter may be world&, the world of the rank on which it
///             runs. A coroutine runs as a task of that rank, which may call in turn. A plain
///             function runs inside the message handler: it must be short; it may send
/// Arguments   converted to f's parameters; they and the value are packable (packing.hpp)
/// Names       a function is known to other ranks by its name: two with equal names (also in
///             anonymous namespaces) are refused when the world first runs tasks
/// Messages    one record to the rank and one back, coalesced with those of other tasks; none on
///             this rank
/// Throws      am::call_failure with the text of the exception that left f; on this rank that
///             exception itself
template <auto F, class... Arguments>
auto world::call(rank_t at, Arguments&&... arguments) {
  return am::detail::call_awaiter<F>(
      *this, at, am::detail::arguments_of<F>(std::forward<Arguments>(arguments)...));
}

}  // namespace cairn
