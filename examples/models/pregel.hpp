// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <cairn/activity/executor.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/aggregator.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/pgas/vertex_map.hpp>

namespace pregel {

using vertex = std::uint32_t;
using graph = cairn::graph::dist_csr<vertex>;

/// The operator: combines a message with the receiver's mailbox and wakes the receiver.
template <cairn::aggregator Combiner>
struct letter {
  struct message {
    vertex to;
    typename Combiner::value_type text;
  };
  cairn::pgas::vertex_map<typename Combiner::value_type>& boxes;
  cairn::pgas::vertex_map<std::uint8_t>& woken;

  auto cell(const message& m) const { return boxes.at(m.to); }
  void attempt(auto box, const message& m) const {
    for (auto seen = box.load();;) {
      const auto found = box.claim(seen, Combiner::combine(seen, m.text));
      if (std::exchange(seen, found) == found) return;
    }
  }
  void after(const message& m) { woken.store(m.to, 1); }
};

/// Runs supersteps until all vertices have halted and no message is in transit; returns their
/// number.
///
/// A superstep runs program(v, value, mail, step, send) for each active vertex v. `mail` is the
/// combination of the messages sent to v in the previous step; send({u, text}) sends to u;
/// returning false votes to halt. A message activates its receiver. A superstep is an epoch:
/// messages arrive in the next one.
template <cairn::aggregator Combiner, class Value, class Program>
int run(cairn::world& world, const graph& g, cairn::pgas::vertex_map<Value>& values,
        Program program) {
  cairn::pgas::vertex_map boxes(world, g.partition(), Combiner::identity());
  cairn::pgas::vertex_map<std::uint8_t> woken(world, g.partition(), 1);
  cairn::activity::executor letters(world, letter<Combiner>{boxes, woken});
  std::vector<std::uint8_t> awake(values.local().size());
  std::vector<typename Combiner::value_type> mail(awake.size());
  for (int step = 0;; ++step) {
    for (std::size_t i = 0; i < awake.size(); ++i) {
      mail[i] = std::exchange(boxes.local()[i], Combiner::identity());
      if (std::exchange(woken.local()[i], 0)) awake[i] = 1;
    }
    if (!world.any(std::find(awake.begin(), awake.end(), 1) != awake.end())) return step;
    cairn::am::epoch superstep(world);
    world.parallel_for(awake.size(), [&](cairn::worker_t k, std::size_t begin, std::size_t end) {
      letters.spawn(k, [&](auto& send) {
        for (auto i = begin; i < end; ++i) {
          const auto v = static_cast<vertex>(values.first() + i);
          if (awake[i]) awake[i] = program(v, values.local()[i], mail[i], step, send);
        }
      });
    });
    superstep.close();
  }
}

}  // namespace pregel
