// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>
#include <vector>

#include <fmt/format.h>

#include <cairn/am/channel.hpp>
#include <cairn/base/format.hpp>
#include <cairn/graph/memory.hpp>
#include <cairn/pgas/vertex_map.hpp>
#include <cairn/traverse/push.hpp>

#include "cli/input.hpp"

namespace cairn::cli {
namespace {

struct degrees {
  std::uint64_t max = 0, sinks = 0, self_loops = 0, arcs = 0;
};

template <class Id>
degrees degrees_of(world& w, const graph::csr<Id>& rows) {
  degrees mine;
  for (auto v = rows.first(); v < rows.last(); ++v) {
    const auto out = rows.neighbors(v);
    mine.max = std::max<std::uint64_t>(mine.max, out.size());
    mine.sinks += out.empty() ? 1 : 0;
    const auto [low, high] = std::ranges::equal_range(out, static_cast<Id>(v));
    mine.self_loops += static_cast<std::uint64_t>(high - low);
    mine.arcs += out.size();
  }
  return {w.max(mine.max), w.sum(mine.sinks), w.sum(mine.self_loops), w.sum(mine.arcs)};
}

// Vertices of this rank without edges.
template <class Id>
std::uint64_t count_isolated(world& w, const graph::dist_csr<Id>& g) {
  pgas::vertex_map<std::uint8_t> has_in(w, g.partition(), 0);
  am::channel<Id> targets(w, [&](worker_t, std::span<const Id> batch) {
    for (const auto v : batch) has_in.store(v, 1);
  });
  traverse::push_own(w, targets, g.out(), [&](Id u, auto& send) {
    const auto row = g.out().neighbors(u);
    for (const Id v : row) send(has_in.owner(v), v);
    return row.size();
  });
  std::uint64_t isolated = 0;
  for (auto v = g.out().first(); v < g.out().last(); ++v) {
    isolated += g.out().degree(v) == 0 && has_in.load(v) == 0 ? 1 : 0;
  }
  return isolated;
}

template <class Id>
int print_info(world& w, const graph::dist_csr<Id>& g, report& r) {
  const auto d = degrees_of(w, g.out());
  const auto isolated = g.directed() ? w.sum(count_isolated(w, g)) : d.sinks;
  const auto n = g.num_vertices();
  const auto mean = n == 0 ? 0.0 : static_cast<double>(d.arcs) / static_cast<double>(n);
  const auto max_entries = w.max(g.out().num_edges());
  const auto bytes = (n + 1) * sizeof(std::uint64_t) + d.arcs * sizeof(Id);
  r["result"] = {{"max_degree", d.max},
                 {"mean_degree", mean},
                 {"sinks", d.sinks},
                 {"isolated", isolated},
                 {"self_loops", d.self_loops},
                 {"bytes", bytes},
                 {"max_entries_per_rank", max_entries},
                 {"attached", g.attached() ? json(g.attached()->name) : json()}};
  r.line("degrees", fmt::format("{:.2f} on average, {} at most", mean, format_count(d.max)));
  r.line("without edges", format_count(isolated));
  if (g.directed()) r.line("without out-edges", format_count(d.sinks));
  r.line("self-loops", format_count(d.self_loops));
  r.line("weights", !g.weighted()                                  ? "none"
                    : g.out().template weighted_by<std::int32_t>() ? "integers"
                                                                   : "real numbers");
  r.line("memory", fmt::format("{} as rows of {}-bit ids", format_bytes(bytes), sizeof(Id) * 8));
  if (g.attached()) {
    r.line("attached",
           fmt::format("{}, {}", g.attached()->name, format_bytes(g.attached()->bytes.size())));
  }
  if (w.size() > 1) {
    r.line("ranks", fmt::format("{}; at most {} of {} arcs on one", w.size(),
                                format_count(max_entries), format_count(d.arcs)));
  }
  r.count(w);
  r.print(w);
  return 0;
}

}  // namespace

void add_info(CLI::App& app, common& c, action& chosen) {
  auto& command = *app.add_subcommand("info", "Describe a graph: size, degrees, weights");
  const auto in = std::make_shared<input_options>();
  add_input(command, *in);
  using enum setting_group;
  auto settings = settings_of({workers, processes, simulation, messages});
  std::erase(settings, "routing");  // all messages go directly to their destination
  add_common(command, c, {.settings = settings});
  command.callback([&c, in, &chosen] {
    chosen = [&c, in] {
      expect_seed(*in, false);
      graph_keeper graphs(*in, {}, !c.quiet);
      return run_ranks(c, [&](world& w) {
        if (!in->partition.empty()) expect_several_ranks(w, "partition");
        if (!in->order.empty()) expect_several_ranks(w, "order");
        report r("info", c, w);
        const auto& graph = graphs.get(w, r);
        say_load(r);
        return std::visit([&](const auto& g) { return print_info(w, g, r); }, graph);
      });
    };
  });
}

}  // namespace cairn::cli
