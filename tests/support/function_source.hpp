// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>

#include <cairn/task/pool.hpp>

namespace cairn::support {

/// A progress source that calls a function; it is registered during its lifetime.
class function_source final : public task::progress_source {
 public:
  function_source(task::pool& p, std::function<bool(worker_t)> f) : pool_(p), f_(std::move(f)) {
    pool_.add_source(*this);
  }
  ~function_source() { pool_.remove_source(*this); }
  function_source(const function_source&) = delete;
  function_source& operator=(const function_source&) = delete;

  bool poll(worker_t k) noexcept override { return f_(k); }

 private:
  task::pool& pool_;
  std::function<bool(worker_t)> f_;
};

}  // namespace cairn::support
