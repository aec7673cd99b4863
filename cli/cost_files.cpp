// SPDX-License-Identifier: Apache-2.0
#include "cli/cost_files.hpp"

#include <nlohmann/json.hpp>

#include <cairn/base/error.hpp>
#include <cairn/graph/io/mapped_file.hpp>

namespace cairn::cli {
namespace {

/// Sets members from the numbers of the file's JSON object.
template <class Costs>
Costs read_costs(const std::string& path, const std::string& expected) {
  const graph::io::mapped_file file(path);  // no pipe or device, which might not end
  const auto object = nlohmann::json::parse(file.text(), nullptr, false);
  if (!object.is_object()) {
    throw input_error(path + ": expected an object of numbers with " + expected);
  }
  if (object.empty()) throw input_error(path + ": expected " + expected + ", found none");
  Costs costs;
  for (const auto& [name, value] : object.items()) {
    if (value.is_number() && costs.set(name, value.template get<double>())) continue;
    throw input_error(path + ": expected " + expected + ", not \"" + name + "\": " + value.dump());
  }
  return costs;
}

}  // namespace

activity::fitted_costs read_fitted_costs(const std::string& path) {
  const std::string expected =
      "costs such as \"htm_fixed_ns\": 40, as cairn bench model writes them";
  auto costs = read_costs<activity::fitted_costs>(path, expected);
  if (const auto fault = activity::fault_of(costs); !fault.empty()) {
    throw input_error(path + ": expected " + expected + ": " + fault);
  }
  return costs;
}

cluster_costs read_cluster_costs(const std::string& path) {
  return read_costs<cluster_costs>(
      path, "costs such as \"latency_us\": 1.5, from 0 to 1e9, as cairn bench sim writes them");
}

}  // namespace cairn::cli
