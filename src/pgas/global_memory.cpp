// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>

#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/pgas/global_memory.hpp>

namespace cairn::pgas {

// Collects the decisions of the machine under the guard, and executes them afterwards: a send may
// step a simulated cluster, which must not happen while a lock is held.
struct global_memory::port {
  struct message_to {
    rank_t to;
    allocation::message m;
  };
  struct end {
    operation of;
    array_id id;
    allocation::outcome outcome;
  };

  static constexpr operation nobody{nullptr, {}, 0};

  port(global_memory& m, worker_t by) : memory(m), k(by) {}

  void send(rank_t to, const allocation::message& m) { messages.push_back({to, m}); }
  bool make_part(const array_id& id, const array_shape& shape) {
    return memory.make_part(k, id, shape);
  }
  void drop_part(const array_id& id) {
    if (auto* const p = memory.table_.part(id)) {  // otherwise this rank refused to make it
      p->hide();
      dropped.push_back(p);
    }
  }
  // The caller holds the guard. An operation of the body ends under the guard, because the body may
  // have left its wait and begun another operation.
  void finished(std::uint64_t by, const array_id& id, allocation::outcome outcome) {
    const auto o = memory.operations_.take(by);
    if (o.waiter) {
      ends.push_back({o, id, outcome});
    } else if (o.into != nullptr && o.number == memory.num_collective_) {
      *o.into = {id, outcome};
      memory.collective_ended_.store(true, std::memory_order_release);
    } else {
      ended_for_nobody(o, id, outcome);
    }
  }
  // Nobody knows the id of the array, so nobody else can free it.
  void ended_for_nobody(const operation& o, const array_id& id, allocation::outcome outcome) {
    if (o.allocates && outcome == allocation::outcome::done) unclaimed.push_back(id);
  }

  void execute() {
    if (!dropped.empty()) memory.traffic_.wait_for_other_answers(k);
    for (auto* const p : dropped) {
      for (const auto& t : memory.release(*p)) memory.traffic_.fail(k, t);
    }
    for (const auto& [to, m] : messages) memory.messages_.send(k, to, m);
    auto& tasks = memory.traffic_.tasks();
    for (const auto& [o, id, outcome] : ends) {
      // The task was destroyed, or will be: its rank stops. It must not see what was given up.
      if (o.number != tasks.generation() || memory.world_.messages().interrupted()) {
        ended_for_nobody(o, id, outcome);
        continue;
      }
      *o.into = {id, outcome};
      tasks.ready(k, o.waiter);
    }
    for (const auto& id : unclaimed) memory.begin_free(k, id, nobody);
  }

  global_memory& memory;
  worker_t k;
  std::vector<message_to> messages;
  std::vector<end> ends;
  std::vector<array_id> unclaimed;
  std::vector<array_part*> dropped;
};

global_memory::global_memory(world& w, const global_memory_options& options)
    : world_(w),
      cached_(options.cached),
      table_(w.size()),
      machine_(w.rank(), w.size()),
      traffic_(w, table_, options.share_gets.value_or(w.options().share_gets)),
      messages_(w,
                [this](worker_t k, rank_t from, std::span<const allocation::message> batch) {
                  for (const auto& m : batch) handle(k, from, m);
                },
                {.kind = channel_kind::standing, .name = "allocations"}),
      registered_(*this) {
  // The tasks of a rank that returns from here may call functions at ranks that have not.
  w.barrier();
}

global_memory::registration::registration(global_memory& m) : memory_(m) {
  m.world_.pool().while_not_polling([&] { m.world_.provided().add(m); });
}
global_memory::registration::~registration() {
  memory_.world_.pool().while_not_polling([&] { memory_.world_.provided().remove(memory_); });
}

global_memory& global_memory::of(world& w) {
  auto* const memory = w.provided().find<global_memory>();
  CAIRN_EXPECTS(memory != nullptr, "the world has no global memory");
  return *memory;
}

std::size_t global_memory::live() const {
  const std::lock_guard held(guard_);
  return machine_.live();
}

array_shape global_memory::shape_of(std::uint64_t n, const array_options& o,
                                    std::size_t element_bytes, std::uint32_t type) const {
  CAIRN_EXPECTS(element_bytes < std::numeric_limits<std::uint32_t>::max());
  CAIRN_EXPECTS(!o.full_empty || is_word(element_bytes),
                "full/empty elements have 1, 2, 4 or 8 bytes");
  const array_layout layout(o.distribution, n, {.home = world_.rank(), .ranks = world_.size()});
  for (rank_t r = 0; r < world_.size(); ++r) {
    if (layout.size(r) > array_command::max_offset / element_bytes) {
      throw system_failure("a rank's part of a global array has at most 2^42 bytes");
    }
  }
  return {layout, static_cast<std::uint32_t>(element_bytes), type, o.full_empty};
}

array_part& global_memory::part(const array_id& id, std::uint32_t type) const {
  auto* const p = table_.part(id);
  if (p == nullptr) expect_no_fault(access_fault::no_array);
  CAIRN_EXPECTS(p->shape.type == type, "the global array was allocated for another type");
  return *p;
}

// Parts ---------------------------------------------------------------------------------------

bool global_memory::make_part(worker_t k, const array_id& id, const array_shape& shape) {
  const auto size = shape.layout.size(world_.rank());
  array_part* place = nullptr;
  try {
    place = &table_.at(id);
    CAIRN_ASSERT(place->generation.load(std::memory_order_relaxed) == 0);
    place->memory = hw::page_buffer<std::byte>(size * shape.element_bytes, world_.memory());
    if (shape.full_empty) place->states = std::make_unique<full_empty>(size);
  } catch (const system_failure&) {
    return false;
  } catch (const std::bad_alloc&) {
    if (place != nullptr) place->memory = {};
    return false;
  }
  auto& p = *place;
  if (!zero(k, p.memory.span())) {
    p.memory = {};
    p.states.reset();
    return false;
  }
  p.data = p.memory.data();
  p.size = size;
  p.element_bytes = shape.element_bytes;
  p.likely = cached_.likely(p.memory.size());
  p.shape = shape;
  p.show(id);
  return true;
}

// Returns false if the world stops meanwhile, so that a large part does not delay it.
bool global_memory::zero(worker_t k, std::span<std::byte> bytes) {
  constexpr std::size_t at_once = std::size_t{16} << 20;
  while (bytes.size() > at_once) {
    std::memset(bytes.data(), 0, at_once);
    bytes = bytes.subspan(at_once);
    if (!world_.messages().may_continue(k)) return false;
  }
  if (!bytes.empty()) std::memset(bytes.data(), 0, bytes.size());
  return true;
}

std::vector<full_empty::taker> global_memory::release(array_part& p) {
  std::vector<full_empty::taker> takers;
  if (p.states) takers = p.states->all_takers();
  p.states.reset();
  p.size = 0;
  p.data = nullptr;
  p.memory = {};
  return takers;
}

// Operations ----------------------------------------------------------------------------------

void global_memory::begin_alloc(worker_t k, const array_shape& shape, operation o) {
  o.allocates = true;
  port out(*this, k);
  std::optional<array_id> id;
  {
    const std::lock_guard held(guard_);
    id = machine_.begin_alloc(operations_.put(o), out);
  }
  if (id) {
    const bool made = make_part(k, *id, shape);  // zeroes memory: without the guard
    const std::lock_guard held(guard_);
    machine_.ask_others(*id, shape, made, out);
  }
  out.execute();
}

void global_memory::begin_free(worker_t k, const array_id& id, const operation& o) {
  port out(*this, k);
  {
    const std::lock_guard held(guard_);
    machine_.free(id, operations_.put(o), out);
  }
  out.execute();
}

void global_memory::handle(worker_t k, rank_t from, const allocation::message& m) {
  port out(*this, k);
  if (allocation::needs_machine(m.kind)) {
    const std::lock_guard held(guard_);
    machine_.handle(from, m, out);
  } else {
    machine_.handle(from, m, out);
  }
  out.execute();
}

void global_memory::expect_allocated(const result& r) {
  if (r.outcome == allocation::outcome::done) return;
  throw system_failure(r.id.generation == 0
                           ? "a rank has allocated as many global arrays as it can, 65,536"
                           : "a rank has not enough memory for its part of a global array");
}

void global_memory::expect_freed(const result& r) {
  if (r.outcome != allocation::outcome::done) expect_no_fault(access_fault::no_array);
}

global_memory::result global_memory::as_one(const std::function<void(const operation&)>& begin) {
  try {
    if (world_.rank() == 0) {
      operation o{&collective_result_, {}, 0};
      {
        const std::lock_guard held(guard_);
        collective_ended_.store(false, std::memory_order_relaxed);
        o.number = ++num_collective_;
      }
      begin(o);
      world_.wait_until([&] { return collective_ended_.load(std::memory_order_acquire); });
    }
    return world_.all_gather(collective_result_).front();
  } catch (const cancelled&) {  // on all ranks
    if (world_.rank() == 0) give_up_collective();
    throw;
  }
}

// If the operation has not ended, it ends later, under a number that no other operation has. An
// array that it has made is freed; one that it has freed is not found.
void global_memory::give_up_collective() {
  bool ended = false;
  {
    const std::lock_guard held(guard_);
    ++num_collective_;
    ended = collective_ended_.load(std::memory_order_relaxed);
  }
  if (ended) begin_free(main_worker, collective_result_.id, port::nobody);
}

array_id global_memory::collective_alloc(std::uint64_t n, const array_options& o,
                                         std::size_t element_bytes, std::uint32_t type) {
  const auto shape = shape_of(n, o, element_bytes, type);
  const auto made = as_one([&](const operation& op) { begin_alloc(main_worker, shape, op); });
  expect_allocated(made);
  return made.id;
}

void global_memory::collective_free(const array_id& id) {
  world_.barrier();
  expect_freed(as_one([&](const operation& op) { begin_free(main_worker, id, op); }));
}

}  // namespace cairn::pgas
