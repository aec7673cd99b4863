// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include <cairn/am/epoch.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/core/progress.hpp>
#include <cairn/dtx/runner.hpp>

namespace cairn::dtx {

std::uint32_t number_of_map(std::span<const void* const> maps, const void* map) {
  const auto at = std::find(maps.begin(), maps.end(), map);
  CAIRN_EXPECTS(at != maps.end(), "the map must be one of the maps passed to the constructor");
  return static_cast<std::uint32_t>(at - maps.begin());
}

std::size_t transaction::number_of(const element& e) {
  if (named_only_) {
    for (const auto i : named_) {
      if (held_[i] == e) return i;
    }
    CAIRN_EXPECTS(!"named by elements()",
                  "a distributed operator may access only elements that elements() names");
  }
  if (const auto i = held_.find(e)) return *i;
  held_.add_element(e);
  throw missing_element{};
}

runner::runner(world& w, const transaction_options& opt, std::size_t element_bytes,
               transaction_queue& source)
    : world_(w),
      options_(opt),
      element_bytes_(element_bytes),
      source_(source),
      workers_(w.workers()),
      parking_(w, [this](worker_t k) { return advance_ready(k); }) {
  CAIRN_EXPECTS(opt.max_concurrent >= 1, "max_concurrent must be at least 1");
  for (worker_t k{0}; k < w.workers(); ++k) {
    workers_[k].random = random64(holder_name(w.rank(), 0)).stream(static_cast<std::uint64_t>(k));
  }
}

void runner::add(const void* map, std::unique_ptr<map_access> access) {
  maps_.push_back(map);
  map_accesses_.push_back(std::move(access));
  for (auto& k : workers_) k.value.out.resize(map_accesses_.size());
}

void runner::handle_answer(worker_t k, const claim_request& request, bool granted,
                           std::span<const std::byte> value) {
  auto& r = *static_cast<record*>(request.transaction);
  if (!granted) world_.counters().add(k, obs::counter::dtx_refusals);
  if (granted) std::memcpy(r.data.received(request.index), value.data(), value.size());
  if (r.held.record_answer(request.index, granted)) workers_[k].ready.push_back(&r);
}

void runner::queued(worker_t k) {
  CAIRN_EXPECTS(world_.messages().epoch_open(), "a transaction needs an open epoch");
  const auto epoch = world_.messages().epoch();
  CAIRN_EXPECTS(num_uncommitted_ == 0 || epoch_ == epoch,
                "an object used in a cancelled epoch may only be destroyed");
  epoch_ = epoch;
  ++num_uncommitted_;
  am::hold(world_, k);
}

// Advances ready transactions and sends their claims and releases. Claims of this rank's own
// elements are answered while it sends, hence the second round. There are no further rounds,
// because handlers wait meanwhile. An exception leaves transactions that hold the epoch, which
// therefore ends.
bool runner::advance_ready(worker_t k) {
  auto& mine = workers_[k];
  if (mine.advancing || world_.poisoned() || num_uncommitted_ == 0) return false;
  if (epoch_ != world_.messages().epoch()) return false;
  mine.advancing = true;
  try {
    const bool moved = advance_rounds(k);
    mine.advancing = false;
    return moved;
  } catch (...) {
    world_.poison(text_of_exception());
    throw;
  }
}

bool runner::advance_rounds(worker_t k) {
  auto& mine = workers_[k];
  end_due_back_offs(mine);
  bool moved = false;
  for (int round = 0; round < 2 && !world_.poisoned(); ++round) {
    start_queued(k);
    if (mine.ready.empty()) break;
    moved = true;
    mine.driven.swap(mine.ready);
    for (auto* const r : mine.driven) advance(k, *r);
    mine.driven.clear();
    send(k);
  }
  return moved;
}

void runner::end_due_back_offs(worker_state& mine) {
  if (mine.delayed.empty()) return;
  const auto now = world_.clock().now_ns();
  std::erase_if(mine.delayed, [&](const delayed_record& d) {
    if (d.due_ns > now) return false;
    d.of->held.end_back_off();
    mine.ready.push_back(d.of);
    return true;
  });
}

void runner::start_queued(worker_t k) {
  auto& mine = workers_[k];
  while (source_.has_transactions(k)) {
    auto* const r = take_record(mine);
    if (r == nullptr) return;
    mine.named.clear();
    r->body = source_.next_transaction(k, mine.named);
    r->held.reset();
    for (const auto& e : mine.named) r->held.add_element(e);
    r->data.resize(r->held.size());
    r->shortest_round_ns = std::numeric_limits<std::uint64_t>::max();
    const auto workers = static_cast<std::uint64_t>(world_.workers());
    r->name =
        holder_name(world_.rank(), mine.num_started++ * workers + static_cast<std::uint64_t>(k));
    mine.ready.push_back(r);
  }
}

runner::record* runner::take_record(worker_state& mine) {
  if (!mine.spare.empty()) {
    auto* const r = mine.spare.back();
    mine.spare.pop_back();
    return r;
  }
  if (mine.records.size() == options_.max_concurrent) return nullptr;
  mine.records.push_back(std::make_unique<record>(element_bytes_));
  return mine.records.back().get();
}

void runner::advance(worker_t k, record& r) {
  using step = acquisition::step;
  if (r.held.next() == step::run) {
    if (run_body(r)) return commit(k, r);
    if (world_.poisoned()) return;
    world_.counters().add(k, obs::counter::dtx_restarts);
  }
  CAIRN_ASSERT(r.held.next() == step::claim || r.held.next() == step::release_all);
  return r.held.next() == step::release_all ? release_and_back_off(k, r) : claim(k, r);
}

// Returns whether the body completed. Otherwise an element is missing, also if the body caught
// missing_element, or the body threw.
bool runner::run_body(record& r) {
  try {
    transaction tx(r.held, r.data, maps_);
    r.body->run(tx);
    return r.held.next() == acquisition::step::run;
  } catch (const missing_element&) {
  } catch (...) {
    world_.poison(text_of_exception());
  }
  return false;
}

void runner::commit(worker_t k, record& r) {
  auto& mine = workers_[k];
  for (std::size_t i = 0; i < r.held.size(); ++i) {
    const auto& e = r.held[i];
    mine.out[e.map].releases.push_back({e.id, r.data.changed(i) ? r.data.written(i) : nullptr});
  }
  mine.done.push_back(&r);
}

void runner::claim(worker_t k, record& r) {
  r.data.resize(r.held.size());
  r.claimed_ns = world_.clock().now_ns();
  for (const auto i : r.held.claims()) {
    const auto& e = r.held[i];
    workers_[k].out[e.map].claims.push_back({e.id, r.name, &r, static_cast<std::uint32_t>(i)});
  }
}

void runner::release_and_back_off(worker_t k, record& r) {
  auto& mine = workers_[k];
  for (const auto i : r.held.release_all()) {
    const auto& e = r.held[i];
    mine.out[e.map].releases.push_back({e.id, nullptr});
  }
  world_.counters().add(k, obs::counter::dtx_restarts);
  const auto now = world_.clock().now_ns();
  auto limits = options_.back_off;
  // Clocks of two workers may differ in a simulation.
  r.shortest_round_ns = std::min(r.shortest_round_ns, now - std::min(now, r.claimed_ns));
  if (limits.first_ns != 0) limits.first_ns = std::max(limits.first_ns, r.shortest_round_ns);
  mine.delayed.push_back({now + r.held.back_off_ns(limits, mine.random), &r});
}

// A transaction ends when its releases are counted as sent.
void runner::send(worker_t k) {
  auto& mine = workers_[k];
  for (std::size_t map = 0; map < map_accesses_.size(); ++map) {
    auto& [claims, releases] = mine.out[map];
    if (!releases.empty()) map_accesses_[map]->release(k, releases);
    if (!claims.empty()) map_accesses_[map]->claim(k, claims);
    releases.clear();
    claims.clear();
  }
  if (mine.done.empty()) return;
  world_.counters().add(k, obs::counter::dtx_commits, mine.done.size());
  for (auto* const r : mine.done) {
    try {
      r->body->committed(k);
    } catch (...) {
      world_.poison(text_of_exception());
    }
    const auto n = r->body->size();
    r->body.reset();
    num_uncommitted_ -= n;
    am::release(world_, k, n);
    mine.spare.push_back(r);
  }
  mine.done.clear();
}

}  // namespace cairn::dtx
