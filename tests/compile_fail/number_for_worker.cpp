// SPDX-License-Identifier: Apache-2.0
// A number is not a worker: not even 0, which would also be a rank.
// expected: worker_t
#include <cairn/task/per_worker.hpp>

#ifdef MUST_NOT_COMPILE
constexpr int sender = 0;
#else
constexpr cairn::worker_t sender{0};
#endif

int& count_of(cairn::task::per_worker<int>& counts) { return counts[sender]; }
