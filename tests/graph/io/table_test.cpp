// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <cairn/graph/io/table.hpp>

#include "files.hpp"

namespace cairn::graph::io::table_test {
namespace {

using test::folder;

const std::vector<std::string> endings{".csv",    ".tsv",    ".npy",     ".csv.gz", ".tsv.zst",
                                       ".npy.xz", ".npy.gz", ".csv.zst", ".npy.zst"};

table read_back(const std::string& path, std::uint64_t max_rows = std::uint64_t{1} << 40) {
  const auto pool = task::make_threads({.workers = 2});
  return read_table(*pool, path, max_rows);
}

template <class T>
table table_of(std::vector<T> values) {
  table rows;
  rows.value_name = "depth";
  for (std::size_t i = 0; i < values.size(); ++i) rows.ids.push_back(i * 3);
  rows.values = std::move(values);
  return rows;
}

constexpr auto max = std::numeric_limits<std::uint64_t>::max();

TEST(Table, CountsReadBackWithTheirGaps) {
  const folder dir;
  auto rows = table_of<std::uint64_t>({0, 7, missing_value<std::uint64_t>, max - 1});
  rows.ids.back() = max - 1;
  for (const auto& ending : endings) {
    write_table(dir / ("t" + ending), rows);
    const auto back = read_back(dir / ("t" + ending));
    EXPECT_EQ(back.value_name, "depth");
    EXPECT_EQ(back.ids, rows.ids) << ending;
    EXPECT_EQ(back.values, rows.values) << ending;
  }
}

TEST(Table, SignedNumbersReadBackWithTheirGaps) {
  const folder dir;
  const auto rows = table_of<std::int64_t>({std::numeric_limits<std::int64_t>::min(), 5,
                                            missing_value<std::int64_t>,
                                            std::numeric_limits<std::int64_t>::max()});
  for (const auto& ending : endings) {
    write_table(dir / ("t" + ending), rows);
    EXPECT_EQ(read_back(dir / ("t" + ending)).values, rows.values) << ending;
  }
}

TEST(Table, RealNumbersReadBackToTheLastBit) {
  const folder dir;
  const auto rows =
      table_of<double>({0.0, -0.0, 3.0, 0.1, 1e300, 5e-324, -1.0 / 3, 1e22,
                        std::numeric_limits<double>::infinity(), missing_value<double>});
  const auto& expected = std::get<std::vector<double>>(rows.values);
  for (const auto& ending : endings) {
    write_table(dir / ("t" + ending), rows);
    const auto back = read_back(dir / ("t" + ending));
    const auto& values = std::get<std::vector<double>>(back.values);
    ASSERT_EQ(values.size(), expected.size());
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
      EXPECT_EQ(values[i], expected[i]) << ending;
      EXPECT_EQ(std::signbit(values[i]), std::signbit(expected[i])) << ending;
    }
    EXPECT_TRUE(std::isnan(values.back())) << ending;
  }
}

TEST(Table, TextLooksAsPromised) {
  const folder dir;
  write_table(dir / "t.csv", table_of<std::uint64_t>({0, missing_value<std::uint64_t>}));
  EXPECT_EQ(test::bytes_of(dir / "t.csv"), "id,depth\n0,0\n3,\n");
  write_table(dir / "t.tsv", table_of<double>({2.0, missing_value<double>}));
  EXPECT_EQ(test::bytes_of(dir / "t.tsv"), "id\tdepth\n0\t2.0\n3\t\n");
}

TEST(Table, ArraysLookAsNumPyWritesThem) {
  const folder dir;
  write_table(dir / "t.npy", table_of<std::int64_t>({7, missing_value<std::int64_t>}));
  const auto bytes = test::bytes_of(dir / "t.npy");
  ASSERT_EQ(bytes.size(), 128u + 2 * 16);
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\0", 8));
  EXPECT_EQ(bytes.substr(8, 2), std::string("\x76\0", 2));
  EXPECT_EQ(bytes.substr(10, 80),
            "{'descr': [('id', '<u8'), ('depth', '<i8')], 'fortran_order': False, 'shape': (2");
  EXPECT_EQ(bytes[127], '\n');
  EXPECT_EQ(bytes.substr(128), std::string("\0\0\0\0\0\0\0\0\7\0\0\0\0\0\0\0"
                                           "\3\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff",
                                           32));
}

TEST(Table, ManyRowsMayBeAppendedInParts) {
  const folder dir;
  std::vector<std::uint64_t> values(300'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i * i;
  const auto rows = table_of(values);
  for (const std::string ending : {".csv", ".npy", ".csv.zst"}) {
    table_writer file(dir / ("t" + ending), {.value_name = "depth", .num_rows = values.size()});
    for (std::size_t at = 0; at < values.size(); at += 70'000) {
      const auto n = std::min<std::size_t>(70'000, values.size() - at);
      file.append(std::span(rows.ids).subspan(at, n),
                  std::span<const std::uint64_t>(values).subspan(at, n));
    }
    file.finish();
    const auto back = read_back(dir / ("t" + ending));
    EXPECT_EQ(back.ids, rows.ids) << ending;
    EXPECT_EQ(back.values, rows.values) << ending;
  }
}

TEST(Table, TablesOfOtherProgramsAreRead) {
  const folder dir;
  const auto rows = read_back(dir.plain("t.csv", "id,rank\r\n5,-2\r\n7,2\r\n\r\n"));
  EXPECT_EQ(rows.value_name, "rank");
  EXPECT_EQ(rows.ids, (std::vector<std::uint64_t>{5, 7}));
  EXPECT_EQ(rows.values, value_vector(std::vector<std::int64_t>{-2, 2}));
}

TEST(Table, FieldsMayHaveBlanksAroundThem) {
  const folder dir;
  constexpr auto none = missing_value<std::uint64_t>;
  for (const auto& path : {dir.plain("t.csv", "id\t, rank \n0 ,1\n 2,\t3 \r\n 4 , \n"),
                           dir.plain("t.tsv", " id \t rank \n0 \t1\n 2\t 3 \r\n 4 \t \n")}) {
    const auto rows = read_back(path);
    EXPECT_EQ(rows.value_name, "rank");
    EXPECT_EQ(rows.ids, (std::vector<std::uint64_t>{0, 2, 4}));
    EXPECT_EQ(rows.values, value_vector(std::vector<std::uint64_t>{1, 3, none}));
  }
}

TEST(Table, InTextOnlyAnEmptyFieldMeansNoValue) {
  const folder dir;
  for (const std::string number : {"-1", "18446744073709551615"}) {
    const auto rows = read_back(dir.plain("t.csv", "id,depth\n0," + number + "\n1,\n"));
    const auto values = std::get<std::vector<double>>(rows.values);
    EXPECT_EQ(values[0], std::stod(number));
    EXPECT_TRUE(std::isnan(values[1]));
  }
}

TEST(Table, ANumpyFileMayHaveAnyVersionOfTheFormat) {
  const folder dir;
  const auto whole = table_of<std::uint64_t>({1, 2});
  write_table(dir / "a.npy", whole);
  const auto npy = test::bytes_of(dir / "a.npy");
  for (const char version : {'\x02', '\x03'}) {  // their headers' lengths have four bytes
    auto bytes = npy.substr(0, 10) + std::string(2, '\0') + npy.substr(10);
    bytes[6] = version;
    const auto rows = read_back(dir.plain("b.npy", bytes));
    EXPECT_EQ(rows.ids, whole.ids);
    EXPECT_EQ(rows.values, whole.values);
  }
}

struct bad_table {
  const char* name;
  std::string bytes;
  const char* said;
};

TEST(Table, EveryMalformedTableGetsItsSentence) {
  const folder dir;
  write_table(dir / "good.npy", table_of<std::uint64_t>({1, 2}));
  const auto npy = test::bytes_of(dir / "good.npy");
  const auto changed = [&](const std::string& from, const std::string& to) {
    auto bytes = npy;
    return bytes.replace(bytes.find(from), from.size(), to);
  };
  const std::vector<bad_table> files{
      {"a.csv", "0,1\n", "a.csv:1: expected a header line 'id,NAME', found '0,1'"},
      {"b.csv", "id,a,b\n0,1,2\n", "b.csv:1: expected a header line 'id,NAME', found 'id,a,b'"},
      {"c.csv", "id,depth\n0,1\nx,2\n", "c.csv:3: expected an id (an integer), found 'x'"},
      {"d.csv", "id,depth\n0,1\n1\n", "d.csv:3: expected a comma, found the end of the line"},
      {"e.csv", "id,depth\n0,1\n1,two\n", "e.csv:3: expected a number or nothing, found 'two'"},
      {"f.csv", "id,depth\n0,1,2\n", "f.csv:2: expected a number or nothing, found '1,2'"},
      {"h.csv", "id,depth\n0,1\n1,nan\n", "h.csv:3: expected a number or nothing, found 'nan'"},
      {"j.csv", "id,depth\n0 1\n", "j.csv:2: expected a comma, found '1'"},
      {"g.csv", "id,depth\n-1,2\n", "g.csv:2: expected an id, found the negative number '-1'"},
      {"i.csv", "", "i.csv: is empty"},
      {"a.txt", "0 1\n",
       "a.txt: the name must end in .csv, .tsv or .npy (then .gz, .zst or .xz if compressed)"},
      {"a.npy", "id,depth\n", "a.npy: at byte 9: the file ends within its header"},
      {"b.npy", "id,depth\n1,2\n3,4\n",
       "b.npy: at byte 0: the file does not start with the .npy signature"},
      {"c.npy", npy.substr(0, npy.size() - 1),
       "c.npy: at byte 159: the file ends at or after row 0, but its header declares 2 rows"},
      {"d.npy", npy + "x",
       "d.npy: at byte 160: the file contains data after the 2 rows that its header declares"},
      {"e.npy", changed("<u8')]", "<c8')]"),
       "e.npy: at byte 46: in the header of the array: expected a type '<u8', '<i8' or '<f8', "
       "found ''<c8')]'"},
      {"f.npy", changed("(2,)", "2000"),
       "f.npy: at byte 88: in the header of the array: expected '(', found '2000'"},
      {"g.npy", changed("(2,), }    ", "(200000000000,), }").substr(0, npy.size()),
       "g.npy: at byte 160: the file ends at or after row 0, but its header declares 200000000000 "
       "rows"},
      {"i.npy", changed(std::string("\x01\0\x76", 3), std::string("\x03\0\x76", 3)),
       "i.npy: at byte 8: the header of version 3 declares 662372470 bytes, expected at most 64 "
       "KiB"},
      {"h.npy", changed(std::string("\x01\0\x76", 3), std::string("\x09\0\x76", 3)),
       "h.npy: at byte 6: expected version 1, 2 or 3 of the .npy format, found 9"},
  };
  for (const auto& file : files) {
    const auto path = dir.plain(file.name, file.bytes);
    const auto said = test::sentence_of(path, [&] { static_cast<void>(read_back(path)); });
    EXPECT_EQ(said, file.said);
  }
}

TEST(Table, MoreRowsThanExpectedAreRefused) {
  const folder dir;
  const auto rows = table_of<std::uint64_t>({7, 8, 9});
  for (const auto& ending : endings) {
    const auto path = dir / ("t" + ending);
    write_table(path, rows);
    EXPECT_EQ(read_back(path, 3).ids.size(), 3u) << ending;
    EXPECT_EQ(test::sentence_of(path, [&] { static_cast<void>(read_back(path, 2)); }),
              "t" + ending + ": has more than the expected 2 rows");
  }
}

TEST(Table, ANameWithAnotherEndingIsAUsageError) {
  const folder dir;
  const table_shape shape{.value_name = "depth", .num_rows = 1};
  EXPECT_THROW(table_writer(dir / "t.txt", shape), usage_error);
}

}  // namespace
}  // namespace cairn::graph::io::table_test
