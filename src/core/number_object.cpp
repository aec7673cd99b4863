// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cmath>
#include <fstream>

#include <cairn/base/error.hpp>
#include <cairn/core/number_object.hpp>

namespace cairn {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view space = " \t\r\n";
  const auto first = text.find_first_not_of(space);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(space) - first + 1);
}

}  // namespace

void read_number_object(const std::string& path, const std::string& expected,
                        const std::function<bool(std::string_view name, double value)>& take) {
  const auto take_member = [&](std::string_view member) {
    const auto colon = member.find(':');
    if (colon == std::string_view::npos) return false;
    const auto name = trimmed(member.substr(0, colon));
    const auto value = trimmed(member.substr(colon + 1));
    if (name.size() < 3 || name.front() != '"' || name.back() != '"') return false;
    double number = 0;
    const auto* const end = value.data() + value.size();
    const auto read = std::from_chars(value.data(), end, number);
    if (read.ec != std::errc{} || read.ptr != end || !std::isfinite(number)) return false;
    return take(name.substr(1, name.size() - 2), number);
  };
  std::ifstream file(path);
  if (!file) throw input_error(path + ": cannot be read");
  std::string whole;
  for (char c = 0; file.get(c);) whole.push_back(c);
  if (file.bad()) throw input_error(path + ": cannot be read");  // a folder, for instance
  auto members = trimmed(whole);
  if (members.size() < 2 || members.front() != '{' || members.back() != '}') {
    throw input_error(path + ": expected an object of numbers with " + expected);
  }
  members = trimmed(members.substr(1, members.size() - 2));
  for (bool more = !members.empty(); more;) {
    const auto comma = members.find(',');
    more = comma != std::string_view::npos;
    const auto member = trimmed(members.substr(0, comma));
    members.remove_prefix(more ? comma + 1 : members.size());
    if (!take_member(member)) {
      throw input_error(path + ": expected " + expected + ", not " + std::string(member));
    }
  }
}

}  // namespace cairn
