// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include <cairn/base/contract.hpp>
#include <cairn/dtx/acquisition.hpp>

namespace cairn::dtx {

namespace {
constexpr std::size_t max_searched = 32;  // elements in which a search is fast
}

void acquisition::reset() noexcept {
  elements_.clear();
  positions_.clear();
  states_.clear();
  due_ = num_held_ = 0;
  num_restarts_ = 0;
  refused_ = backing_off_ = false;
}

void acquisition::add_element(const element& e) {
  CAIRN_ASSERT(due_ == 0);
  if (position_of(e)) return;
  elements_.push_back(e);
  states_.push_back(state::named);
  if (elements_.size() <= max_searched) return;
  for (auto i = positions_.size(); i < elements_.size(); ++i) positions_.emplace(elements_[i], i);
}

std::optional<std::size_t> acquisition::position_of(const element& e) const {
  if (!positions_.empty()) {
    const auto found = positions_.find(e);
    return found == positions_.end() ? std::nullopt : std::optional(found->second);
  }
  const auto found = std::find(elements_.begin(), elements_.end(), e);
  if (found == elements_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - elements_.begin());
}

acquisition::step acquisition::next() const noexcept {
  if (due_ != 0) return step::wait;
  if (refused_) return step::release_all;
  if (backing_off_) return step::back_off;
  return num_held_ == elements_.size() ? step::run : step::claim;
}

std::vector<std::size_t> acquisition::claims() {
  CAIRN_ASSERT(next() == step::claim);
  std::vector<std::size_t> requested;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (states_[i] != state::named) continue;
    states_[i] = state::requested;
    requested.push_back(i);
  }
  due_ = requested.size();
  return requested;
}

bool acquisition::record_answer(std::size_t i, bool granted) noexcept {
  CAIRN_ASSERT(states_[i] == state::requested);
  states_[i] = granted ? state::held : state::named;
  num_held_ += granted ? 1 : 0;
  refused_ = refused_ || !granted;
  return --due_ == 0;
}

std::vector<std::size_t> acquisition::release_all() {
  CAIRN_ASSERT(next() == step::release_all);
  std::vector<std::size_t> held;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (states_[i] != state::held) continue;
    states_[i] = state::named;
    held.push_back(i);
  }
  num_held_ = 0;
  ++num_restarts_;
  refused_ = false;
  backing_off_ = true;
  return held;
}

std::uint64_t acquisition::back_off_ns(const back_off_limits& limits, random64& random) const {
  if (limits.first_ns == 0) return 0;
  const auto room = static_cast<std::uint32_t>(std::countl_zero(limits.first_ns));
  const auto doublings =
      std::min({num_restarts_ == 0 ? 0 : num_restarts_ - 1, limits.max_doublings, room});
  return 1 + random.below(limits.first_ns << doublings);
}

std::optional<std::size_t> acquisition::find(const element& e) const {
  const auto i = position_of(e);
  return i && states_[*i] == state::held ? i : std::nullopt;
}

}  // namespace cairn::dtx
