// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <cairn/activity/sections.hpp>
#include <cairn/activity/single_cell.hpp>
#include <cairn/base/error.hpp>

namespace cairn::activity {

mechanism resolve_single_cell(world& w, const options& asked) {
  const bool one_writer = w.workers() == 1;
  const auto has_htm = [&] { return emulation_for(w, asked) || w.transactions().works; };
  switch (asked.how) {
    case mechanism::automatic:
      if (one_writer) return mechanism::plain;
      return has_htm() ? mechanism::htm : mechanism::atomics;
    case mechanism::plain:
      if (!one_writer) {
        throw usage_error("mechanism plain needs one writer per element: use --threads 1");
      }
      return mechanism::plain;
    case mechanism::htm:
      return has_htm() ? mechanism::htm : mechanism::atomics;
    case mechanism::stm:
      throw usage_error(
          "mechanism stm is for operators that change several elements: use atomics or htm");
    default:
      return asked.how;
  }
}

std::string why_single_cell(world& w, const options& asked) {
  if (asked.how == mechanism::automatic && w.workers() == 1) return "the rank has one worker";
  if (asked.how != mechanism::automatic && asked.how != mechanism::htm) return "it was asked for";
  if (emulation_for(w, asked)) return "hardware transactions are emulated";
  if (!w.transactions().works) return "no hardware transactions: " + w.transactions().reason;
  if (asked.how == mechanism::htm) return "it was asked for";
  if (!asked.start.fitted) return "hardware transactions work here";
  return std::string("hardware transactions work here, and by the fitted costs ") +
         (asked.start.htm_first ? "they pay" : "atomics cost less");
}

std::vector<candidate> ways_of_single_cell(const options& asked, mechanism resolved) {
  const bool grain_is_free = asked.grain == 0, how_is_free = asked.how == mechanism::automatic;
  if (resolved != mechanism::htm || !(grain_is_free || how_is_free)) return {};
  const auto grain = grain_is_free ? asked.start.htm_grain : std::min(asked.grain, max_grain);
  std::vector<candidate> ways{{{mechanism::htm, grain}, grain_is_free}};
  if (how_is_free) ways.push_back({{mechanism::atomics, 1}});
  if (how_is_free && !asked.start.htm_first) std::swap(ways[0], ways[1]);
  return ways;
}

}  // namespace cairn::activity
