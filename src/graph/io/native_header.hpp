// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include <cairn/base/error.hpp>
#include <cairn/graph/io/checksum.hpp>

namespace cairn::graph::io {

inline constexpr std::size_t native_page = 4096;

struct native_section {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;
};

enum native_section_name : std::size_t {
  offsets_section,
  targets_section,
  weights_section,
  labels_section,
  attachment_section
};
inline constexpr std::array<const char*, 5> native_section_names{"offsets", "targets", "weights",
                                                                 "labels", "the attachment"};

/// The fields of a header in the layout of the file; see native.hpp.
struct native_header {
  static constexpr std::array<char, 8> expected_magic{'\x89', 'c', 'a', 'i', 'r', 'n', '\r', '\n'};

  std::array<char, 8> magic = expected_magic;
  std::uint32_t version = 1;
  std::uint32_t directed = 0;
  std::uint32_t id_bytes = 4;
  std::uint32_t weights = 0;
  std::uint64_t num_vertices = 0;
  std::uint64_t num_entries = 0;
  std::uint64_t num_edges = 0;
  std::array<native_section, 4> sections{};
  std::uint64_t checksum = 0;
  std::array<char, 16> attachment_name{};
  native_section attachment{};
  std::uint64_t attachment_checksum = 0;  // of its name and section

  [[nodiscard]] std::uint64_t own_checksum() const noexcept {
    return io::checksum(std::as_bytes(std::span(this, 1)).first(offsetof(native_header, checksum)));
  }
  [[nodiscard]] std::uint64_t own_attachment_checksum() const noexcept {
    constexpr auto first = offsetof(native_header, attachment_name);
    return io::checksum(std::as_bytes(std::span(this, 1))
                            .subspan(first, offsetof(native_header, attachment_checksum) - first));
  }
  [[nodiscard]] bool has_attachment() const noexcept { return version > 3; }
  /// The version for the same kind of labels without an attachment.
  [[nodiscard]] std::uint32_t label_version() const noexcept { return (version - 1) % 3 + 1; }
  [[nodiscard]] const native_section& section(std::size_t i) const noexcept {
    return i < sections.size() ? sections[i] : attachment;
  }

  /// Sets the offset and size of each section from the counts; checksums are unchanged.
  /// label_bytes  of the labels section; 0: absent
  void place_sections(std::uint64_t label_bytes) noexcept {
    constexpr std::array<std::uint64_t, 3> weight_bytes{0, 4, 8};
    const std::array<std::uint64_t, 4> bytes{(num_vertices + 1) * 8, num_entries * id_bytes,
                                             num_entries * weight_bytes[weights], label_bytes};
    std::uint64_t at = native_page;
    for (std::size_t i = 0; i < sections.size(); ++i) {
      sections[i].offset = bytes[i] == 0 ? 0 : at;
      sections[i].bytes = bytes[i];
      at += (bytes[i] + native_page - 1) / native_page * native_page;
    }
    attachment.offset = has_attachment() ? at : 0;
  }

  /// The required size of the labels section, given its stated size; a lower bound for texts.
  [[nodiscard]] std::uint64_t expected_label_bytes() const noexcept {
    constexpr std::uint64_t max_bytes = std::uint64_t{1} << 60;
    const auto said = sections[labels_section].bytes;
    const auto kind = label_version();
    if (kind == 3) return std::clamp(said, (num_vertices + 1) * 8, max_bytes);
    return kind == 2 || said != 0 ? num_vertices * 8 : 0;
  }

  /// The size of a file with these sections; it ends with the last byte of the last one.
  [[nodiscard]] std::uint64_t file_bytes() const noexcept {
    std::uint64_t end = native_page;
    for (const auto& section : sections) end = std::max(end, section.offset + section.bytes);
    return has_attachment() ? attachment.offset + attachment.bytes : end;
  }

  /// Throws    input_error at the byte of the first invalid field
  void validate(const std::string& path) const {
    const auto fail = [&](std::size_t at, const std::string& problem) {
      throw input_error::at_byte(path, at, problem);
    };
    if (magic != expected_magic) fail(0, "the file does not start with the .cairn signature");
    if (version < 1 || version > 6) {
      fail(offsetof(native_header, version),
           "expected a version from 1 to 6 of the format, found " + std::to_string(version));
    }
    if (checksum != own_checksum()) {
      fail(offsetof(native_header, checksum), "the checksum of the header is wrong");
    }
    // Only a program that writes invalid fields with a valid checksum fails the checks below.
    constexpr std::uint64_t max_count = std::uint64_t{1} << 56;
    if (directed > 1 || (id_bytes != 4 && id_bytes != 8) || weights > 2 || num_vertices == 0 ||
        num_vertices > max_count || num_entries > max_count || num_edges > num_entries ||
        (id_bytes == 4) != (num_vertices < 0xffff'ffffu)) {
      fail(offsetof(native_header, directed), "the header's fields are inconsistent");
    }
    if (directed == 1 && num_edges != num_entries) {
      fail(offsetof(native_header, num_edges),
           "a directed graph has one entry per edge, but the header counts " +
               std::to_string(num_edges) + " edges and " + std::to_string(num_entries) +
               " entries");
    }
    auto placed = *this;
    placed.place_sections(expected_label_bytes());
    for (std::size_t i = 0; i < sections.size(); ++i) {
      if (sections[i].offset != placed.sections[i].offset ||
          sections[i].bytes != placed.sections[i].bytes) {
        fail(offsetof(native_header, sections) + i * sizeof(native_section),
             std::string("the offset or size of section ") + native_section_names[i] +
                 " does not match the header's counts");
      }
    }
    if (!has_attachment()) return;
    if (attachment_checksum != own_attachment_checksum()) {
      fail(offsetof(native_header, attachment_checksum),
           "the checksum of the attachment's header fields is wrong");
    }
    if (attachment.offset != placed.attachment.offset || attachment.bytes == 0 ||
        attachment.bytes > max_count || attachment_name.front() == 0 ||
        attachment_name.back() != 0) {
      fail(offsetof(native_header, attachment_name),
           "the name, offset or size of the attachment is invalid");
    }
  }
};
static_assert(sizeof(native_header) == 8 + 4 * 4 + 3 * 8 + 4 * 24 + 8 + 16 + 24 + 8);

}  // namespace cairn::graph::io
