// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <cairn/base/contract.hpp>

namespace cairn {

/// Objects of a rank that code finds by their type, such as a task that another rank started and
/// that knows only its world.
///
/// Thread-safety  find() by any worker; the others by worker 0 outside jobs
class provided_objects {
 public:
  /// Throws    contract_violation if there is one of this type
  template <class T>
  void add(T& object) {
    CAIRN_EXPECTS(find<T>() == nullptr, "a world has at most one object of this type");
    objects_.emplace_back(&key<T>, &object);
  }
  template <class T>
  void remove(const T& object) noexcept {
    std::erase_if(objects_, [&](const auto& o) { return o.second == &object; });
  }
  /// nullptr if there is none.
  template <class T>
  [[nodiscard]] T* find() const noexcept {
    for (const auto& [type, object] : objects_) {
      if (type == &key<T>) return static_cast<T*>(object);
    }
    return nullptr;
  }

 private:
  template <class T>
  static constexpr char key = 0;
  std::vector<std::pair<const void*, void*>> objects_;
};

}  // namespace cairn
