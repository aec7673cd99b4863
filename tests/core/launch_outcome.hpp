// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <cairn/core/launch.hpp>

namespace cairn {

/// How a job ended, as its caller sees it.
struct launch_outcome {
  int status = -1;
  std::vector<std::string> said;
};

inline launch_outcome run_job(const settings& config, const rank_body& body) {
  launch_outcome result;
  result.status =
      run(config, body, [&](const std::string& sentence) { result.said.push_back(sentence); });
  return result;
}

}  // namespace cairn
