// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <cairn/activity/domain.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/random.hpp>

namespace cairn::activity {
namespace {

constexpr std::uint64_t no_epoch = ~std::uint64_t{0} >> 8;

constexpr std::uint64_t packed(std::uint64_t epoch, mechanism chosen) noexcept {
  return epoch << 8 | static_cast<std::uint64_t>(chosen);
}

// Probes hardware transactions only if the choice depends on them.
environment environment_of(world& w, const options& requested, bool emulates, bool to_owners) {
  environment here{.one_worker = w.workers() == 1,
                   .others_rest = w.workers() < w.pool().workers(),
                   .one_writer = to_owners};
  const bool matters =
      requested.mechanism == mechanism::htm ||
      (requested.mechanism == mechanism::automatic && !here.one_worker && !here.one_writer);
  if (!matters) return here;
  here.emulated = emulates;
  if (emulates) return here;
  const auto& probed = w.transactions();
  here.hardware = probed.works;
  here.why_no_hardware = probed.reason;
  return here;
}

}  // namespace

options with_settings(const world& w, options given) {
  const auto& requested = w.options();
  if (requested.filter_entries == 0) given.sent_filter = false;
  if (given.auxiliary) return given;
  if (given.mechanism == mechanism::automatic)
    given.mechanism = parse_mechanism(requested.mechanism);
  if (given.grain == 0) given.grain = requested.grain;
  if (given.retry == options{}.retry) given.retry = tm::parse_retry(requested.retry);
  return given;
}

domain::domain(world& w, const options& opt, cells changed, bool to_owners)
    : world_(w),
      options_(with_settings(w, opt)),
      emulate_(emulation_for(w, options_)),
      plan_(changed, options_, environment_of(w, options_, emulate_.has_value(), to_owners),
            w.workers()),
      now_(packed(no_epoch, plan_.first().mechanism)),
      parts_(w.workers()) {
  if (!may_change_mechanism()) prepare(chosen_mechanism());
  note_choice(w.trace(), main_worker, "starts with", plan_.start_of(chosen_mechanism()));
  // If the domain may run emulated transactions, its atomics wait for them.
  const bool by_sections = chosen_mechanism() == mechanism::htm || plan_.tunes_workers();
  if (emulate_ && by_sections) emulation_ = make_emulation(w.pool(), *emulate_);
}

void domain::prepare(mechanism chosen) {
  if (chosen == mechanism::locks && !locks_) locks_ = std::make_unique<tm::lock_table>();
  if (chosen == mechanism::stm && !versions_) versions_ = std::make_unique<tm::version_table<>>();
}

// The first worker decides for all. No group of the last epoch runs any more, so no two groups run
// concurrently by different mechanisms.
mechanism domain::enter(std::uint64_t epoch, std::size_t op, worker_t k) {
  const tm::fallback_lock::guard alone(entering_, relax());
  const auto now = now_.load(std::memory_order_acquire);
  if (now >> 8 == epoch) return static_cast<mechanism>(now & 0xff);
  const auto next = plan_.next_epoch(op, static_cast<mechanism>(now & 0xff), counted());
  prepare(next);
  if (next != static_cast<mechanism>(now & 0xff)) [[unlikely]]
    note_choice(world_.trace(), k, "epoch by", plan_.start_of(next));
  now_.store(packed(epoch, next), std::memory_order_release);
  return next;
}

std::uint64_t domain::seed_of(worker_t k) const noexcept {
  return random64(static_cast<std::uint64_t>(world_.rank()))
      .stream(static_cast<std::uint64_t>(k))();
}

rtm_sections& domain::rtm(worker_t k) {
  auto& mine = of_worker(k).rtm;
  if (!mine) {
    mine = std::make_unique<rtm_sections>(tm::rtm_hardware{}, options_.retry, seed_of(k),
                                          world_.counters(), k, relax());
  }
  return *mine;
}

emulated_sections& domain::emulated(worker_t k) {
  auto& mine = of_worker(k).emulated;
  if (!mine) {
    const auto seed = seed_of(k);
    mine = std::make_unique<emulated_sections>(emulated_worker(*emulation_, *emulate_, seed),
                                               options_.retry, seed, world_.counters(), k, relax());
  }
  return *mine;
}

software_sections& domain::software(worker_t k) {
  CAIRN_ASSERT(versions_ != nullptr);
  auto& mine = of_worker(k).software;
  if (!mine) {
    const auto owner = static_cast<std::uint32_t>(k);
    mine = std::make_unique<software_sections>(
        software_sections::hardware_type(*versions_, owner, relax()), options_.retry, owner,
        world_.counters(), k, relax());
  }
  return *mine;
}

tm::lock_set& domain::lock_set(worker_t k) {
  CAIRN_ASSERT(locks_ != nullptr);
  auto& mine = of_worker(k).locks;
  if (!mine) mine = std::make_unique<tm::lock_set>(*locks_);
  return *mine;
}

activity_counts domain::counted() const noexcept {
  activity_counts all;
  const auto of = [](const std::atomic<std::uint64_t>& n) {
    return n.load(std::memory_order_relaxed);
  };
  for (worker_t k{0}; k < parts_.workers(); ++k) {
    const auto& p = parts_[k];
    all.committed += of(p.committed);
    all.fallbacks += of(p.fallbacks);
    all.by_locks += of(p.by_locks);
    all.stripes += of(p.stripes);
  }
  return all;
}

}  // namespace cairn::activity
