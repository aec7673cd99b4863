// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace CLI {
class App;
}

namespace cairn::bench {

template <class Value>
struct element {
  using type = Value;
};
template <class Value>
struct element<std::vector<Value>> {
  using type = Value;
};

/// The arguments of a benchmark. A variable keeps its value if its argument is not given; --help
/// shows that value. A vector takes one or more values. No file that uses this reads CLI11, which
/// takes longer to compile than most benchmarks.
class argument_list {
 public:
  template <class Number>
  struct range {
    Number min = std::numeric_limits<Number>::lowest();
    Number max = std::numeric_limits<Number>::max();
  };

  explicit argument_list(CLI::App& app) : app_(app) {}

  /// Value     int, unsigned, std::uint64_t, double or a vector of them
  template <class Value>
  void number(const std::string& name, Value& value,
              std::type_identity_t<range<typename element<Value>::type>> allowed,
              const std::string& meaning);
  /// Value     std::string or a vector of them
  template <class Value>
  void word(const std::string& name, Value& value, const std::vector<std::string>& allowed,
            const std::string& meaning);
  void flag(const std::string& name, bool& value, const std::string& meaning);
  /// Files that exist. Value: as of word().
  template <class Value>
  void file(const std::string& name, Value& value, const std::string& meaning);
  /// A folder that exists.
  void folder(const std::string& name, std::string& value, const std::string& meaning);

 private:
  CLI::App& app_;
};

}  // namespace cairn::bench
