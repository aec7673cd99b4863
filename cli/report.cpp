// SPDX-License-Identifier: Apache-2.0
#include "cli/report.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

#include <fmt/format.h>

#include <cairn/core/progress.hpp>
#include <cairn/core/simulation.hpp>
#include <cairn/obs/counters.hpp>

namespace cairn::cli {

void put(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

bool is_series(const common& c) {
  if (!c.json || c.settings.sim.empty()) return false;
  return parse_simulation(c.settings.sim, c.settings.sim_costs).is_series;
}

void end_series(const common& c) {
  if (*c.printed != 0 && is_series(c)) put("]\n");
}

namespace {

// The limits of the sizes of rank 0's blocks, for each kind of connection to other ranks.
json packets_of(world& w) {
  const auto& messages = w.messages();
  const auto requested = w.options().coalesce_bytes != 0;
  std::map<json, int> ranks_by_kind;
  for (rank_t to = 0; to < w.size(); ++to) {
    if (to == w.rank()) continue;
    const auto& steps = messages.steps_to(to);
    ++ranks_by_kind[{
        {"block_bytes", requested ? messages.coalesce_bytes() : messages.best_bytes(to)},
        {"slot_bytes", steps.in_slots().bytes},
        {"steps", steps.largest()}}];
  }
  json kinds = json::array();
  for (const auto& [kind, ranks] : ranks_by_kind) {
    kinds.push_back(kind);
    kinds.back()["ranks"] = ranks;
  }
  return kinds;
}

}  // namespace

report::report(const std::string& command, const common& c, world& w)
    : common_(c), command_(command) {
  object_["command"] = command;
  object_["graph"] = nullptr;
  auto& settings = object_["settings"] = json::object();
  for (const auto& row : setting::all())
    settings[std::string(row.name)] = c.settings.text(row.name);
  object_["machine"] = w.rank() == 0 ? to_json(hw::read_machine()) : json();
  object_["ranks"] = w.size();
  object_["threads"] = w.workers();
  if (w.size() > 1 && w.rank() == 0) object_["packets"] = packets_of(w);
  object_["seconds"] = {{"load", nullptr}, {"build", nullptr}, {"run", json::array()}};
  object_["teps"] = nullptr;
  object_["result"] = json::object();
  object_["counters"] = json::object();
  object_["verified"] = nullptr;
  object_["version"] = CAIRN_VERSION;
}

void report::line(const std::string& label, const std::string& value) {
  lines_.emplace_back(label, value);
}

void report::count(world& w) {
  std::vector<std::uint64_t> mine;
  for (const auto& row : obs::counter_table) mine.push_back(w.counters().total(row.id));
  const auto sent = w.messages().traffic();
  const auto all = w.all_gather_values<std::uint64_t>(mine);
  auto& counters = object_["counters"];
  for (std::size_t i = 0; i < mine.size(); ++i) {
    std::uint64_t sum = 0;
    for (std::size_t at = i; at < all.size(); at += mine.size()) sum += all[at];
    counters[std::string(obs::counter_table[i].name)] = sum;
  }
  add_traffic(w, sent);
}

// Rows are senders. With many ranks each rank has one sum.
void report::add_traffic(world& w, const std::vector<obs::sent_amount>& sent) {
  if (w.size() == 1) return;
  const auto all = w.all_gather_values<obs::sent_amount>(sent);
  const bool by_pair = w.size() <= obs::traffic_row::max_ranks;
  const auto numbers = [&](std::uint64_t obs::sent_amount::*member) {
    json rows = json::array();
    for (std::size_t at = 0; at < all.size(); at += sent.size()) {
      if (!by_pair) {
        rows.push_back(all[at].*member);
        continue;
      }
      auto& row = rows.emplace_back(json::array());
      for (std::size_t to = 0; to < sent.size(); ++to) row.push_back(all[at + to].*member);
    }
    return rows;
  };
  object_["traffic"] = {
      {"rows", by_pair ? "by sender and receiver" : "by sender alone: over 64 ranks"},
      {"messages", numbers(&obs::sent_amount::messages)},
      {"bytes", numbers(&obs::sent_amount::bytes)},
      {"buffers", numbers(&obs::sent_amount::buffers)}};
}

void report::print(const world& w) const {
  if (w.rank() != 0) return;
  if (common_.json) {
    if (is_series(common_)) put(*common_.printed == 0 ? "[" : ",\n ");
    put(to_text(object_) + (is_series(common_) ? "" : "\n"));
    ++*common_.printed;
    return;
  }
  if (common_.quiet) return;
  put("cairn " + command_ + "\n");
  std::size_t width = 12;
  for (const auto& line : lines_) width = std::max(width, line.first.size());
  for (const auto& [label, value] : lines_) {
    put(fmt::format("  {:<{}} {}\n", label, width, value));
  }
  if (!common_.stats) return;
  put("  counted\n");
  for (const auto& row : obs::counter_table) {
    const auto n = object_["counters"][std::string(row.name)].get<std::uint64_t>();
    if (n == 0) continue;
    put(fmt::format("    {:<20} {:>16}  {}\n", row.name, format_count(n), row.meaning));
  }
}

void phase_counts::end(phase p) {
  const auto now = w_.counters().totals();
  has_run_ = has_run_ || p == run;
  auto& to = counted_[p == load_and_verify ? (has_run_ ? verify : load) : p];
  for (std::size_t i = 0; i < now.size(); ++i) to[i] += now[i] - last_[i];
  last_ = now;
  const auto sent = w_.messages().traffic();
  sent_.resize(sent.size());
  sent_before_.resize(sent.size());
  for (std::size_t i = 0; p == run && i < sent.size(); ++i) {
    auto grown = sent[i];
    sent_[i] += grown -= sent_before_[i];
  }
  sent_before_ = sent;
}

void phase_counts::report_to(report& r) {
  const std::array<const char*, 3> names{"counters_load", "counters", "counters_verify"};
  std::array<totals, 3> sums{};
  for (const auto& of_rank : w_.all_gather(counted_)) {
    for (std::size_t p = 0; p < 3; ++p) {
      for (std::size_t i = 0; i < sums[p].size(); ++i) sums[p][i] += of_rank[p][i];
    }
  }
  for (std::size_t p = 0; p < 3; ++p) {
    for (const auto& row : obs::counter_table) {
      r[names[p]][std::string(row.name)] = sums[p][static_cast<std::size_t>(row.id)];
    }
  }
  r.add_traffic(w_, sent_);
}

json to_json(const hw::machine& m) {
  return {{"model", m.topology.model},
          {"sockets", m.topology.sockets},
          {"cores", m.topology.cores},
          {"hardware_threads", m.topology.hardware_threads},
          {"allowed_cores", m.allowed_cores},
          {"numa_nodes", m.topology.numa_nodes},
          {"l1_bytes", m.topology.l1_bytes},
          {"l2_bytes", m.topology.l2_bytes},
          {"l3_bytes", m.topology.l3_bytes},
          {"memory_bytes", m.topology.memory_bytes},
          {"huge_pages", m.huge_pages},
          {"hardware_transactions", m.transactions.works},
          {"hardware_transactions_reason", m.transactions.reason}};
}

std::string to_text(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string format_seconds(double seconds) {
  constexpr double most = 999.4;  // which "{:.3g}" prints without an exponent
  if (seconds > most) return fmt::format("{:.0f} s", seconds);
  if (seconds > most * 1e-3) return fmt::format("{:.3g} s", seconds);
  if (seconds > most * 1e-6) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} us", seconds * 1e6);
}

std::string format_rate(double per_second) {
  if (per_second < 1e3) return fmt::format("{:.4g}", per_second);
  constexpr double most = 9999.4;  // which "{:.4g}" prints without an exponent
  const auto millions = per_second * 1e-6;
  if (millions > most) return fmt::format("{:.0f} million", millions);
  return fmt::format("{:.4g} million", millions);
}

std::string format_count(std::uint64_t n) {
  auto digits = std::to_string(n);
  for (auto at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const auto middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace cairn::cli
