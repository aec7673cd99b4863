// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include <CLI/CLI.hpp>
#include <bench/argument_list.hpp>

namespace cairn::bench {

template <class Value>
void argument_list::number(const std::string& name, Value& value,
                           std::type_identity_t<range<typename element<Value>::type>> allowed,
                           const std::string& meaning) {
  app_.add_option(name, value, meaning)
      ->check(CLI::Range(allowed.min, allowed.max))
      ->capture_default_str();
}

template <class Value>
void argument_list::word(const std::string& name, Value& value,
                         const std::vector<std::string>& allowed, const std::string& meaning) {
  app_.add_option(name, value, meaning)->check(CLI::IsMember(allowed))->capture_default_str();
}

void argument_list::flag(const std::string& name, bool& value, const std::string& meaning) {
  app_.add_flag(name, value, meaning);
}

template <class Value>
void argument_list::file(const std::string& name, Value& value, const std::string& meaning) {
  app_.add_option(name, value, meaning)->check(CLI::ExistingFile);
}

void argument_list::folder(const std::string& name, std::string& value,
                           const std::string& meaning) {
  app_.add_option(name, value, meaning)->check(CLI::ExistingDirectory)->capture_default_str();
}

#define CAIRN_NUMBER(Value)                                                                       \
  template void argument_list::number(const std::string&, Value&,                                 \
                                      std::type_identity_t<range<typename element<Value>::type>>, \
                                      const std::string&)
CAIRN_NUMBER(int);
CAIRN_NUMBER(unsigned);
CAIRN_NUMBER(std::uint64_t);
CAIRN_NUMBER(double);
CAIRN_NUMBER(std::vector<int>);
CAIRN_NUMBER(std::vector<unsigned>);
CAIRN_NUMBER(std::vector<std::uint64_t>);
#undef CAIRN_NUMBER

template void argument_list::word(const std::string&, std::string&, const std::vector<std::string>&,
                                  const std::string&);
template void argument_list::word(const std::string&, std::vector<std::string>&,
                                  const std::vector<std::string>&, const std::string&);
template void argument_list::file(const std::string&, std::string&, const std::string&);
template void argument_list::file(const std::string&, std::vector<std::string>&,
                                  const std::string&);

}  // namespace cairn::bench
