// SPDX-License-Identifier: Apache-2.0
#include "cli/saved_costs.hpp"

#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <cairn/base/error.hpp>

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

void save_costs(const std::string& path, const activity::fitted_costs& costs) {
  const auto beside = path + "." + std::to_string(::getpid());
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failed);
  {
    std::ofstream file(beside);
    file << costs.text() << '\n';
    if (!file.flush())
      throw system_failure(path + ": cannot be written (" + std::strerror(errno) + ")");
  }
  std::filesystem::rename(beside, path, failed);
  if (!failed) return;
  const auto why = failed.message();
  std::filesystem::remove(beside, failed);
  throw system_failure(path + ": cannot be written (" + why + ")");
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
