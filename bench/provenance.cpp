// SPDX-License-Identifier: Apache-2.0
#include <bench_commit.hpp>
#include <filesystem>
#include <string>

#include <cairn/hw/machine.hpp>

#include <bench/provenance.hpp>

namespace cairn::bench {

nlohmann::json provenance(int argc, char** argv) {
  std::string command = std::filesystem::path(argv[0]).filename();
  for (int i = 1; i < argc; ++i) command.append(" ").append(argv[i]);
  const auto m = hw::read_machine();
  return {{"commit", commit},
          {"command", command},
          {"machine",
           {{"model", m.topology.model},
            {"cores", m.topology.cores},
            {"hardware_threads", m.topology.hardware_threads},
            {"allowed_cores", m.allowed_cores},
            {"l2_bytes", m.topology.l2_bytes},
            {"l3_bytes", m.topology.l3_bytes},
            {"memory_bytes", m.topology.memory_bytes},
            {"huge_pages", m.huge_pages},
            {"htm", m.transactions.works}}}};
}

}  // namespace cairn::bench
