// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

namespace cairn {

class world;

/// The service by which tasks reach other ranks; am/call.hpp implements it, above this layer. A
/// world constructs it when it runs tasks for the first time, on all ranks, and destroys it at its
/// end.
class task_service {
 public:
  using maker = std::unique_ptr<task_service> (*)(world&);

  virtual ~task_service();
  task_service(const task_service&) = delete;
  task_service& operator=(const task_service&) = delete;

  /// Set before main() if the program calls functions at other ranks, else null.
  static inline constinit maker make = nullptr;

 protected:
  /// Sets world.task_service() to this object at once: another rank's first call may arrive before
  /// the constructor has ended.
  explicit task_service(world& w);

 private:
  world& world_;
};

}  // namespace cairn
