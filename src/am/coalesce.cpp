// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstring>
#include <exception>
#include <utility>
#include <vector>

#include <cairn/am/coalesce.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/am/route.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>

namespace cairn::am {

namespace {

// With fewer ranks hops spare few buffers, and without them no handler looks for messages of other
// ranks.
constexpr rank_t fewest_ranks_for_hops = 16;

// A table is drained at an age that grows by one scan for so many messages, so that a busy worker
// spends little time on draining and on filling the table again.
constexpr std::size_t kept_messages_per_scan = 1024;

// Between ranks of one machine a buffer costs less than another hop.
bool may_use_hops(world& w) {
  const auto scheme = w.options().routing;
  if (scheme == routing::automatic) {
    return w.size() >= fewest_ranks_for_hops && w.machines().count() > 1;
  }
  return scheme != routing::direct && w.size() > 1;
}

// The next hop by destination.
std::vector<rank_t> next_hops_in(world& w) {
  const auto requested = w.options().routing;
  const auto scheme = requested == routing::automatic ? routing::grid : requested;
  std::vector<int> machine_of;
  for (rank_t r = 0; r < w.size(); ++r) machine_of.push_back(w.machines().of(r));
  const route from_here(scheme, w.rank(), w.size(), machine_of);
  std::vector<rank_t> hops;
  for (rank_t to = 0; to < w.size(); ++to) hops.push_back(from_here.next_hop(to));
  return hops;
}

}  // namespace

coalescer::coalescer(world& w, const channel_options& opt, travel path)
    : world_(w),
      progress_(w.messages()),
      kind_(opt.kind),
      requested_bytes_(opt.coalesce_bytes != 0 ? opt.coalesce_bytes : progress_.requested_bytes()),
      name_(opt.name),
      worker_(opt.worker),
      sends_(opt.sends),
      in_bulk_(opt.in_bulk || (!opt.sends && opt.kind == channel_kind::epoch)),
      exceptions_(std::uncaught_exceptions()),
      workers_(w.handling_threads()),
      routed_(path == travel::routed && kind_ == channel_kind::epoch && may_use_hops(w)),
      chooses_(routed_ && w.options().routing == routing::automatic),
      next_hops_(routed_ ? next_hops_in(w) : std::vector<rank_t>()) {
  CAIRN_EXPECTS(w.workers() == w.pool().workers(),
                "a channel cannot be constructed while one worker works alone");
  const auto ranks = static_cast<std::size_t>(w.size());
  for (auto& k : workers_) {
    k.value.blocks.resize(ranks);
    if (chooses_) k.value.joined_bytes.resize(ranks);
  }
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

void coalescer::expect_open_epoch() const {
  CAIRN_EXPECTS(progress_.epoch_open(), "an epoch channel sends only while an epoch is open");
}

std::size_t coalescer::block_bytes(rank_t to, const block& b) const noexcept {
  if (requested_bytes_ != 0) return requested_bytes_;
  const auto best = progress_.best_bytes(to);
  if (in_bulk_) return progress_.suitable_bytes(to, best);
  return progress_.suitable_bytes(to, b.growth.bytes(progress_.packet_cost_to(to), best));
}

// Without memory the world fails: a block that was on its way out may be lost, and who has counted
// a question would wait for its answer.
void coalescer::turn_over(worker_t k, rank_t to, std::size_t min_bytes) {
  try {
    begin_block(k, to, min_bytes);
  } catch (...) {
    world_.poison(text_of_exception());
    throw;
  }
}

void coalescer::begin_block(worker_t k, rank_t to, std::size_t min_bytes) {
  auto& mine = workers_[k];
  auto& b = mine.blocks[static_cast<std::size_t>(to)];
  if (b.items) {
    b.growth.left_full();
    ship(k, to, b);
  }
  if (!std::exchange(b.listed, true)) mine.filling.push_back(to);
  auto bytes = block_bytes(to, b);
  if (message_bytes_ != 0) bytes -= bytes % message_bytes_;
  bytes = std::max(bytes, min_bytes);
  const auto digits = static_cast<std::uint8_t>(std::bit_width(bytes));
  if (requested_bytes_ == 0 && std::exchange(b.noted, digits) != digits) {
    note_choice(k, "size of blocks", bytes);
  }
  // Small blocks take buffers of the usual size, which are recycled.
  b.items = progress_.take_buffer(
      k, requested_bytes_ != 0 ? bytes : std::max(bytes, progress_.coalesce_bytes()));
  b.at = b.items.payload();
  b.end = b.at + bytes;
}

void coalescer::ship(worker_t k, rank_t to, block& b) {
  auto& mine = workers_[k];
  const auto bytes = b.bytes();
  const auto messages = message_bytes_ == 0 ? b.records : bytes / message_bytes_;
  auto items = b.take();
  items.set_size(bytes);
  const auto sent = mine.count.sent();
  world_.counters().add(k, obs::counter::messages_sent, sent - std::exchange(mine.reported, sent));
  try {
    progress_.post(k, to, number_, kind_, messages, std::move(items));
  } catch (...) {
    world_.poison(text_of_exception());
    throw;
  }
}

bool coalescer::flush(worker_t k, flush_scope scope) {
  bool shipped = false;
  auto& mine = workers_[k];
  if (mine.kept != 0 &&
      (scope == flush_scope::all || mine.kept_scans++ >= 1 + mine.kept / kept_messages_per_scan)) {
    drain(k);
    mine.kept_scans = 0;
    shipped = true;
  }
  if (chooses_) join_for_hops(k, scope);
  std::erase_if(mine.filling, [&](rank_t to) {
    auto& b = mine.blocks[static_cast<std::size_t>(to)];
    if (!b.empty()) {
      if (scope == flush_scope::only_old && !std::exchange(b.seen, true)) return false;
      b.growth.left_early();
      ship(k, to, b);
      shipped = true;
    }
    b.listed = false;
    return true;
  });
  return shipped;
}

bool coalescer::leaves_part_filled(block& b, flush_scope scope) noexcept {
  return !b.empty() && (scope == flush_scope::all || b.seen);
}

// Joins the blocks that are about to leave, if that is cheaper.
void coalescer::join_for_hops(worker_t k, flush_scope scope) {
  auto& mine = workers_[k];
  auto& bytes_for = mine.joined_bytes;
  hop_choice::unsent_blocks found;
  for (const auto to : mine.filling) {
    auto& b = mine.blocks[static_cast<std::size_t>(to)];
    if (to == rank() || !leaves_part_filled(b, scope)) continue;
    const auto bytes = b.bytes();
    const auto hop = next_hops_[static_cast<std::size_t>(to)];
    auto& joined = bytes_for[static_cast<std::size_t>(hop)];
    ++found.blocks;
    found.hops += joined == 0;
    joined += bytes;
    if (hop != to) found.detour_bytes += bytes;
  }
  const bool joins = mine.hops.through_hops(found, buffer_cost(progress_.packet_cost()));
  if (found.blocks > found.hops && std::exchange(mine.joined, joins) != joins) {
    note_choice(k, joins ? "through hops" : "not through hops", found.blocks);
  }
  const auto before = mine.filling.size();  // blocks for hops may be added, and are not moved
  for (std::size_t i = 0; joins && i < before; ++i) {
    const auto to = mine.filling[i];
    auto& b = mine.blocks[static_cast<std::size_t>(to)];
    const auto hop = next_hops_[static_cast<std::size_t>(to)];
    if (to == rank() || hop == to || !leaves_part_filled(b, scope)) continue;
    move_to_hop(k, b, hop, bytes_for[static_cast<std::size_t>(hop)]);
  }
  for (const auto to : mine.filling) {
    bytes_for[static_cast<std::size_t>(next_hops_[static_cast<std::size_t>(to)])] = 0;
  }
}

void coalescer::note_choice(worker_t k, std::string_view text, std::size_t amount) const {
  world_.trace().note(k, obs::trace_kind::channel_choice, text,
                      {.amount = amount, .number = number_});
}

// `max_bytes`: bytes that wait for that hop.
void coalescer::move_to_hop(worker_t k, block& from, rank_t hop, std::size_t max_bytes) {
  auto& to = workers_[k].blocks[static_cast<std::size_t>(hop)];
  const auto* at = from.items.payload();
  auto left = from.bytes();
  const auto min_bytes = message_bytes_ == 0 ? left : message_bytes_;  // records stay whole
  while (left != 0) {
    auto room = static_cast<std::size_t>(to.end - to.at);
    if (room < min_bytes) {
      auto bytes = std::max(min_bytes, std::min(max_bytes, progress_.best_bytes(hop)));
      if (message_bytes_ != 0) bytes -= bytes % message_bytes_;
      turn_over(k, hop, bytes);
      room = static_cast<std::size_t>(to.end - to.at);
    }
    const auto part = std::min(left, room);
    std::memcpy(to.at, at, part);
    to.at += part;
    at += part;
    left -= part;
  }
  to.records += from.records;
  to.seen = true;  // it leaves now
  progress_.give_back(k, from.take());
  from.growth.left_early();
  world_.counters().add(k, obs::counter::buffers_joined);
}

void coalescer::count_handled(worker_t k, std::uint64_t n) noexcept {
  workers_[k].count.add_handled(n);
  world_.counters().add(k, obs::counter::messages_handled, n);
}

void coalescer::count_kept(worker_t k, std::ptrdiff_t n, std::size_t bytes) noexcept {
  workers_[k].kept += static_cast<std::size_t>(n);
  progress_.charge(k, n * static_cast<std::ptrdiff_t>(bytes));
}

void coalescer::forwarding::end(std::uint64_t n) noexcept {
  auto& c = coalescer_;
  if (destinations_ != 0)
    c.workers_[worker_].hops.forwarded({.destinations = destinations_, .opened = opened_});
  if (n == 0) return;
  c.world_.counters().add(worker_, obs::counter::messages_forwarded, n);
  c.world_.counters().add(worker_, obs::counter::buffers_forwarded);
  c.world_.trace().note(worker_, obs::trace_kind::forward, {},
                        {.count = static_cast<std::uint32_t>(n), .number = c.number_});
}

void coalescer::abandon() noexcept {
  for (worker_t k{0}; k < workers_.workers(); ++k) {
    auto& mine = workers_[k];
    for (auto& b : mine.blocks) {
      if (b.items) progress_.charge(k, -static_cast<std::int64_t>(b.items.capacity()));
      b = block{};
    }
    mine.filling.clear();
    if (mine.kept != 0) forget(k);
    mine.count.reset();
    mine.reported = 0;
    mine.left = 0;
    mine.kept_scans = 0;
  }
}

}  // namespace cairn::am
