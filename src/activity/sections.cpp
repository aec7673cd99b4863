// SPDX-License-Identifier: Apache-2.0
#include <cairn/activity/sections.hpp>

namespace cairn::activity {

std::optional<emulation_options> emulation_for(const world& w, const options& opt) {
  if (opt.emulate) return opt.emulate;
  if (!w.options().emulate_transactions) return std::nullopt;
  return emulation_options{.seed = w.options().emulation_seed};
}

std::unique_ptr<tm::emulation> make_emulation(task::pool& pool, const emulation_options& opt) {
  auto shared = std::make_unique<tm::emulation>();
  shared->capacity = opt.capacity;
  shared->relax = relax_in{&pool};
  return shared;
}

emulated_transactions emulated_worker(tm::emulation& shared, const emulation_options& opt,
                                      std::uint64_t worker_seed) {
  return {tm::emulated_hardware(shared),
          tm::abort_injection(mix64(opt.seed) ^ worker_seed, opt.rates)};
}

}  // namespace cairn::activity
