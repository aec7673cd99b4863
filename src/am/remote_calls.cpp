// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <mutex>
#include <optional>
#include <string>

#include <cairn/am/remote_calls.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/random.hpp>
#include <cairn/core/progress.hpp>

namespace cairn::am {
namespace {

// Grows only before main().
constinit const remote_function* first_function = nullptr;

std::uint64_t hash_of(std::string_view text) noexcept {
  std::uint64_t h = 0;
  for (const unsigned char c : text) h = mix64(h ^ c);
  return h;
}

}  // namespace

remote_function::remote_function(std::string_view its_name, start_function its_start) noexcept
    : name(its_name),
      id(static_cast<std::uint32_t>(hash_of(its_name))),
      start(its_start),
      next(first_function) {
  first_function = this;
}

remote_calls::remote_calls(world& w)
    : task_service(w),
      world_(w),
      workers_(w.handling_threads()),
      answers_(w, [this](worker_t k, record_batch batch) { on_answers(k, batch); },
               {.kind = channel_kind::standing, .name = "answers of calls", .sends = false}),
      questions_(
          w, [this](worker_t k, rank_t from, record_batch batch) { on_questions(k, from, batch); },
          {.kind = channel_kind::standing, .name = "calls"}) {
  collect_functions();
}

remote_calls::~remote_calls() = default;

remote_calls& remote_calls::of(world& w) {
  auto* const service = w.task_service();
  CAIRN_EXPECTS(service != nullptr, "remote calls need a running world.run(task)");
  return static_cast<remote_calls&>(*service);
}

void remote_calls::collect_functions() {
  for (const auto* f = first_function; f != nullptr; f = f->next) functions_.push_back(f);
  std::ranges::sort(functions_, {}, [](const remote_function* f) { return f->id; });
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    all = mix64(all ^ hash_of(functions_[i]->name));
    CAIRN_EXPECTS(i == 0 || functions_[i]->id != functions_[i - 1]->id,
                  "functions that ranks call have different names, but two are named " +
                      std::string(functions_[i]->name));
  }
  for (const auto other : world_.all_gather(all)) {
    CAIRN_EXPECTS(other == all, "the ranks run different programs");
  }
}

const remote_function& remote_calls::function(std::uint32_t id) const {
  const auto at =
      std::ranges::lower_bound(functions_, id, {}, [](const remote_function* f) { return f->id; });
  CAIRN_EXPECTS(at != functions_.end() && (*at)->id == id, "a call of an unknown function");
  return **at;
}

ticket remote_calls::remember(worker_t k, task::suspended t, awaited_answer& answer) {
  auto& mine = workers_[k];
  const std::lock_guard held(mine.guard);
  return {k, slot(mine.calls.put({t, &answer}, generation()))};
}

void remote_calls::on_questions(worker_t k, rank_t from, record_batch batch) {
  for (auto record : batch) {
    const auto header = unpack<call_header>(record);
    if (header.generation < generation()) continue;
    function(header.function).start(*this, k, {from, header.generation, header.by}, record);
  }
}

void remote_calls::on_answers(worker_t k, record_batch batch) {
  for (auto record : batch) {
    const auto header = unpack<ticketed_answer>(record);
    auto& asker = workers_[header.to.worker()];
    std::optional<pending_call> call;
    {
      const std::lock_guard held(asker.guard);
      call = asker.calls.take(header.to.number(), header.generation, generation());
    }
    if (!call) continue;
    call->answer->receive(header.kind, record);
    call->by.resume_later(k);
  }
}

}  // namespace cairn::am
