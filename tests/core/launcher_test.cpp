// SPDX-License-Identifier: Apache-2.0
#include "core/launcher.hpp"

#include <map>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <cairn/base/error.hpp>

namespace cairn::launcher_test {
namespace {

std::optional<launcher> found_in(const std::map<std::string, std::string>& environment) {
  return find_launcher([&](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

TEST(Launcher, IsAbsentInAPlainEnvironment) {
  EXPECT_FALSE(found_in({}));
  EXPECT_FALSE(found_in({{"SLURM_PROCID", "0"}})) << "a batch script is not a parallel step";
}

TEST(Launcher, KnowsMpichByPmi) {
  const auto l = found_in({{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}});
  ASSERT_TRUE(l);
  EXPECT_EQ(l->kind, net::mpi_kind::mpich);
  EXPECT_EQ(l->rank, 1);
  EXPECT_EQ(l->size, 4);
}

TEST(Launcher, KnowsOpenMpiAlsoWherePmixVariablesStandBeside) {
  const auto l = found_in({{"OMPI_COMM_WORLD_RANK", "2"},
                           {"OMPI_COMM_WORLD_SIZE", "3"},
                           {"PMIX_RANK", "2"},
                           {"SLURM_STEP_NUM_TASKS", "1"}});
  ASSERT_TRUE(l);
  EXPECT_EQ(l->kind, net::mpi_kind::openmpi);
  EXPECT_EQ(l->rank, 2);
  EXPECT_EQ(l->size, 3);
}

TEST(Launcher, KnowsSlurmByWhatItSpeaks) {
  const std::map<std::string, std::string> step{{"SLURM_PROCID", "5"},
                                                {"SLURM_STEP_NUM_TASKS", "8"}};
  EXPECT_EQ(found_in(step)->kind, net::mpi_kind::automatic);
  auto pmix = step;
  pmix["PMIX_RANK"] = "5";
  EXPECT_EQ(found_in(pmix)->kind, net::mpi_kind::openmpi);
  EXPECT_EQ(found_in(pmix)->size, 8);
  auto pmi = step;
  pmi["PMI_RANK"] = "5";
  pmi["PMI_SIZE"] = "8";
  EXPECT_EQ(found_in(pmi)->kind, net::mpi_kind::mpich);
}

TEST(Launcher, ThatMakesNoSenseIsRefused) {
  EXPECT_THROW(found_in({{"PMI_RANK", "4"}, {"PMI_SIZE", "4"}}), usage_error);
  EXPECT_THROW(found_in({{"PMI_RANK", "x"}, {"PMI_SIZE", "4"}}), usage_error);
  EXPECT_THROW(found_in({{"PMI_RANK", "0"}, {"PMI_SIZE", ""}}), usage_error);
}

}  // namespace
}  // namespace cairn::launcher_test
