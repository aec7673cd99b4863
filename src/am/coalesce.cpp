// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include <cairn/am/coalesce.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/am/route.hpp>
#include <cairn/base/contract.hpp>

namespace cairn::am {

namespace {

// The next hop by destination.
std::vector<rank_t> next_hops_in(world& w, routing scheme) {
  std::vector<int> machine_of;
  for (rank_t r = 0; r < w.size(); ++r) machine_of.push_back(w.machines().of(r));
  const route from_here(scheme, w.rank(), w.size(), machine_of);
  std::vector<rank_t> hops;
  for (rank_t to = 0; to < w.size(); ++to) hops.push_back(from_here.next_hop(to));
  return hops;
}

}  // namespace

coalescer::coalescer(world& w, const channel_options& opt, travel how)
    : world_(w),
      progress_(w.messages()),
      kind_(opt.kind),
      requested_bytes_(opt.coalesce_bytes != 0           ? opt.coalesce_bytes
                       : w.options().coalesce_bytes != 0 ? progress_.coalesce_bytes()
                                                         : 0),
      name_(opt.name),
      worker_(opt.worker),
      exceptions_(std::uncaught_exceptions()),
      lanes_(w.handling_threads()),
      routed_(how == travel::routed && kind_ == channel_kind::epoch && w.size() > 1 &&
              !is_direct(w.options().routing)),
      next_hops_(routed_ ? next_hops_in(w, w.options().routing) : std::vector<rank_t>()) {
  for (auto& k : lanes_) k.value.blocks.resize(static_cast<std::size_t>(w.size()));
}

void coalescer::attach(std::size_t message_bytes, std::string_view type) {
  message_bytes_ = message_bytes;
  number_ = progress_.attach(*this, kind_, name_.empty() ? type : name_, worker_);
}

void coalescer::detach() noexcept {
  const bool unwinding = std::uncaught_exceptions() > exceptions_;
  if (kind_ == channel_kind::standing && !unwinding) finish_standing(world_, *this);
  progress_.detach(number_, kind_, *this);
}

void coalescer::expect_sending() const {
  CAIRN_EXPECTS(kind_ == channel_kind::standing || progress_.epoch_open(),
                "an epoch channel sends while an epoch is open");
}

std::size_t coalescer::block_bytes(rank_t to, const block& b) const noexcept {
  if (requested_bytes_ != 0) return requested_bytes_;
  const auto best = progress_.best_bytes(to);
  return b.growth.bytes(growth_step(best), best);
}

void coalescer::turn_over(worker_t w, rank_t to, std::size_t least) {
  auto& b = lanes_[w].blocks[static_cast<std::size_t>(to)];
  if (b.items) {
    b.growth.left_full();
    ship(w, to, b);
  }
  auto bytes = block_bytes(to, b);
  if (message_bytes_ != 0) bytes -= bytes % message_bytes_;
  bytes = std::max(bytes, least);
  // Small blocks take buffers of the usual size, which are recycled.
  b.items = progress_.take_buffer(
      w, requested_bytes_ != 0 ? bytes : std::max(bytes, progress_.coalesce_bytes()));
  b.at = b.items.payload();
  b.end = b.at + bytes;
  b.seen = false;
  b.records = 0;
}

void coalescer::ship(worker_t w, rank_t to, block& b) {
  auto& mine = lanes_[w];
  auto items = std::move(b.items);
  items.set_size(static_cast<std::size_t>(b.at - items.payload()));
  const auto messages = message_bytes_ == 0 ? b.records : items.size() / message_bytes_;
  const auto growth = b.growth;
  b = block{};
  b.growth = growth;
  const auto sent = mine.count.sent();
  world_.counters().add(w, obs::counter::messages_sent, sent - std::exchange(mine.reported, sent));
  progress_.post(w, to, number_, kind_, messages, std::move(items));
}

bool coalescer::flush(worker_t w, flush_scope scope) {
  bool shipped = false;
  auto& mine = lanes_[w];
  if (mine.kept != 0 && (scope == flush_scope::all || std::exchange(mine.kept_seen, true))) {
    drain(w);
    mine.kept_seen = false;
    shipped = true;
  }
  for (rank_t to = 0; to < ranks(); ++to) {
    auto& b = mine.blocks[static_cast<std::size_t>(to)];
    if (!b.items || b.at == b.items.payload()) continue;
    if (scope == flush_scope::only_old && !std::exchange(b.seen, true)) continue;
    b.growth.left_early();
    ship(w, to, b);
    shipped = true;
  }
  return shipped;
}

void coalescer::count_handled(worker_t w, std::uint64_t n) noexcept {
  lanes_[w].count.add_handled(n);
  world_.counters().add(w, obs::counter::messages_handled, n);
}

void coalescer::count_kept(worker_t w, std::ptrdiff_t n, std::size_t bytes) noexcept {
  lanes_[w].kept += static_cast<std::size_t>(n);
  progress_.charge(w, n * static_cast<std::ptrdiff_t>(bytes));
}

void coalescer::count_forwarded(worker_t w, std::uint64_t n) noexcept {
  if (n == 0) return;
  world_.counters().add(w, obs::counter::messages_forwarded, n);
  world_.counters().add(w, obs::counter::buffers_forwarded);
  world_.trace().note(w, obs::trace_kind::forward, {}, 0, static_cast<std::uint32_t>(n), number_);
}

void coalescer::abandon() noexcept {
  for (worker_t w{0}; w < lanes_.workers(); ++w) {
    auto& mine = lanes_[w];
    for (auto& b : mine.blocks) {
      if (b.items) progress_.charge(w, -static_cast<std::int64_t>(b.items.capacity()));
      b = block{};
    }
    if (mine.kept != 0) forget(w);
    mine.count.reset();
    mine.reported = 0;
  }
}

}  // namespace cairn::am
