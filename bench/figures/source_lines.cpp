// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <stdexcept>

#include <bench/figures/source_lines.hpp>

namespace cairn::bench {

std::uint64_t source_lines(const std::vector<std::string>& files) {
  std::uint64_t lines = 0;
  for (const auto& name : files) {
    std::ifstream file(std::string(CAIRN_SOURCE_DIR "/") + name);
    if (!file) throw std::runtime_error(name + " cannot be read");
    for (std::string line; std::getline(file, line);) {
      const auto at = line.find_first_not_of(" \t");
      if (at != std::string::npos && line.compare(at, 2, "//") != 0) ++lines;
    }
  }
  return lines;
}

}  // namespace cairn::bench
