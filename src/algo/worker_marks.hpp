// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include <cairn/core/world.hpp>
#include <cairn/hw/pages.hpp>
#include <cairn/task/per_worker.hpp>

namespace cairn::algo {

/// Words of each worker, initially 0, allocated at the first use.
template <class Word>
class worker_marks {
 public:
  worker_marks(world& w, std::size_t words) : w_(w), words_(words), marks_(w.workers()) {}

  /// Whether worker k has used its words.
  [[nodiscard]] bool used(worker_t k) const { return !marks_[k].empty(); }

  /// Worker k's words.
  [[nodiscard]] Word* operator[](worker_t k) {
    auto& marks = marks_[k];
    if (marks.empty()) {
      marks = hw::page_buffer<Word>(words_, w_.memory());
      std::fill(marks.begin(), marks.end(), Word{0});
    }
    return marks.data();
  }

 private:
  world& w_;
  std::size_t words_;
  task::per_worker<hw::page_buffer<Word>> marks_;
};

}  // namespace cairn::algo
