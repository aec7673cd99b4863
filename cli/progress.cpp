// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include <fmt/format.h>

namespace cairn::cli {

progress::progress(bool show, std::string activity, std::function<std::uint64_t()> edges)
    : activity_(std::move(activity)), edges_(std::move(edges)) {
  if (!show || isatty(STDERR_FILENO) == 0) return;
  painter_ = std::thread([this] {
    using clock = std::chrono::steady_clock;
    const auto start = clock::now();
    std::unique_lock held(guard_);
    while (!ended_.wait_for(held, std::chrono::milliseconds(50), [this] { return over_; })) {
      const std::chrono::duration<double> since = clock::now() - start;
      if (since.count() >= 1) draw(since.count());
    }
  });
}

progress::~progress() {
  {
    const std::lock_guard held(guard_);
    over_ = true;
  }
  ended_.notify_one();
  if (painter_.joinable()) painter_.join();
  if (drawn_) std::fputs("\r\033[K", stderr);
}

void progress::draw(double seconds) {
  constexpr int width = 30;
  const auto all = all_.load(std::memory_order_relaxed);
  std::string bar;
  if (all != 0) {
    const auto part =
        static_cast<double>(done_.load(std::memory_order_relaxed)) / static_cast<double>(all);
    const auto full = std::clamp(static_cast<int>(part * width), 0, width);
    bar = fmt::format("[{:#<{}}{:.<{}}] {:3.0f} %  ", "", full, "", width - full, 100 * part);
  }
  if (edges_) bar += fmt::format("{:.1f} million edges  ", static_cast<double>(edges_()) / 1e6);
  const auto* const stage = stage_.load(std::memory_order_relaxed);
  std::fputs(fmt::format("\r\033[K{}{}  {}{:.0f} s", stage, activity_, bar, seconds).c_str(),
             stderr);
  drawn_ = true;
}

}  // namespace cairn::cli
