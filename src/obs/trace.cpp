// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include <cairn/obs/trace.hpp>

namespace cairn::obs {
namespace {

trace_record empty_record(trace_kind kind, std::uint64_t begin_ns, std::uint64_t end_ns) {
  return {.begin_ns = begin_ns,
          .end_ns = end_ns,
          .amount = 0,
          .count = 0,
          .number = trace_record::no_number,
          .peer = -1,
          .sequence = 0,
          .kind = kind,
          .text = {}};
}

// Without the namespaces of Cairn and the name that all message types share.
std::string short_name(std::string_view type) {
  constexpr std::array<std::string_view, 10> left_out{
      "cairn::", "algo::", "activity::", "am::",          "traverse::",
      "pgas::",  "dtx::",  "detail::",   "{anonymous}::", "::message"};
  std::string name;
  bool in_word = false;
  while (!type.empty()) {
    const auto found = std::ranges::find_if(left_out, [&](std::string_view x) {
      return type.starts_with(x) && (!in_word || x.starts_with(':'));
    });
    if (found != left_out.end()) {
      type.remove_prefix(found->size());
      continue;
    }
    const char c = type.front();
    in_word =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
    name += c;
    type.remove_prefix(1);
  }
  return name;
}

}  // namespace

void trace_record::set_text(std::string_view from) noexcept {
  text.fill(0);
  std::copy_n(from.data(), std::min(from.size(), max_text), text.data());
}

trace::trace(int workers, std::size_t capacity, time_source now_ns)
    : capacity_(capacity),
      now_ns_(std::move(now_ns)),
      workers_(capacity == 0 ? 0 : static_cast<std::size_t>(workers)) {
  for (auto& l : workers_) l.records = std::make_unique_for_overwrite<trace_record[]>(capacity);
}

std::size_t trace::share(rank_t ranks, int workers) noexcept {
  constexpr std::size_t all = 1 << 20, least = 1 << 10, most = 1 << 17;
  const auto sharers = static_cast<std::size_t>(ranks) * static_cast<std::size_t>(workers);
  return std::clamp(all / sharers, least, most);
}

void trace::add(worker_t k, const trace_record& r) noexcept {
  auto& mine = workers_[static_cast<std::size_t>(k)];
  const auto at = mine.size.load(std::memory_order_relaxed);
  if (at == capacity_) {
    mine.dropped.store(mine.dropped.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return;
  }
  mine.records[at] = r;
  mine.size.store(at + 1, std::memory_order_release);
}

void trace::note_now(worker_t k, trace_kind kind, std::string_view text, const trace_numbers& n) {
  const auto now = now_ns();
  auto r = empty_record(kind, now, now);
  r.amount = n.amount;
  r.count = n.count;
  r.number = n.number;
  r.set_text(text);
  add(k, r);
}

void trace::add_span(worker_t k, trace_kind kind, const time_span& when,
                     std::uint64_t amount) noexcept {
  if (when.begin_ns == 0) return;
  auto r = empty_record(kind, when.begin_ns, when.end_ns);
  r.amount = amount;
  add(k, r);
}

void trace::name_channel(std::uint32_t number, std::string_view name) {
  constexpr std::size_t most = 4096;
  if (wanted() && channels_.size() < most) channels_.push_back({number, short_name(name)});
}

std::span<const trace_record> trace::of_worker(worker_t k) const noexcept {
  const auto& of = workers_[static_cast<std::size_t>(k)];
  return {of.records.get(), of.size.load(std::memory_order_acquire)};
}

std::uint64_t trace::dropped(worker_t k) const noexcept {
  return workers_[static_cast<std::size_t>(k)].dropped.load(std::memory_order_relaxed);
}

void trace_span::begin(trace_kind kind) { record_ = empty_record(kind, trace_->now_ns(), 0); }

void trace_span::finish() {
  record_.end_ns = trace_->now_ns();
  std::exchange(trace_, nullptr)->add(worker_, record_);
}

void idle_span::note_look(trace* t) {
  if (trace_ == nullptr) {
    trace_ = t;
    begin_ns_ = t->now_ns();
  }
  looked_ns_ = trace_->now_ns();
}

void idle_span::finish(std::uint64_t end_ns) {
  std::exchange(trace_, nullptr)->add(worker_, empty_record(trace_kind::idle, begin_ns_, end_ns));
}

}  // namespace cairn::obs
