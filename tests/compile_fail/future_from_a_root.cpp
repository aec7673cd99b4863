// SPDX-License-Identifier: Apache-2.0
// expected: a future does not outlive the run: await it in the root
#include <utility>

#include <cairn/core/world.hpp>
#include <cairn/task/future.hpp>
#include <cairn/task/task.hpp>

namespace task = cairn::task;

task::task<int> one() { co_return 1; }
task::task<int> awaits() {
  auto f = co_await task::spawn(one());
  co_return co_await f;
}
task::task<task::future<int>> returns() {
  auto f = co_await task::spawn(one());
  co_return std::move(f);
}

void runs(cairn::world& w) {
  w.run(awaits());
#ifdef MUST_NOT_COMPILE
  static_cast<void>(w.run(returns()));
#endif
}
