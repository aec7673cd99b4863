// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <optional>

#include "core/killed_rank_cleanup.hpp"
#include "core/watched_children.hpp"

namespace cairn {
namespace {

using steady = std::chrono::steady_clock;

// The launcher may drop output that a rank wrote just before it ends the job.
constexpr timespec delay_for_launcher_output{0, 200'000'000};

// What the child of a killed supervisor writes and starts; set before the signal can come.
std::array<char, 120> orphan_sentence{};
const killed_rank_cleanup* orphan_cleanup = nullptr;

int orphan_signal() noexcept { return SIGRTMAX - 1; }

void on_orphaned(int) {
  // A launcher that ends the job, perhaps because another rank died, first asks this one to stop.
  if (interrupt_handler::was_asked_to_stop()) _exit(1);
  const auto length = strnlen(orphan_sentence.data(), orphan_sentence.size());
  static_cast<void>(!write(STDERR_FILENO, orphan_sentence.data(), length));
  orphan_cleanup->start({orphan_sentence.data(), length});
  _exit(1);
}

void end_with_parent(pid_t parent, const killed_rank_cleanup& cleanup, rank_t rank) noexcept {
  orphan_cleanup = &cleanup;
  std::snprintf(orphan_sentence.data(), orphan_sentence.size(),
                "rank %d was killed: the process that the launcher started for it is gone\n", rank);
  struct sigaction action {};
  action.sa_handler = &on_orphaned;
  sigaction(orphan_signal(), &action, nullptr);
  prctl(PR_SET_PDEATHSIG, orphan_signal());
  if (getppid() != parent) on_orphaned(0);  // it was killed before prctl()
}

/// How the child ended, as waitpid() says, and the signal that ended this process, if any.
struct ending {
  int status = 0;
  int interrupted = 0;
  bool cancelled = false;
};

// Whether the child has been stopped since the last call. Does not reap it.
bool was_stopped(pid_t child) noexcept {
  siginfo_t state{};
  return waitid(P_PID, static_cast<id_t>(child), &state, WSTOPPED | WCONTINUED | WNOHANG) == 0 &&
         state.si_pid == child;
}

ending wait_for(pid_t child, const launcher& started_by, const killed_rank_cleanup& cleanup,
                const held_signals& signals) {
  ending end;
  std::optional<steady::time_point> cancelled_at;
  int asked_by = 0;        // the first signal that cancels
  bool announced = false;  // the launcher's SIGCONT came, its SIGTERM will
  while (waitpid(child, &end.status, WNOHANG) != child) {
    pid_t sender = 0;
    const auto begin = steady::now();
    int signal = signals.wait(between_looks, &sender);
    if (cleanup.launcher_has_ended()) signal = SIGHUP;  // nobody else would end this rank
    if (signal == SIGCONT) {
      if (!started_by.continues_before_end || sender != getppid() || cancelled_at) continue;
      // The user stopped the job and resumes it: this process or the child did not run meanwhile.
      if (was_stopped(child) || steady::now() - begin > 2 * between_looks) continue;
      cancelled_at = steady::now();
      announced = true;
      asked_by = SIGTERM;
      kill(child, SIGTERM);
    } else if (cancels(signal) && !cancelled_at) {
      cancelled_at = steady::now();
      asked_by = signal;
      kill(child, signal);
    } else if (cancels(signal) && (announced || steady::now() - *cancelled_at < same_request)) {
      announced = false;
    } else if (signal != 0 && signal != SIGCHLD) {
      end.interrupted = signal;
      kill(child, SIGKILL);
    } else if (cancelled_at && steady::now() - *cancelled_at > patience) {
      end.interrupted = asked_by;
      kill(child, SIGKILL);
    }
  }
  end.cancelled = cancelled_at.has_value();
  return end;
}

}  // namespace

int run_supervised(const launcher& started_by,
                   const std::function<int(interrupt_handler::second)>& rank_main,
                   const launch_report& say) {
  // Otherwise the child would write the buffered output again.
  std::fflush(nullptr);
  std::cout.flush();
  const auto self = getpid();
  const killed_rank_cleanup cleanup(started_by);
  ending end;
  {
    held_signals signals(SIGCONT);
    const auto child = fork();
    if (child < 0) {
      signals.restore();
      return rank_main(interrupt_handler::second::kills);
    }
    if (child == 0) {
      end_with_parent(self, cleanup, started_by.rank);
      signals.restore();
      int status = rank_main(interrupt_handler::second::nothing);
      std::cout.flush();
      if (const auto fault = output_fault(); !fault.empty()) {
        say(fault);
        if (status == 0) status = 1;
      }
      std::fflush(nullptr);
      _exit(status);
    }
    end = wait_for(child, started_by, cleanup, signals);
  }
  if (end.interrupted != 0) {
    raise(end.interrupted);
    return 1;
  }
  if (WIFEXITED(end.status)) return WEXITSTATUS(end.status);
  const int signal = WTERMSIG(end.status);
  // It was asked to stop before it could handle the signal.
  if (end.cancelled && cancels(signal)) {
    end_job(started_by, 128 + signal);
    return 128 + signal;
  }
  const auto sentence = killed_sentence(started_by.rank, signal);
  say(sentence);
  cleanup.start(sentence + "\n");
  nanosleep(&delay_for_launcher_output, nullptr);
  end_job(started_by, 1);
  return 1;
}

}  // namespace cairn
