// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <cairn/obs/trace_writer.hpp>

namespace cairn::obs {
namespace {

// How a kind is shown: its name and category, and the names of its members as arguments. An empty
// name leaves a member out; without a name of its text, the text is the name of the event.
struct shown {
  trace_kind kind;
  std::string_view name, category, text, amount, count, number, peer;
};

constexpr std::array<shown, num_trace_kinds> table{{
    {trace_kind::phase, "phase", "phase", "", "", "", "trial", ""},
    {trace_kind::superstep, "superstep", "activity", "direction", "frontier", "", "step", ""},
    {trace_kind::epoch, "epoch", "epoch", "", "", "", "epoch", ""},
    {trace_kind::loop, "loop", "activity", "", "elements", "", "", ""},
    {trace_kind::job, "job", "activity", "", "", "", "", ""},
    {trace_kind::bucket, "bucket", "activity", "", "bucket", "", "", ""},
    {trace_kind::handler, "handle", "activity", "", "bytes", "", "channel", "from"},
    {trace_kind::send, "send", "message", "protocol", "bytes", "messages", "channel", "to"},
    {trace_kind::receive, "receive", "message", "protocol", "bytes", "", "channel", "from"},
    {trace_kind::collective, "collective", "wait", "", "bytes", "", "", ""},
    {trace_kind::wait, "wait", "wait", "", "", "", "", ""},
    {trace_kind::idle, "idle", "wait", "", "", "", "", ""},
    {trace_kind::forward, "forward", "message", "", "", "messages", "channel", ""},
    {trace_kind::wave, "wave", "epoch", "", "sent", "in_flight", "", ""},
    {trace_kind::choice, "choice", "choice", "", "amount", "grain", "trials", ""},
    {trace_kind::channel_choice, "choice", "choice", "", "amount", "", "channel", ""},
}};
static_assert(
    [] {
      for (std::size_t i = 0; i < table.size(); ++i) {
        if (static_cast<std::size_t>(table[i].kind) != i) return false;
      }
      return static_cast<std::size_t>(trace_kind::channel_choice) + 1 == num_trace_kinds;
    }(),
    "the table has one row per kind, in order");

const shown& row_of(trace_kind kind) { return table[static_cast<std::size_t>(kind)]; }

bool is_moment(trace_kind kind) { return kind >= trace_kind::forward; }

// Outer spans first: they begin earlier, or end later, or were recorded later.
std::vector<std::size_t> in_order(std::span<const trace_record> records) {
  std::vector<std::size_t> order(records.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, [&](std::size_t i, std::size_t j) {
    const auto &a = records[i], &b = records[j];
    if (a.begin_ns != b.begin_ns) return a.begin_ns < b.begin_ns;
    if (a.end_ns != b.end_ns) return a.end_ns > b.end_ns;
    return i > j;
  });
  return order;
}

}  // namespace

trace_writer::trace_writer(sink out, rank_t ranks,
                           const std::map<std::uint32_t, std::string>& channels)
    : out_(std::move(out)), ranks_(ranks), channels_(channels) {
  out_("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
}

void trace_writer::put_quoted(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  line_ += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') line_ += '\\';
    if (byte >= 0x20) {
      line_ += c;
    } else {
      line_ += "\\u00";
      line_ += digits[byte >> 4];
      line_ += digits[byte & 15];
    }
  }
  line_ += '"';
}

// Microseconds with three digits after the point.
void trace_writer::put_time(std::int64_t ns) {
  const bool negative = ns < 0;
  const auto magnitude =
      negative ? -static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  auto rest = std::to_string(magnitude % 1000);
  rest.insert(0, 3 - rest.size(), '0');
  if (negative) line_ += '-';
  line_ += std::to_string(magnitude / 1000) + '.' + rest;
}

void trace_writer::begin_event(char type, std::string_view name, std::string_view category) {
  line_ = events_++ == 0 ? "\n{\"ph\":\"" : ",\n{\"ph\":\"";
  line_ += type;
  put("\",\"pid\":" + std::to_string(rank_) + ",\"tid\":" + std::to_string(int{worker_}) +
      ",\"name\":");
  put_quoted(name);
  if (category.empty()) return;
  put(",\"cat\":");
  put_quoted(category);
}

void trace_writer::place(std::int64_t begin_ns) {
  put(",\"ts\":");
  put_time(begin_ns + offset_ns_);
}

void trace_writer::end_event() {
  line_ += '}';
  out_(line_);
}

void trace_writer::write_name(std::string_view kind, rank_t rank, int thread,
                              const std::string& name) {
  rank_ = rank;
  worker_ = worker_t{thread};
  begin_event('M', kind, "");
  put(",\"args\":{\"name\":");
  put_quoted(name);
  line_ += '}';
  end_event();
}

void trace_writer::write_arguments(const trace_record& r) {
  const auto& row = row_of(r.kind);
  bool first = true;
  const auto argument = [&](std::string_view name) {
    line_ += std::exchange(first, false) ? ",\"args\":{" : ",";
    put_quoted(name);
    line_ += ':';
  };
  if (!row.text.empty() && r.text[0] != 0) argument(row.text), put_quoted(r.text_view());
  const bool zeros = r.kind != trace_kind::choice;
  if (!row.amount.empty() && (zeros || r.amount != 0)) {
    argument(row.amount), put(std::to_string(r.amount));
  }
  if (!row.count.empty() && (zeros || r.count != 0)) {
    argument(row.count), put(std::to_string(r.count));
  }
  if (!row.peer.empty() && r.peer >= 0) argument(row.peer), put(std::to_string(r.peer));
  if (!row.number.empty() && r.number != trace_record::no_number) {
    argument(row.number), put(std::to_string(r.number));
    const auto named = row.number == "channel" ? channels_.find(r.number) : channels_.end();
    if (named != channels_.end()) argument("channel_name"), put_quoted(named->second);
  }
  if (!first) line_ += '}';
}

// Sequence numbers repeat after 2^16 buffers, when the earlier ones have long been handled.
std::uint64_t trace_writer::arrow_id(const trace_record& r, rank_t from, rank_t to) const {
  const auto pair = static_cast<std::uint64_t>(from) * static_cast<std::uint64_t>(ranks_) +
                    static_cast<std::uint64_t>(to);
  return pair << 16 | r.sequence;
}

void trace_writer::write_arrow(char type, const trace_record& r, std::uint64_t id) {
  begin_event(type, "buffer", "arrow");
  place(static_cast<std::int64_t>(r.begin_ns));
  put(",\"id\":" + std::to_string(id));
  if (type == 'f') put(",\"bp\":\"e\"");
  end_event();
}

void trace_writer::write_record(const trace_record& r) {
  const auto& row = row_of(r.kind);
  auto name = std::string(row.text.empty() && r.text[0] != 0 ? r.text_view() : row.name);
  if (row.number == "channel") {
    const auto named = channels_.find(r.number);
    if (named != channels_.end()) name += " " + named->second;
  }
  begin_event(is_moment(r.kind) ? 'i' : 'X', name, row.category);
  place(static_cast<std::int64_t>(r.begin_ns));
  if (is_moment(r.kind)) {
    put(",\"s\":\"t\"");
  } else {
    put(",\"dur\":");
    put_time(static_cast<std::int64_t>(r.end_ns - r.begin_ns));
  }
  write_arguments(r);
  end_event();
  if (r.peer < 0 || r.peer == rank_) return;
  if (r.kind == trace_kind::send) write_arrow('s', r, arrow_id(r, rank_, r.peer));
  if (r.kind != trace_kind::receive && r.kind != trace_kind::handler) return;
  const auto id = arrow_id(r, r.peer, rank_);
  if (sent_.contains(id)) write_arrow(r.kind == trace_kind::receive ? 't' : 'f', r, id);
}

void trace_writer::note_sends(rank_t rank, std::span<const trace_record> records) {
  for (const auto& r : records) {
    if (r.kind == trace_kind::send && r.peer >= 0) sent_.insert(arrow_id(r, rank, r.peer));
  }
}

void trace_writer::worker(rank_t rank, worker_t k, std::span<const trace_record> records,
                          std::int64_t offset_ns, std::string_view name) {
  if (k == main_worker) write_name("process_name", rank, 0, "rank " + std::to_string(rank));
  write_name("thread_name", rank, k,
             name.empty() ? "worker " + std::to_string(int{k}) : std::string(name));
  offset_ns_ = offset_ns;
  for (const auto i : in_order(records)) write_record(records[i]);
}

void trace_writer::finish(const std::vector<std::pair<std::string, std::string>>& facts) {
  line_ = "\n],\"otherData\":{";
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (i > 0) line_ += ',';
    put_quoted(facts[i].first);
    line_ += ':';
    put_quoted(facts[i].second);
  }
  line_ += "}}\n";
  out_(line_);
}

}  // namespace cairn::obs
