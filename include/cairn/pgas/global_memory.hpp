// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include <cairn/am/channel.hpp>
#include <cairn/am/slot_table.hpp>
#include <cairn/base/type_name.hpp>
#include <cairn/core/world.hpp>
#include <cairn/pgas/allocation.hpp>
#include <cairn/pgas/array_table.hpp>
#include <cairn/pgas/array_traffic.hpp>
#include <cairn/pgas/cached_parts.hpp>
#include <cairn/pgas/distribution.hpp>
#include <cairn/task/promise.hpp>
#include <cairn/task/spin_lock.hpp>

namespace cairn::pgas {

template <class T>
class global_view;
class pending_operations;

/// Names an array of T that has elements on many ranks: a value that may travel in a message, as an
/// argument, or in another array. A rank accesses the elements through a global_view.
///
/// T   trivially copyable
template <class T>
struct global_array {
  static_assert(std::is_trivially_copyable_v<T>, "elements travel as their bytes");
  using value_type = T;

  array_id id;
  std::uint64_t n = 0;

  [[nodiscard]] std::uint64_t size() const noexcept { return n; }
  friend bool operator==(const global_array&, const global_array&) = default;
};

struct array_options {
  pgas::distribution distribution = pgas::distribution::partition;
  bool full_empty = false;  ///< elements can be taken and filled; all are empty at first
};

struct global_memory_options {
  /// Gets of one element by tasks of a worker share a request in flight. A task may then read a
  /// value from before its own last put: for data without concurrent writers. Only
  /// elements of 1, 2, 4 or 8 bytes share one. Nothing: as the world's options say.
  std::optional<bool> share_gets = {};
  cached_parts cached = {};
};

/// Global arrays: allocated and freed by any task, accessed by every task of every rank.
///
///   [GMT14] table I                       in a task
///   gmt_alloc, gmt_free                   co_await memory.alloc<T>(n, {...}), free(array)
///   gmt_put, gmt_putValue                 co_await a.put(first, span), a.put(i, x)
///   gmt_get                               co_await a.get(first, span), a.get(i)
///   gmt_putNB, gmt_putValueNB, gmt_getNB  not awaited, `ops` as last argument: a.get(i, &x, ops)
///   gmt_waitCommands                      auto ops = co_await memory.operations() before;
///                                         co_await ops.wait()
///   gmt_atomicAdd                         co_await a.fetch_add(i, x), or a.add(i, x)
///   gmt_atomicCAS                         co_await a.compare_exchange(i, expected, desired)
///   gmt_parFor                            co_await w.parallel_for<&f>(n, options, ...)
///   GMT_ALLOC_PARTITION, _LOCAL, _REMOTE  distribution::partition, local, remote
///   GMT_SPAWN_PARTITION, _LOCAL, _REMOTE  am::locality::partition, local, remote
///
///   pgas::global_memory memory(world);                      // collective
///   ... in a task:
///   const auto counts = co_await memory.alloc<std::uint64_t>(n);
///   auto c = memory.view(counts);
///   co_await c.add(i, 1);
///   const auto x = co_await c.get(j);
///   co_await memory.free(counts);
///
/// The channels belong to the memory; an array needs none. The elements of an array are initially
/// zero. A part is private memory from world.memory(), on huge pages if it is large, zeroed by the
/// worker that handles the request. After a cancellation the arrays remain, except those whose
/// allocation had not ended.
///
/// Collective    constructor, destructor, collective_alloc(), collective_free(). A world has one
///               memory at a time
/// Messages      an allocation 2 (P - 1), a free 2 P at most
/// Memory        at each rank its part; 17 standing channels
/// Throws        alloc: system_failure if a rank has not enough memory, if a part would have
///               more than 2^42 bytes, or if this rank has allocated 65,536 arrays already.
///               free, view: contract_violation for an array that was freed or never allocated. An
///               access to it throws contract_violation where it is awaited
/// Thread-safety tasks of all workers; the collective functions on worker 0 outside jobs
/// Source        [GMT14] section III
class global_memory {
 public:
  explicit global_memory(world& w, const global_memory_options& options = {});
  ~global_memory() = default;
  global_memory(const global_memory&) = delete;
  global_memory& operator=(const global_memory&) = delete;

  /// The memory that was made for a world. For tasks, which get a world.
  /// Throws    contract_violation if there is none
  [[nodiscard]] static global_memory& of(world& w);

  class alloc_operation;
  template <class T>
  class typed_alloc;
  class free_operation;
  class group_operation;

  /// co_await alloc<T>(n) returns a global_array<T> of n elements when every rank has its part.
  template <class T>
  [[nodiscard("await it")]] typed_alloc<T> alloc(std::uint64_t n, const array_options& o = {}) {
    return typed_alloc<T>(*this, shape_of<T>(n, o));
  }
  /// co_await free(a) ends an array of any rank when no rank has a part any more. Accesses to it
  /// must have ended.
  template <class T>
  [[nodiscard("await it")]] free_operation free(const global_array<T>& a);

  /// The same, for bodies: all ranks call them, and get the same array. `local` and `remote` refer
  /// to rank 0.
  template <class T>
  [[nodiscard]] global_array<T> collective_alloc(std::uint64_t n, const array_options& o = {}) {
    const auto id = collective_alloc(n, o, sizeof(T), type_number<T>());
    return {id, n};
  }
  template <class T>
  void collective_free(const global_array<T>& a) {
    collective_free(a.id);
  }

  /// This rank's access to an array.
  /// Throws    also contract_violation if it was allocated for another type
  template <class T>
  [[nodiscard]] global_view<T> view(const global_array<T>& a);

  /// co_await operations() returns a group for non-blocking operations of the calling task.
  [[nodiscard("await it")]] group_operation operations() noexcept;

  [[nodiscard]] world& owning_world() noexcept { return world_; }
  [[nodiscard]] array_traffic& traffic() noexcept { return traffic_; }
  /// Number of arrays that this rank has allocated and that have not been freed.
  [[nodiscard]] std::size_t live() const;

  /// This rank's part of an array.
  /// Throws    contract_violation
  [[nodiscard]] array_part& part(const array_id& id, std::uint32_t type) const;

  template <class T>
  [[nodiscard]] static constexpr std::uint32_t type_number() noexcept {
    std::uint32_t hash = 2'166'136'261u;  // FNV-1a
    for (const char c : type_name<T>()) hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619u;
    return hash;
  }

 private:
  struct result {
    array_id id;
    allocation::outcome outcome = allocation::outcome::done;
  };
  struct operation {
    result* into;            // null: nobody waits
    task::suspended waiter;  // none: the body waits
    std::uint32_t number;    // generation of the rank's tasks, or of the collective operation
    bool allocates = false;
  };
  struct port;
  // Lets tasks find the memory during its lifetime.
  class registration {
   public:
    explicit registration(global_memory& m);
    ~registration();
    registration(const registration&) = delete;
    registration& operator=(const registration&) = delete;

   private:
    global_memory& memory_;
  };

  template <class T>
  [[nodiscard]] array_shape shape_of(std::uint64_t n, const array_options& o) const {
    return shape_of(n, o, sizeof(T), type_number<T>());
  }
  [[nodiscard]] array_shape shape_of(std::uint64_t n, const array_options& o,
                                     std::size_t element_bytes, std::uint32_t type) const;
  void begin_alloc(worker_t k, const array_shape& shape, operation o);
  void begin_free(worker_t k, const array_id& id, const operation& o);
  [[nodiscard]] array_id collective_alloc(std::uint64_t n, const array_options& o,
                                          std::size_t element_bytes, std::uint32_t type);
  void collective_free(const array_id& id);
  [[nodiscard]] result as_one(const std::function<void(const operation&)>& begin);
  void give_up_collective();
  static void expect_allocated(const result& r);
  static void expect_freed(const result& r);

  [[nodiscard]] bool make_part(worker_t k, const array_id& id, const array_shape& shape);
  [[nodiscard]] bool zero(worker_t k, std::span<std::byte> bytes);
  // Frees what a dropped part holds. Returns the tasks that wait for its elements.
  [[nodiscard]] static std::vector<full_empty::taker> release(array_part& p);
  void handle(worker_t k, rank_t from, const allocation::message& m);

  world& world_;
  const cached_parts cached_;
  array_table table_;
  mutable task::spin_lock guard_;  // of the machine and the operations
  allocation machine_;
  am::slot_table<operation> operations_;
  result collective_result_;
  std::atomic<bool> collective_ended_{false};
  std::uint32_t num_collective_ = 0;  // so far
  array_traffic traffic_;
  am::channel<allocation::message> messages_;
  registration registered_;  // last: tasks of other ranks may look for it at once
};

/// The awaiter that alloc() returns.
class global_memory::alloc_operation {
 public:
  alloc_operation(global_memory& m, const array_shape& shape) : memory_(m), shape_(shape) {}
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <task::task_promise P>
  void await_suspend(std::coroutine_handle<P> h) {
    const task::suspended me(h.promise());
    memory_.begin_alloc(me.worker(), shape_, {&result_, me, me.of().generation()});
  }
  array_id await_resume() const {
    expect_allocated(result_);
    return result_.id;
  }

 private:
  global_memory& memory_;
  array_shape shape_;
  result result_;
};

template <class T>
class global_memory::typed_alloc : public alloc_operation {
 public:
  typed_alloc(global_memory& m, const array_shape& shape)
      : alloc_operation(m, shape), n_(shape.layout.n()) {}
  global_array<T> await_resume() const { return {alloc_operation::await_resume(), n_}; }

 private:
  std::uint64_t n_;
};

class global_memory::free_operation {
 public:
  free_operation(global_memory& m, const array_id& id) : memory_(m), id_(id) {}
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <task::task_promise P>
  void await_suspend(std::coroutine_handle<P> h) {
    const task::suspended me(h.promise());
    memory_.begin_free(me.worker(), id_, {&result_, me, me.of().generation()});
  }
  void await_resume() const { expect_freed(result_); }

 private:
  global_memory& memory_;
  array_id id_;
  result result_;
};

template <class T>
global_memory::free_operation global_memory::free(const global_array<T>& a) {
  return {*this, a.id};
}

}  // namespace cairn::pgas
