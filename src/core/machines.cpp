// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>
#include <mutex>
#include <numeric>
#include <string>

#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/core/machines.hpp>
#include <cairn/core/progress.hpp>
#include <cairn/core/world.hpp>

namespace cairn {
namespace {

/// The error message of f; empty if f succeeded.
template <class F>
std::string failure_of(F&& f) {
  try {
    f();
    return {};
  } catch (const std::exception& e) {
    return e.what();
  }
}

}  // namespace

std::shared_ptr<net::segment> shared_heap::piece(int machine, std::uint64_t number,
                                                 std::size_t bytes) {
  const std::lock_guard held(guard_);
  std::erase_if(pieces_, [](const auto& entry) { return entry.second.expired(); });
  auto& known = pieces_[{machine, number}];
  auto memory = known.lock();
  if (!memory) known = memory = net::segment::on_heap(bytes);
  return memory;
}

machines::machines(world& w, const machine_layout& layout)
    : world_(w), rank_(w.rank()), machine_of_(layout.machine_of), heap_(layout.heap) {
  if (machine_of_.empty()) {
    machine_of_.resize(static_cast<std::size_t>(w.size()));
    std::iota(machine_of_.begin(), machine_of_.end(), 0);
  }
  CAIRN_EXPECTS(machine_of_.size() == static_cast<std::size_t>(w.size()));
  count_ = *std::max_element(machine_of_.begin(), machine_of_.end()) + 1;
  for (rank_t r = 0; r < w.size(); ++r) {
    if (of(r) == of(w.rank())) neighbors_.push_back(r);
  }
}

machines::worker_summary machines::workers() {
  if (!workers_) {
    const auto& pool = world_.pool();
    const auto most = world_.max(static_cast<std::uint64_t>(pool.workers()));
    workers_ = {static_cast<int>(most), world_.any(pool.shares_cores())};
  }
  return *workers_;
}

std::shared_ptr<const net::segment> machines::share(std::size_t bytes) {
  // After a cancelled call ranks may have begun different numbers of them.
  const auto number = world_.max(num_shared_);
  num_shared_ = number + 1;
  const auto first = neighbors_.front();
  const bool alone = neighbors_.size() == 1;
  std::shared_ptr<net::segment> memory;
  net::segment::address mine;
  auto failure = failure_of([&] {
    if (heap_ || alone) {
      memory =
          alone ? net::segment::on_heap(bytes) : heap_->piece(of(world_.rank()), number, bytes);
    } else if (world_.rank() == first) {
      memory = net::segment::shared(bytes);
      mine = memory->where();
    }
  });
  const auto addresses = world_.all_gather_values<net::segment::address>(
      std::span<const net::segment::address>(&mine, 1));
  if (!memory && failure.empty()) {
    failure = failure_of(
        [&] { memory = net::segment::open(addresses[static_cast<std::size_t>(first)]); });
  }
  if (memory && memory->size() != bytes) {
    failure = "rank " + std::to_string(first) + " shares " + std::to_string(memory->size()) +
              " bytes, but rank " + std::to_string(world_.rank()) + " expects " +
              std::to_string(bytes);
  }
  // No rank releases the memory before all have opened it.
  const auto failures = world_.all_gather(failure);
  if (memory) memory->close_descriptor();
  for (const auto rank : neighbors_) {
    const auto& of_rank = failures[static_cast<std::size_t>(rank)];
    if (!of_rank.empty()) {
      throw system_failure("machine " + std::to_string(of(rank)) + " cannot share memory: rank " +
                           std::to_string(rank) + ": " + of_rank);
    }
  }
  return memory;
}

machines::lent_memory machines::lend(std::size_t bytes) {
  // In a run that was cancelled, some ranks may have shared memory that others did not, and some
  // may have used it until now.
  const auto generation = world_.messages().protocols().generation();
  if (generation_ != generation) pieces_.clear();
  generation_ = generation;
  std::shared_ptr<piece> found;
  for (const auto& p : pieces_) {
    if (!p->in_use && p->bytes >= bytes && (!found || p->bytes < found->bytes)) found = p;
  }
  if (!found) {
    found = std::make_shared<piece>(piece{{}, bytes, false});
    try {
      found->memory = share(bytes);
    } catch (const peer_failure&) {
      throw;
    } catch (const system_failure&) {
      // Lent, and reused, all the same: other machines may have memory.
    }
    std::erase_if(pieces_, [](const auto& p) { return !p->in_use; });
    pieces_.push_back(found);
  }
  found->in_use = true;
  return lent_memory({&found->memory, [found](const auto*) { found->in_use = false; }});
}

}  // namespace cairn
