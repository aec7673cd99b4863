// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <bench/figures/source_lines.hpp>

namespace cairn::bench {

std::uint64_t source_lines(const std::vector<std::string>& files) {
  std::uint64_t lines = 0;
  for (const auto& name : files) {
    std::ifstream file(std::filesystem::path(CAIRN_SOURCE_DIR) / name);
    if (!file) throw std::runtime_error(name + " cannot be read");
    std::uint64_t all = 0, marked = 0;
    bool has_marks = false, inside = false;
    for (std::string line; std::getline(file, line);) {
      const auto at = line.find_first_not_of(" \t");
      if (at == std::string::npos) continue;
      if (line.compare(at, 2, "//") != 0) {
        ++all;
        marked += inside ? 1 : 0;
        continue;
      }
      const auto comment = line.substr(at);
      if (comment != "// lines: begin" && comment != "// lines: end") continue;
      has_marks = true;
      inside = comment == "// lines: begin";
    }
    lines += has_marks ? marked : all;
  }
  return lines;
}

}  // namespace cairn::bench
