// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace cairn::killed_rank_test {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

constexpr auto limit_of_wait = 20s;

/// A process, also one that is no child of this one, from a moment when it runs.
class watched_process {
 public:
  explicit watched_process(pid_t id) : file_(static_cast<int>(syscall(SYS_pidfd_open, id, 0))) {}
  ~watched_process() {
    if (file_ >= 0) close(file_);
  }
  watched_process(watched_process&& o) noexcept : file_(std::exchange(o.file_, -1)) {}
  watched_process& operator=(watched_process&&) = delete;

  [[nodiscard]] bool is_known() const { return file_ >= 0; }

  /// Waits until it has ended; false if it still runs at the limit.
  [[nodiscard]] bool ends_by(steady::time_point limit) const {
    pollfd end{file_, POLLIN, 0};
    while (true) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(limit - steady::now());
      const int ready = poll(&end, 1, std::max(0, static_cast<int>(left.count())));
      if (ready >= 0 || errno != EINTR) return ready == 1 && (end.revents & POLLIN) != 0;
    }
  }
  void end() const { syscall(SYS_pidfd_send_signal, file_, SIGKILL, nullptr, 0); }

 private:
  int file_;
};

/// A job whose ranks wait for ever, all of them up.
class waiting_job {
 public:
  waiting_job(const std::vector<std::string>& command, int ranks) {
    int ends[2] = {-1, -1};
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    first_ = fork();
    if (first_ == 0) {
      dup2(ends[1], STDOUT_FILENO);
      dup2(ends[1], STDERR_FILENO);
      const rlimit no_core{0, 0};
      setrlimit(RLIMIT_CORE, &no_core);
      setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
      setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
      std::vector<char*> argv;
      for (const auto& word : command) argv.push_back(const_cast<char*>(word.c_str()));
      argv.push_back(nullptr);
      execv(argv[0], argv.data());
      _exit(127);
    }
    if (first_ > 0) first_process_.emplace(first_);
    close(ends[1]);
    output_ = fdopen(ends[0], "r");
    ranks_.assign(static_cast<std::size_t>(ranks), 0);
    for (int up = 0; up < ranks;) {
      const auto line = read_line();
      if (!line) return;
      int rank = -1, process = -1;
      if (std::sscanf(line->c_str(), "rank %d is process %d", &rank, &process) != 2) continue;
      ranks_.at(static_cast<std::size_t>(rank)) = process;
      if (!processes_.emplace_back(process).is_known()) return;
      ++up;
    }
    is_up_ = first_process_ && first_process_->is_known();
  }

  ~waiting_job() {
    if (output_ != nullptr) std::fclose(output_);
    for (const auto& rank : processes_) rank.end();
    if (first_ > 0 && !status_) {
      kill(first_, SIGKILL);
      waitpid(first_, nullptr, 0);
    }
  }
  waiting_job(const waiting_job&) = delete;
  waiting_job& operator=(const waiting_job&) = delete;

  [[nodiscard]] bool is_up() const { return is_up_; }
  [[nodiscard]] pid_t first() const { return first_; }
  [[nodiscard]] pid_t rank(std::size_t r) const { return ranks_.at(r); }

  /// Waits until the first process has ended; false if it still runs at the limit.
  [[nodiscard]] bool ends_by(steady::time_point limit) {
    int status = 0;
    if (!status_ && first_process_->ends_by(limit) && waitpid(first_, &status, 0) == first_) {
      status_ = status;
    }
    return status_.has_value();
  }
  [[nodiscard]] bool ends() { return ends_by(steady::now() + limit_of_wait); }

  /// Waits until all ranks have ended; false if one still runs at the limit.
  [[nodiscard]] bool ranks_end() const {
    const auto limit = steady::now() + limit_of_wait;
    return std::all_of(processes_.begin(), processes_.end(),
                       [&](const auto& rank) { return rank.ends_by(limit); });
  }
  [[nodiscard]] int status() const { return status_.value_or(0); }

  /// Names in file systems of the memory that ranks share now.
  [[nodiscard]] std::set<std::string> shared_files() const {
    std::set<std::string> files;
    for (const auto rank : ranks_) {
      std::ifstream maps("/proc/" + std::to_string(rank) + "/maps");
      for (std::string line; std::getline(maps, line);) {
        std::istringstream words(line);
        std::string range, mode, offset, device, inode, path;
        words >> range >> mode >> offset >> device >> inode >> path;
        if (mode == "rw-s" && std::filesystem::exists(path)) files.insert(path);
      }
    }
    return files;
  }

  /// What the job printed that has not been read. Once it has ended.
  [[nodiscard]] std::string rest_of_output() {
    std::string all;
    while (const auto line = read_line()) all += *line;
    return all;
  }

 private:
  std::optional<std::string> read_line() {
    std::string line;
    for (int c = std::fgetc(output_); c != EOF; c = std::fgetc(output_)) {
      line += static_cast<char>(c);
      if (c == '\n') return line;
    }
    if (line.empty()) return std::nullopt;
    return line;
  }

  pid_t first_ = -1;
  std::optional<watched_process> first_process_;
  std::FILE* output_ = nullptr;
  std::vector<pid_t> ranks_;
  std::vector<watched_process> processes_;  // of ranks
  std::optional<int> status_;
  bool is_up_ = false;
};

struct start_command {
  std::string name;
  std::vector<std::string> command;
  std::string why_not = {};  ///< why it cannot be tried here; empty: it can
};

void PrintTo(const start_command& start, std::ostream* out) { *out << start.name; }

std::vector<start_command> ways_to_start() {
  const std::string program = CAIRN_TEST_RANKS;
  std::vector<start_command> starts{{"LocalProcesses", {program, "--ranks", "4", "wait"}}};
  const auto add = [&](const std::string& name, std::vector<std::string> command,
                       const std::string& why_not) {
    command.insert(command.end(), {"-n", "4", program, "wait"});
    starts.push_back({name, command, why_not});
    command.insert(command.end(), {"--transport", "mpi"});
    starts.push_back({name + "WithoutRings", command, why_not});
  };
  add("Mpich", {CAIRN_MPIEXEC_MPICH}, CAIRN_WHY_NO_MPICH);
  add("OpenMpi", {CAIRN_MPIEXEC_OPENMPI, "--oversubscribe"}, CAIRN_WHY_NO_OPENMPI);
  return starts;
}

class KilledRank : public testing::TestWithParam<start_command> {};
INSTANTIATE_TEST_SUITE_P(Faults, KilledRank, testing::ValuesIn(ways_to_start()),
                         [](const auto& start) { return start.param.name; });

TEST_P(KilledRank, EndsTheJobWithoutLeavingAnything) {
  if (!GetParam().why_not.empty()) GTEST_SKIP() << GetParam().why_not;
  for (const std::size_t victim : {0u, 2u}) {
    waiting_job job(GetParam().command, 4);
    ASSERT_TRUE(job.is_up()) << job.rest_of_output();
    const auto files = job.shared_files();
    ASSERT_EQ(kill(job.rank(victim), SIGKILL), 0);
    EXPECT_TRUE(job.ends()) << "the job lives on";
    EXPECT_NE(job.status(), 0);
    EXPECT_TRUE(job.ranks_end()) << "a rank lives on";
    // What the MPI library leaves, a process that outlives the ranks removes.
    const auto limit = steady::now() + limit_of_wait;
    const auto exists = [](const auto& file) { return std::filesystem::exists(file); };
    while (std::ranges::any_of(files, exists) && steady::now() < limit) poll(nullptr, 0, 10);
    for (const auto& file : files) EXPECT_FALSE(exists(file)) << file;
  }
}

std::vector<std::string> four_local_ranks() { return ways_to_start().front().command; }

TEST(LocalRanks, ShareNoMemoryThatHasAName) {
  waiting_job job(four_local_ranks(), 4);
  ASSERT_TRUE(job.is_up());
  EXPECT_EQ(job.shared_files(), std::set<std::string>{});
}

TEST(LocalRanks, AKilledOneIsNamedAndMakesTheStatusOne) {
  waiting_job job(four_local_ranks(), 4);
  ASSERT_TRUE(job.is_up());
  ASSERT_EQ(kill(job.rank(3), SIGKILL), 0);
  ASSERT_TRUE(job.ends());
  EXPECT_TRUE(WIFEXITED(job.status()) && WEXITSTATUS(job.status()) == 1) << job.status();
  EXPECT_EQ(job.rest_of_output(), "rank 3 was killed by signal 9 (Killed)\n");
}

TEST(LocalRanks, AStoppedOneDoesNotKeepTheJobAlive) {
  waiting_job job(four_local_ranks(), 4);
  ASSERT_TRUE(job.is_up());
  ASSERT_EQ(kill(job.rank(0), SIGSTOP), 0);  // SIGTERM cannot end it
  ASSERT_EQ(kill(job.rank(1), SIGKILL), 0);
  EXPECT_TRUE(job.ends());
  EXPECT_TRUE(job.ranks_end());
}

TEST(LocalRanks, OneSigintOrSigtermToAnyOfThemCancelsAll) {
  for (const auto& [signal, name] : {std::pair(SIGINT, "SIGINT"), std::pair(SIGTERM, "SIGTERM")}) {
    for (const int target : {-1, 0, 3}) {
      waiting_job job(four_local_ranks(), 4);
      ASSERT_TRUE(job.is_up());
      ASSERT_EQ(kill(target < 0 ? job.first() : job.rank(target), signal), 0);
      EXPECT_TRUE(job.ends());
      EXPECT_TRUE(job.ranks_end());
      EXPECT_TRUE(WIFEXITED(job.status()) && WEXITSTATUS(job.status()) == 128 + signal)
          << job.status();
      EXPECT_EQ(job.rest_of_output(), std::string("cancelled by ") + name + "\n");
    }
  }
}

TEST(LocalRanks, ATimeLimitCancelsAll) {
  auto command = four_local_ranks();
  command.insert(command.end(), {"--timeout", "3"});
  waiting_job job(command, 4);
  ASSERT_TRUE(job.is_up());
  EXPECT_TRUE(job.ends());
  EXPECT_TRUE(job.ranks_end());
  EXPECT_TRUE(WIFEXITED(job.status()) && WEXITSTATUS(job.status()) == 124) << job.status();
  EXPECT_EQ(job.rest_of_output(), "cancelled after 3 s, the limit set by --timeout\n");
}

// A rank under a debugger does not react, and the others wait for it.
TEST(LocalRanks, EndSoonAfterATimeLimitThoughOneCannotStop) {
  auto command = four_local_ranks();
  command.insert(command.end(), {"--timeout", "3"});
  waiting_job job(command, 4);
  ASSERT_TRUE(job.is_up());
  ASSERT_EQ(kill(job.rank(2), SIGSTOP), 0);
  EXPECT_TRUE(job.ends());
  EXPECT_TRUE(job.ranks_end());
  EXPECT_TRUE(WIFEXITED(job.status()) && WEXITSTATUS(job.status()) == 124) << job.status();
  EXPECT_EQ(job.rest_of_output(),
            "cancelled after 3 s, the limit set by --timeout; ranks that did not stop within 5 s "
            "were killed\n");
}

TEST(LocalRanks, EndSoonAfterASigintThoughOneCannotStop) {
  waiting_job job(four_local_ranks(), 4);
  ASSERT_TRUE(job.is_up());
  ASSERT_EQ(kill(job.rank(2), SIGSTOP), 0);
  ASSERT_EQ(kill(job.first(), SIGINT), 0);
  EXPECT_TRUE(job.ends());
  EXPECT_TRUE(job.ranks_end());
  EXPECT_TRUE(WIFEXITED(job.status()) && WEXITSTATUS(job.status()) == 130) << job.status();
  EXPECT_EQ(job.rest_of_output(),
            "cancelled by SIGINT; ranks that did not stop within 5 s were killed\n");
}

TEST(LocalRanks, ASecondSigintKillsThemThoughOneCannotStop) {
  waiting_job job(four_local_ranks(), 4);
  ASSERT_TRUE(job.is_up());
  ASSERT_EQ(kill(job.rank(2), SIGSTOP), 0);
  // Sent again until the job ends: a signal that comes while one is pending has no effect.
  const auto limit = steady::now() + limit_of_wait;
  bool ended = false;
  while (!ended && steady::now() < limit) {
    kill(job.first(), SIGINT);
    ended = job.ends_by(steady::now() + 5ms);
  }
  EXPECT_TRUE(ended);
  EXPECT_TRUE(job.ranks_end());
  EXPECT_TRUE(WIFSIGNALED(job.status()) && WTERMSIG(job.status()) == SIGINT) << job.status();
}

class SignalToFirstProcess : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Faults, SignalToFirstProcess, testing::Values(SIGHUP, SIGQUIT, SIGKILL));

TEST_P(SignalToFirstProcess, EndsAllRanks) {
  waiting_job job(four_local_ranks(), 4);
  ASSERT_TRUE(job.is_up());
  ASSERT_EQ(kill(job.first(), GetParam()), 0);
  EXPECT_TRUE(job.ends());
  EXPECT_TRUE(job.ranks_end());
  EXPECT_TRUE(WIFSIGNALED(job.status())) << "a shell should see what ended it";
  EXPECT_EQ(WTERMSIG(job.status()), GetParam());
  EXPECT_EQ(job.rest_of_output(), "");
}

}  // namespace
}  // namespace cairn::killed_rank_test
