// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace cairn::support {

/// The folder with real data files, if it exists.
inline std::optional<std::filesystem::path> data_folder() {
  const char* const named = std::getenv("CAIRN_DATA");
  const std::filesystem::path path = named != nullptr ? named : CAIRN_SOURCE_DIR "/../shared/data";
  if (!std::filesystem::is_directory(path)) return std::nullopt;
  return path;
}

}  // namespace cairn::support
