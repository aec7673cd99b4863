// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <fstream>

#include <cairn/hw/machine.hpp>

namespace cairn::hw {
namespace {

// The kernel lists all modes with the current one in brackets: "always [madvise] never".
std::string huge_page_mode() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string word;
  while (file >> word) {
    if (word.size() > 2 && word.front() == '[' && word.back() == ']') {
      return word.substr(1, word.size() - 2);
    }
  }
  return {};
}

}  // namespace

machine read_machine() {
  return {.topology = read_topology(),
          .allowed_cores = allowed_cores(),
          .page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)),
          .huge_pages = huge_page_mode(),
          .transactions = probe_transactions()};
}

}  // namespace cairn::hw
