// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/error.hpp>
#include <cairn/net/mpi.hpp>

#include <support/temporary_folder.hpp>

namespace cairn::net::mpi_test {
namespace {

std::string refusal(const std::vector<std::string>& folders) {
  try {
    static_cast<void>(mpi_process::start(mpi_kind::mpich, folders));
  } catch (const usage_error& e) {
    return e.what();
  }
  return {};
}

TEST(Mpi, NamesThePluginAndTheFoldersThatLackIt) {
  const auto text = refusal({"/nowhere/a", "/nowhere/b"});
  EXPECT_NE(text.find("libcairn_mpi_mpich.so"), std::string::npos) << text;
  EXPECT_NE(text.find("/nowhere/a, /nowhere/b"), std::string::npos) << text;
}

TEST(Mpi, RefusesAPluginThatIsNone) {
  const support::temporary_folder folder;
  const auto file = folder / "libcairn_mpi_mpich.so";
  std::ofstream(file) << "no library";
  const auto text = refusal({std::filesystem::path(file).parent_path().string()});
  EXPECT_NE(text.find(file), std::string::npos) << text;
}

TEST(Mpi, IsKnownByTheNameOfItsLibrary) {
  EXPECT_EQ(mpi_of_library("libmpich.so.12"), mpi_kind::mpich);
  EXPECT_EQ(mpi_of_library("libmpi.so.12"), mpi_kind::mpich);
  EXPECT_EQ(mpi_of_library("libmpi.so.40"), mpi_kind::openmpi);
  EXPECT_EQ(mpi_of_library("libm.so.6"), std::nullopt);
}

TEST(Mpi, IsNotInAProcessThatLoadedNone) { EXPECT_EQ(mpi_in_process(), std::nullopt); }

TEST(Mpi, LooksForPluginsBesideTheProgramAndInItsLib) {
  const auto program = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const auto folders = plugin_folders();
  const auto has = [&](const std::filesystem::path& folder) {
    const auto wanted = folder.lexically_normal().string();
    return std::find(folders.begin(), folders.end(), wanted) != folders.end();
  };
  EXPECT_TRUE(has(program / "../lib"));
  EXPECT_TRUE(has(program / "../lib/cairn"));
}

}  // namespace
}  // namespace cairn::net::mpi_test
