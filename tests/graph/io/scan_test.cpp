// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>
#include <cairn/graph/io/scan.hpp>

namespace cairn::graph::io::scan_test {
namespace {

/// A text as scanners want it: zeros behind it.
class padded_text {
 public:
  explicit padded_text(std::string text) : size_(text.size()), text_(std::move(text)) {
    text_.append(16, '\0');
  }
  [[nodiscard]] const char* begin() const { return text_.data(); }
  [[nodiscard]] const char* end() const { return text_.data() + size_; }

 private:
  std::size_t size_;
  std::string text_;
};

template <class F>
std::string fault_of(F&& f) {
  try {
    f();
  } catch (const text_fault& fault) {
    return fault.problem;
  }
  return "no fault";
}

TEST(Scan, IdsOfEveryLengthReadAsTheyAreWritten) {
  random64 draw(1);
  for (int digits = 1; digits <= 19; ++digits) {
    for (int i = 0; i < 1000; ++i) {
      std::string text;
      for (int d = 0; d < digits; ++d) text += static_cast<char>('0' + draw.below(10));
      for (const char behind : {' ', '\n', '\t', ',', '\r', '\0', '/', ':', 'a', '\xff'}) {
        const padded_text padded(text + behind);
        std::uint64_t value = 0;
        const char* const stop = scan_id(padded.begin(), padded.end(), value);
        ASSERT_EQ(stop - padded.begin(), digits) << text;
        ASSERT_EQ(value, std::stoull(text));
      }
    }
  }
}

TEST(Scan, IdsEndBelowTheWordThatMeansNoVertex) {
  std::uint64_t value = 0;
  const padded_text largest("18446744073709551614");
  scan_id(largest.begin(), largest.end(), value);
  EXPECT_EQ(value, std::numeric_limits<std::uint64_t>::max() - 1);
  for (const char* text : {"18446744073709551615", "18446744073709551616", "99999999999999999999",
                           "184467440737095516140", "100000000000000000000000"}) {
    const padded_text padded{text};
    EXPECT_NE(fault_of([&] { scan_id(padded.begin(), padded.end(), value); }).find("too large"),
              std::string::npos)
        << text;
  }
}

TEST(Scan, WhatIsNoIdIsNamed) {
  const auto fault = [](const char* text) {
    const padded_text padded{text};
    std::uint64_t value = 0;
    return fault_of([&] { scan_id(padded.begin(), padded.end(), value); });
  };
  EXPECT_EQ(fault("-5 7"), "expected an id, found the negative number '-5'");
  EXPECT_EQ(fault("abc 7"), "expected an id (an integer), found 'abc'");
  EXPECT_EQ(fault(""), "expected an id (an integer), found the end of the line");
  EXPECT_EQ(fault("\x01\xfe"), "expected an id (an integer), found '\\x01\\xfe'");
}

TEST(Scan, WhatIsFoundIsQuoted) {
  const auto word = [](const char* text) {
    const padded_text padded{text};
    return quoted(padded.begin(), padded.end());
  };
  EXPECT_EQ(word("ab c"), "'ab'");
  EXPECT_EQ(word(" c"), "a blank");
  for (const char* text : {"", "\nab", "\r\n"}) EXPECT_EQ(word(text), "the end of the line");
  const auto line = [](const std::string& text) {
    const padded_text padded{text};
    return quoted_line(padded.begin(), padded.end());
  };
  EXPECT_EQ(line(" a, b \r\nc"), "'a, b'");
  EXPECT_EQ(line(" \n"), "the end of the line");
  EXPECT_EQ(line(std::string(60, 'x')), "'" + std::string(60, 'x') + "'");
  EXPECT_EQ(line(std::string(61, 'x')), "'" + std::string(60, 'x') + "...'");
}

TEST(Scan, WholeWeightsAreThoseThatFit31BitsAndASign) {
  const auto whole = [](const char* text) -> std::string {
    const padded_text padded{text};
    std::int32_t value = 0;
    const char* const stop = scan_integer(padded.begin(), value);
    return stop == padded.end() ? std::to_string(value) : "no";
  };
  EXPECT_EQ(whole("0"), "0");
  EXPECT_EQ(whole("-17"), "-17");
  EXPECT_EQ(whole("+17"), "17");
  EXPECT_EQ(whole("2147483647"), "2147483647");
  EXPECT_EQ(whole("-2147483647"), "-2147483647");
  EXPECT_EQ(whole("0000000000012"), "12");
  for (const char* text : {"2147483648", "99999999999999999999999", "1.5", "1e3", "-", "nan", ""}) {
    EXPECT_EQ(whole(text), "no") << text;
  }
}

TEST(Scan, RealWeightsAreFiniteNumbers) {
  const auto real = [](const std::string& text) {
    const padded_text padded{text};
    double value = 1;
    scan_real(padded.begin(), padded.end(), value);
    return value;
  };
  EXPECT_EQ(real("1.5"), 1.5);
  EXPECT_EQ(real("+1e-3"), 0.001);
  EXPECT_EQ(real("-99999999999999999999"), -1e20);
  EXPECT_EQ(real("1e-400"), 0);
  EXPECT_EQ(real("0." + std::string(400, '0') + "1"), 0);
  EXPECT_TRUE(std::signbit(real("-2.5e-400")));
  EXPECT_EQ(real("5e-324"), std::numeric_limits<double>::denorm_min());
  for (const char* text : {"nan", "inf", "-inf", "1e999", "1e-400x", "1.5x", "", "+-1", "--1"}) {
    EXPECT_NE(fault_of([&] { real(text); }), "no fault") << text;
  }
  const padded_text large("1e999");
  double value = 0;
  EXPECT_EQ(fault_of([&] { scan_real(large.begin(), large.end(), value, "value"); }),
            "the value '1e999' is beyond the range of doubles");
}

}  // namespace
}  // namespace cairn::graph::io::scan_test
