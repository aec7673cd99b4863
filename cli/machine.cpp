// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <fmt/format.h>

#include <cairn/base/format.hpp>
#include <cairn/core/launch.hpp>
#include <cairn/net/mpi.hpp>

#include "cli/report.hpp"

namespace cairn::cli {
namespace {

std::vector<std::string> plugins_found(const common& c) {
  std::vector<std::string> found;
  auto folders = net::plugin_folders();
  if (!c.settings.plugins.empty()) folders = {c.settings.plugins};
  for (const auto& [kind, file] : {std::pair{net::mpi_kind::mpich, "libcairn_mpi_mpich.so"},
                                   std::pair{net::mpi_kind::openmpi, "libcairn_mpi_openmpi.so"}}) {
    for (const auto& folder : folders) {
      std::error_code unreadable;  // as if there were none
      if (!std::filesystem::exists(std::filesystem::path(folder) / file, unreadable)) continue;
      found.emplace_back(net::name(kind));
      break;
    }
  }
  return found;
}

int print_machine(const common& c) {
  if (!is_first_process()) return 0;
  const auto m = hw::read_machine();
  const auto plugins = plugins_found(c);
  if (c.json) {
    auto object = json{{"command", "machine"}, {"machine", to_json(m)}};
    object["machine"]["mpi"] = plugins;
    object["version"] = CAIRN_VERSION;
    put(to_text(object) + "\n");
    return 0;
  }
  const auto& t = m.topology;
  const auto line = [](const char* label, const std::string& value) {
    put(fmt::format("  {:<14} {}\n", label, value));
  };
  put("cairn machine\n");
  line("processor", t.model);
  line("cores", fmt::format("{} ({} usable here; sockets: {}, NUMA nodes: {})", t.cores,
                            m.allowed_cores, t.sockets, t.numa_nodes));
  line("caches", fmt::format("L1 {}, L2 {}, L3 {}", format_bytes(t.l1_bytes),
                             format_bytes(t.l2_bytes), format_bytes(t.l3_bytes)));
  line("memory", fmt::format("{}, huge pages: {}", format_bytes(t.memory_bytes),
                             m.huge_pages.empty() ? "unknown" : m.huge_pages));
  line("transactions", (m.transactions.works ? "yes: " : "no: ") + m.transactions.reason);
  line("MPI plugins", plugins.empty() ? "none" : fmt::format("{}", fmt::join(plugins, ", ")));
  return 0;
}

}  // namespace

void add_machine(CLI::App& app, common& c, action& chosen) {
  auto& command = *app.add_subcommand("machine", "Describe this machine");
  add_common(command, c, {.settings = {"plugins"}, .stats = false, .quiet = false});
  command.callback([&c, &chosen] { chosen = [&c] { return print_machine(c); }; });
}

}  // namespace cairn::cli
