// SPDX-License-Identifier: Apache-2.0
//
// A network switch with a delay, for tools/lab. It creates one tap device in the network namespace
// of each given process and forwards Ethernet frames between them. A frame is written a fixed time
// after it was read, in order: to the device at which its destination address was seen, else to all
// others.
//
//   lab_relay DELAY_US PID PID...
//
// The devices are named `lab` and exist as long as this program. It prints "ready" when they exist,
// and ends with status 3 and a sentence if the system does not allow them. Segments of up to 64 KB
// are forwarded whole, as by a network card with segmentation offload. The program waits by a timer
// until shortly before a frame is due, then by reading the clock. Without frames it sleeps.

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using std::chrono::nanoseconds;
using clock_type = std::chrono::steady_clock;

constexpr std::size_t header_bytes = 10;                      // virtio_net_hdr, before each frame
constexpr std::size_t max_bytes = header_bytes + 14 + 65536;  // of a frame
constexpr std::size_t ring_bytes = std::size_t{64} << 20;     // of frames in flight
constexpr int frames_per_turn = 16;                           // of one device

using mac_address = std::array<unsigned char, 6>;

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

/// A tap device in the network namespace of a process, which this thread enters.
int open_tap(const std::string& pid) {
  const auto file = "/proc/" + pid + "/ns/net";
  const int space = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (space < 0) fail("cannot open " + file);
  if (setns(space, CLONE_NEWNET) != 0) fail("cannot enter " + file);
  close(space);
  const int tap = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (tap < 0) fail("cannot open /dev/net/tun");
  ifreq request{};
  std::strcpy(request.ifr_name, "lab");
  request.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
  if (ioctl(tap, TUNSETIFF, &request) != 0) fail("cannot make a tap device");
  int bytes = header_bytes;
  if (ioctl(tap, TUNSETVNETHDRSZ, &bytes) != 0) fail("cannot set the size of the tap's header");
  // Checksums are left out: a frame that does not leave memory needs none.
  if (ioctl(tap, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6) != 0) {
    fail("the tap device cannot offload");
  }
  return tap;
}

/// How long before a frame is due the clock is read instead of a timer. On a virtual machine a
/// timer is late by 16 us in the median and by 20 in one case of ten. Where ranks lack cores, less
/// of a core is taken from them.
nanoseconds spin_margin(std::size_t hosts) {
  return std::chrono::microseconds(hosts <= std::thread::hardware_concurrency() ? 20 : 8);
}

/// A rank that waits by polling must not delay the frames. Above 1, so that a job may run at 1.
void take_precedence() {
  sched_param priority{};
  priority.sched_priority = 10;
  if (sched_setscheduler(0, SCHED_FIFO, &priority) == 0) return;
  prctl(PR_SET_TIMERSLACK, 1UL);
  if (nice(-20) == -1) std::fputs("lab_relay: runs at normal priority\n", stderr);
}

struct frame {
  clock_type::time_point due;
  std::size_t begin, bytes, from;
};

class delaying_switch {
 public:
  delaying_switch(std::vector<int> taps, nanoseconds delay)
      : taps_(std::move(taps)),
        delay_(delay),
        margin_(spin_margin(taps_.size())),
        ring_(new unsigned char[ring_bytes]) {}

  [[noreturn]] void run() {
    std::vector<pollfd> waiting;
    for (const int tap : taps_) waiting.push_back({tap, POLLIN, 0});
    for (;;) {
      deliver();
      if (take_in()) continue;
      timespec wait{};
      if (!frames_.empty()) {
        const auto left = frames_.front().due - clock_type::now() - margin_;
        if (left <= nanoseconds::zero()) continue;
        wait.tv_nsec = std::chrono::duration_cast<nanoseconds>(left).count() % 1'000'000'000;
        wait.tv_sec = std::chrono::duration_cast<std::chrono::seconds>(left).count();
      }
      const bool full = !frames_.empty() && !has_room();
      if (ppoll(waiting.data(), full ? 0 : waiting.size(), frames_.empty() ? nullptr : &wait,
                nullptr) < 0 &&
          errno != EINTR) {
        fail("cannot wait");
      }
    }
  }

 private:
  /// The ring's next frame fits behind the newest one, or at the beginning.
  bool has_room() {
    if (frames_.empty()) {
      end_ = 0;
      return true;
    }
    const auto oldest = frames_.front().begin;
    if (end_ > oldest && ring_bytes - end_ < max_bytes) {
      if (oldest <= max_bytes) return false;
      end_ = 0;
    }
    return end_ > oldest || oldest - end_ > max_bytes;
  }

  bool take_in() {
    bool any = false;
    for (std::size_t from = 0; from < taps_.size(); ++from) {
      for (int i = 0; i < frames_per_turn && has_room(); ++i) {
        const auto bytes = read(taps_[from], &ring_[end_], max_bytes);
        if (bytes < 0 && errno != EAGAIN && errno != EINTR) fail("cannot read from a tap device");
        if (bytes < static_cast<ssize_t>(header_bytes) + 14) break;
        frames_.push_back(
            {clock_type::now() + delay_, end_, static_cast<std::size_t>(bytes), from});
        end_ += static_cast<std::size_t>(bytes);
        any = true;
      }
    }
    return any;
  }

  void deliver() {
    while (!frames_.empty() && frames_.front().due <= clock_type::now()) {
      const auto& f = frames_.front();
      mac_address to{}, source{};
      std::memcpy(to.data(), &ring_[f.begin + header_bytes], to.size());
      std::memcpy(source.data(), &ring_[f.begin + header_bytes + to.size()], source.size());
      places_[source] = f.from;
      const auto place = places_.find(to);
      for (std::size_t i = 0; i < taps_.size(); ++i) {
        if (i == f.from || (place != places_.end() && place->second != i)) continue;
        // A frame that the device refuses is lost, as on a network.
        [[maybe_unused]] const auto written = write(taps_[i], &ring_[f.begin], f.bytes);
      }
      frames_.pop_front();
    }
  }

  std::vector<int> taps_;
  nanoseconds delay_, margin_;
  std::unique_ptr<unsigned char[]> ring_;  // not zeroed: what no frame uses is never touched
  std::size_t end_ = 0;
  std::deque<frame> frames_;
  std::map<mac_address, std::size_t> places_;
};

}  // namespace

int main(int argc, char** argv) {
  char* end = nullptr;
  const auto delay = argc > 3 ? std::strtoll(argv[1], &end, 10) : -1;
  if (delay < 0 || *end != 0) {
    std::fputs("usage: lab_relay DELAY_US PID PID...\n", stderr);
    return 2;
  }
  try {
    std::vector<int> taps;
    for (int i = 2; i < argc; ++i) taps.push_back(open_tap(argv[i]));
    take_precedence();
    std::puts("ready");
    std::fflush(stdout);
    delaying_switch(std::move(taps), std::chrono::microseconds(delay)).run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
}
