// SPDX-License-Identifier: Apache-2.0
#include "cli/unused_settings.hpp"

#include <fmt/format.h>

#include <cairn/base/error.hpp>
#include <cairn/core/world.hpp>

namespace cairn::cli {
namespace {

// Why operators are not delivered to the workers that own their elements; empty if they are.
// Collective.
std::string without_owners(const common& c, const algo::algorithm& a, world& w) {
  const auto& mechanism = c.settings.mechanism;
  if (!a.info().to_owners) {
    return fmt::format("operators of {} change several elements or are answered", a.info().name);
  }
  if (mechanism != "auto" && mechanism != "plain") {
    return "it is for mechanism plain, not " + mechanism;
  }
  const auto own_workers = static_cast<std::uint64_t>(w.workers()),
             max_workers = w.max(own_workers);
  if (max_workers == 1) return "a rank has one worker";
  if (w.any(own_workers != max_workers)) return "the ranks have different numbers of workers";
  return {};
}

}  // namespace

unused_reasons unused_settings(const common& c, const algo::algorithm& a,
                               const algo::option_values& given, world& w) {
  const auto& info = a.info();
  unused_reasons found;
  const auto add = [&](std::string_view name, const std::string& why) {
    if (c.given.contains(name)) found.try_emplace(std::string(name), why);
  };
  const auto add_why = [&](std::string_view name, std::string_view why) {
    if (!why.empty()) add(name, fmt::format("{} {}", info.name, why));
  };
  if (!info.filters) add_why("filter", "drops and combines no messages");
  if (a.sends_directly(given)) add_why("routing", "sends all messages directly");
  add_why("frequency", a.without_queues(given));
  add_why("lead", a.without_lead(given));
  if (w.machines().count() == w.size() && w.machines().workers().max_per_rank == 1) {
    add("lead", "each machine has one worker");
  }
  if (const std::string why(a.without_operators(given, w)); !why.empty()) {
    for (const auto* const name : {"mechanism", "grain", "filter", "retry", "costs", "deliver"}) {
      add(name, why);
    }
    return found;
  }
  if (c.settings.deliver != delivery::owner || !c.given.contains("deliver")) return found;
  if (const auto why = without_owners(c, a, w); !why.empty()) {
    add("deliver", why);
  } else if (!info.several_cells) {  // other operators of the run form groups
    for (const auto* const name : {"grain", "retry", "costs"}) {
      add(name, "with --deliver owner operators run one by one, by mechanism plain");
    }
  }
  return found;
}

void refuse_unused(const unused_reasons& settings) {
  if (settings.empty()) return;
  const auto& [name, why] = *settings.begin();
  throw usage_error(fmt::format("--{} has no effect here: {}", name, why));
}

}  // namespace cairn::cli
