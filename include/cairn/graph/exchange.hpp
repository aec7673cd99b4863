// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <cairn/base/types.hpp>
#include <cairn/task/pool.hpp>

namespace cairn {
class world;
}

namespace cairn::graph {

/// The ranks that load a graph together, as far as loading needs to know them: made from a
/// world (every function that takes an exchange can be given a world), or for one rank alone
/// from its workers.
///
/// Refers to the world or pool, which outlives it. Its calls are collective.
class exchange {
 public:
  using bytes = std::vector<std::byte>;
  using gather_function = std::function<std::vector<bytes>(std::span<const std::byte>)>;
  using agree_function = std::function<void(const std::function<void()>&)>;

  exchange(world& w);             // NOLINT(google-explicit-constructor)
  exchange(task::pool& workers);  // NOLINT(google-explicit-constructor)
  exchange(task::pool& workers, rank_t rank, rank_t size, gather_function gather,
           agree_function agree)
      : workers_(&workers),
        rank_(rank),
        size_(size),
        gather_(std::move(gather)),
        agree_(std::move(agree)) {}

  [[nodiscard]] task::pool& workers() const noexcept { return *workers_; }
  [[nodiscard]] rank_t rank() const noexcept { return rank_; }
  [[nodiscard]] rank_t size() const noexcept { return size_; }

  /// Every rank's values, by rank.
  template <class T>
  [[nodiscard]] std::vector<std::vector<T>> all_gather(std::span<const T> mine) const {
    static_assert(std::is_trivially_copyable_v<T>, "values travel as their bytes");
    std::vector<std::vector<T>> all;
    for (const auto& part : gather_(std::as_bytes(mine))) {
      auto& values = all.emplace_back(part.size() / sizeof(T));
      std::copy(part.begin(), part.end(), reinterpret_cast<std::byte*>(values.data()));
    }
    return all;
  }
  /// Every rank's value, by rank.
  template <class T>
  [[nodiscard]] std::vector<T> all_gather(const T& mine) const {
    std::vector<T> all;
    for (const auto& part : all_gather(std::span<const T>(&mine, 1))) all.push_back(part.front());
    return all;
  }

  /// Runs f; an input_error or usage_error on any rank is thrown on all: see world::agree.
  void agree(const std::function<void()>& f) const { agree_(f); }

 private:
  task::pool* workers_;
  rank_t rank_ = 0;
  rank_t size_ = 1;
  gather_function gather_;
  agree_function agree_;
};

}  // namespace cairn::graph
