// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include <cairn/activity/operator.hpp>
#include <cairn/activity/shape.hpp>
#include <cairn/base/contract.hpp>

namespace cairn::dtx {

/// Access for an operator of dtx::executor that runs as an activity: to elements of this rank only.
///
/// Throws    contract_violation for an element of another rank
template <class Tx>
class own_elements {
 public:
  explicit own_elements(Tx& tx) : tx_(tx) {}

  template <class Map>
  [[nodiscard]] auto read(const Map& map, std::uint64_t id) const {
    expect_own(map, id);
    return tx_.read(map, id);
  }
  template <class Map, class T = typename Map::value_type>
  void write(const Map& map, std::uint64_t id, const T& value) {
    expect_own(map, id);
    tx_.write(map, id, value);
  }

 private:
  static void expect_own(const auto& map, std::uint64_t id) {
    CAIRN_EXPECTS(map.owns(id),
                  "a distributed operator may access only elements that elements() names");
  }

  Tx& tx_;
};

/// An operator of dtx::executor as an activity, for messages whose elements have one owner.
/// Messages sent by its `after` and `answer` go through the executor.
///
/// All       the executor. op_: the operator; pass(worker, message, activity): calls
///           activity(message) if the elements have one owner
template <class Op, class All>
struct local_part {
  using message = typename Op::message;

  Op op;
  All* all;

  void elements(const message& m, auto&& each) const { op.elements(m, each); }
  bool wanted(const message& m) const requires requires(const Op& o) { o.wanted(m); }
  { return op.wanted(m); }
  auto attempt(auto& tx, const message& m) const {
    own_elements own(tx);
    return op.attempt(own, m);
  }
  template <class At>
  void after(const message& m, At& at) requires(!activity::fire_and_return<Op>) {
    context<At> to{*all, at};
    activity::detail::after(all->op_, m, true, to);
  }
  template <class R, class At>
  void after(const message& m, const R& value, At& at) requires activity::fire_and_return<Op> {
    context<At> to{*all, at};
    activity::detail::after(all->op_, m, {true, value}, to);
  }
  template <class At>
  void answer(const message& m, const auto& result, At& at) requires activity::fire_and_return<Op> {
    context<At> to{*all, at};
    activity::detail::answer(all->op_, m, result, to);
  }

 private:
  template <class At>
  struct context {
    All& all;
    At& at;
    [[nodiscard]] auto worker() const { return at.worker(); }
    void operator()(const message& m) { all.pass(at.worker(), m, at); }
  };
};

}  // namespace cairn::dtx
