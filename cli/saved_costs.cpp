// SPDX-License-Identifier: Apache-2.0
#include "cli/saved_costs.hpp"

#include <cctype>
#include <filesystem>
#include <system_error>

#include <cairn/base/error.hpp>
#include <cairn/graph/io/output_file.hpp>

#include "cli/cost_files.hpp"

namespace cairn::cli {
namespace {

// As part of a file name: "AMD EPYC 7B12" becomes amd-epyc-7b12.
std::string plain_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || c == '.') {
      name += static_cast<char>(std::tolower(byte));
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  while (name.ends_with('-')) name.pop_back();
  return name.empty() ? "unknown" : name;
}

}  // namespace

std::string saved_costs_path(const std::string& folder, std::string_view processor,
                             std::string_view version) {
  return folder + "/costs-" + plain_name(version) + "-" + plain_name(processor) + ".json";
}

void prepare_to_save(const std::string& path) {
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failed);
  graph::io::expect_writable(path);
}

void save_costs(const std::string& path, const activity::fitted_costs& costs) {
  prepare_to_save(path);
  graph::io::output_file file(path);
  const auto text = costs.text() + '\n';
  file.write(text.data(), text.size());
  file.finish();
}

saved_costs read_saved_costs(const std::string& path) {
  std::error_code unknown;
  if (!std::filesystem::exists(path, unknown)) return {};
  try {
    return {read_fitted_costs(path), ""};
  } catch (const input_error& e) {
    return {std::nullopt, e.what()};
  }
}

}  // namespace cairn::cli
