// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace cairn::cli {

/// A progress line on the terminal, shown after one second and erased by the destructor. Does
/// nothing unless `show` is set and standard error is a terminal.
class progress {
 public:
  /// activity  what takes the time, such as "verifying bfs"
  /// edges     if set: returns the number of processed edges; called by another thread
  progress(bool show, std::string activity, std::function<std::uint64_t()> edges = {});
  ~progress();
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  /// Callable by any thread.
  ///
  /// stage  prefix of the text, such as "loading "; must have static lifetime
  void at(const char* stage, std::uint64_t done, std::uint64_t all) {
    stage_.store(stage, std::memory_order_relaxed);
    at(done, all);
  }
  void at(std::uint64_t done, std::uint64_t all) {
    done_.store(done, std::memory_order_relaxed);
    all_.store(all, std::memory_order_relaxed);
  }

 private:
  void draw(double seconds);

  std::string activity_;
  std::function<std::uint64_t()> edges_;
  std::atomic<const char*> stage_{""};
  std::atomic<std::uint64_t> done_{0}, all_{0};
  std::mutex guard_;
  std::condition_variable ended_;
  bool over_ = false;  // guarded by the mutex
  bool drawn_ = false;
  std::thread painter_;
};

}  // namespace cairn::cli
