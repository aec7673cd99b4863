// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <cairn/base/contract.hpp>

#include <bench/harness.hpp>

namespace cairn::bench {
namespace {

double median_of(std::vector<double> samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  if (samples.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(samples.begin(), middle)) / 2;
}

nlohmann::json growth(const counter_totals& before, const counter_totals& after) {
  auto grown = nlohmann::json::object();
  for (const auto& c : obs::counter_table) {
    const auto i = static_cast<std::size_t>(c.id);
    if (after[i] != before[i]) grown[std::string(c.name)] = after[i] - before[i];
  }
  return grown;
}

}  // namespace

summary summarise(std::span<const double> samples) {
  if (samples.empty()) return {};
  summary s{.runs = samples.size()};
  s.median = median_of({samples.begin(), samples.end()});
  std::vector<double> deviations;
  for (const auto x : samples) deviations.push_back(std::abs(x - s.median));
  s.mad = median_of(std::move(deviations));
  return s;
}

nlohmann::json json_of(const summary& s) {
  return {{"median", s.median}, {"mad", s.mad}, {"runs", s.runs}};
}

summary ratio_of(const measurement& first, const measurement& second) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < first.seconds.size(); ++i) {
    ratios.push_back(first.seconds[i] / second.seconds[i]);
  }
  return summarise(ratios);
}

harness::harness(const hw::clock& clock, std::ostream* lines, nlohmann::json provenance,
                 run_options options)
    : clock_(clock),
      lines_(lines),
      provenance_(provenance.is_null() ? nlohmann::json::object() : std::move(provenance)),
      options_(std::move(options)) {
  CAIRN_EXPECTS(options_.runs >= 1 && options_.warm_ups >= 0 && options_.max_iterations >= 1);
}

double harness::seconds_of(subject& s, std::uint64_t iterations) {
  s.prepare();
  double own = 0;
  const auto start = clock_.now_ns();
  for (std::uint64_t i = 0; i < iterations; ++i) own += s.run();
  const auto end = clock_.now_ns();
  return s.times_itself ? own : static_cast<double>(end - start) * 1e-9;
}

std::uint64_t harness::fix_iterations(subject& s) {
  for (int i = 0; i < options_.warm_ups; ++i) seconds_of(s, 1);
  if (s.times_itself) return 1;
  for (std::uint64_t iterations = 1;;) {
    const auto seconds = seconds_of(s, iterations);
    auto next = iterations;
    if (seconds < options_.min_seconds && iterations < options_.max_iterations) {
      // 10 % more than needed; limited growth, because a short time is unreliable
      const auto factor = std::min(10.0, 1.1 * options_.min_seconds / std::max(seconds, 1e-9));
      next = static_cast<std::uint64_t>(std::ceil(static_cast<double>(iterations) * factor));
      next = std::min(std::max(next, iterations + 1), options_.max_iterations);
    }
    if (options_.agree) next = options_.agree(next);
    if (next == iterations) return iterations;
    iterations = next;
  }
}

void harness::one_run(subject& s, measurement& m) {
  const auto before = s.counters ? s.counters() : counter_totals{};
  const auto seconds = seconds_of(s, m.iterations) / static_cast<double>(m.iterations);
  const auto after = s.counters ? s.counters() : counter_totals{};
  const auto fault = s.verify();
  m.seconds.push_back(seconds);

  nlohmann::json line{{"kernel", s.name},           {"settings", s.settings},
                      {"run", m.seconds.size()},    {"runs", options_.runs},
                      {"iterations", m.iterations}, {"seconds", seconds},
                      {"verified", fault.empty()}};
  if (s.counters) line["counters"] = growth(before, after);
  if (s.num_items > 0) line[s.item + "_per_second"] = s.num_items / seconds;
  if (!fault.empty()) line["fault"] = fault;
  write(std::move(line));
  if (!fault.empty()) throw wrong_result(s.name + ": " + fault);
}

measurement harness::measure(subject& s) {
  subject* const only = &s;
  return std::move(measure_alternating({&only, 1}).front());
}

std::vector<measurement> harness::measure_alternating(std::span<subject* const> all) {
  std::vector<measurement> found(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) found[i].iterations = fix_iterations(*all[i]);
  for (int run = 0; run < options_.runs; ++run) {
    for (std::size_t i = 0; i < all.size(); ++i) one_run(*all[i], found[i]);
  }
  for (auto& m : found) m.time = summarise(m.seconds);
  return found;
}

comparison harness::compare(subject& first, subject& second) {
  subject* const both[] = {&first, &second};
  auto found = measure_alternating(both);
  comparison c{std::move(found[0]), std::move(found[1]), {}};
  c.ratio = ratio_of(c.first, c.second);
  write({{"comparison", {first.name, second.name}},
         {"settings", {first.settings, second.settings}},
         {"seconds", {json_of(c.first.time), json_of(c.second.time)}},
         {"ratio", json_of(c.ratio)}});
  return c;
}

void harness::write(nlohmann::json line) {
  if (lines_ == nullptr) return;
  line.update(provenance_);
  *lines_ << line.dump() << std::endl;
}

}  // namespace cairn::bench
