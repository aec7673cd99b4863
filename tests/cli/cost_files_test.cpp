// SPDX-License-Identifier: Apache-2.0
#include "cli/cost_files.hpp"

#include <sys/stat.h>

#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include <cairn/base/error.hpp>

#include <support/temporary_folder.hpp>

#include "cli/saved_costs.hpp"

namespace cairn::cli::cost_files_test {
namespace {

using activity::mechanism;

activity::fitted_costs some_costs() {
  activity::fitted_costs costs;
  costs.of(mechanism::atomics) = {3.5, 0.75};
  costs.of(mechanism::locks) = {9, 4};
  costs.of(mechanism::one_lock) = {1, -95.5};
  costs.of(mechanism::stm) = {8, 40};
  return costs;
}

/// What the input_error of reading such a file says, which begins with the file's path.
template <class Costs>
std::string refusal(const std::string& text, Costs (*read)(const std::string&)) {
  const support::temporary_file file(text);
  try {
    static_cast<void>(read(file.path));
  } catch (const input_error& e) {
    EXPECT_EQ(std::string(e.what()).find(file.path + ": expected"), 0u) << e.what();
    return e.what();
  }
  return "";
}

TEST(CostFiles, AreReadAsTheyAreWritten) {
  const support::temporary_file mechanisms(some_costs().text());
  EXPECT_EQ(read_fitted_costs(mechanisms.path).text(), some_costs().text());
  cluster_costs c;
  ASSERT_TRUE(c.set("byte_ns", 0.125));
  const support::temporary_file cluster(" " + c.text() + "\n");
  EXPECT_EQ(read_cluster_costs(cluster.path).text(), c.text());
}

TEST(CostFiles, AreRefusedWithASentence) {
  for (const auto* const text : {" ", "[]", R"({"htm": 1})", R"({"magic_fixed_ns": 1})",
                                 R"({"auto_fixed_ns": 1})", R"({"htm_fixed_ns": "1"})", "{}"}) {
    EXPECT_NE(refusal(text, read_fitted_costs), "") << text;
  }
  for (const auto* const text : {" ", "12", "[]", "{}", R"({"edge_ns"})", R"({"edges": 1})",
                                 R"({"edge_ns": -1})", R"({"edge_ns": 1,})", "{edge_ns: 1}"}) {
    EXPECT_NE(refusal(text, read_cluster_costs), "") << text;
  }
  EXPECT_THROW(static_cast<void>(read_cluster_costs(support::temporary_file("").path)),
               input_error);
  EXPECT_NE(refusal(R"({"atomics_per_vertex_ns": 3})", read_fitted_costs)
                .find("atomics_fixed_ns is missing"),
            std::string::npos);
  const support::temporary_folder folder;
  const auto pipe = folder / "pipe.json";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const auto& path : {pipe, std::string("/no/such/file"), std::string("/dev/zero")}) {
    EXPECT_THROW(static_cast<void>(read_cluster_costs(path)), input_error);
  }
  EXPECT_EQ(read_saved_costs(pipe).fault, pipe + ": is not a regular file");
}

TEST(SavedCosts, AreNamedByTheMachineAndTheVersion) {
  EXPECT_EQ(saved_costs_path("/c", "AMD EPYC 7B12 (tm)", "0.1.0"),
            "/c/costs-0.1.0-amd-epyc-7b12-tm.json");
  EXPECT_EQ(saved_costs_path("/c", "", "1"), "/c/costs-1-unknown.json");
}

TEST(SavedCosts, AreReadBackFromAFolderThatIsMadeForThem) {
  const support::temporary_folder folder;
  const auto path = folder / "a/b/costs.json";
  EXPECT_FALSE(read_saved_costs(path).costs);
  EXPECT_EQ(read_saved_costs(path).fault, "") << "nothing is saved";
  const auto costs = some_costs();
  save_costs(path, costs);
  save_costs(path, costs);
  ASSERT_TRUE(read_saved_costs(path).costs);
  EXPECT_EQ(read_saved_costs(path).costs->text(), costs.text());
  EXPECT_THROW(save_costs(path + "/below", costs), system_failure);
  std::ofstream(path) << "{}";
  EXPECT_FALSE(read_saved_costs(path).costs);
  EXPECT_NE(read_saved_costs(path).fault.find(path), std::string::npos);
}

}  // namespace
}  // namespace cairn::cli::cost_files_test
