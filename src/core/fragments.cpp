// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include <cairn/base/contract.hpp>
#include <cairn/core/fragments.hpp>

namespace cairn {
namespace {

constexpr std::uint64_t max_message_bytes = std::uint64_t{1} << 48;  // more is a damaged header

}  // namespace

std::span<const std::byte> fragments::fragment_of(std::span<const std::byte> packet,
                                                  const fragment_header& header,
                                                  std::size_t max_bytes) {
  packet_header common;
  std::memcpy(&common, packet.data(), sizeof common);
  common.fragment = true;
  const auto bytes = std::min<std::size_t>(max_bytes, header.total - header.offset);
  fragment_.resize(sizeof common + sizeof header + bytes);
  auto* at = fragment_.data();
  std::memcpy(at, &common, sizeof common);
  std::memcpy(at + sizeof common, &header, sizeof header);
  std::memcpy(at + sizeof common + sizeof header, packet.data() + sizeof common + header.offset,
              bytes);
  return fragment_;
}

std::optional<buffer> fragments::join(rank_t from, std::span<const std::byte> fragment) {
  packet_header common;
  fragment_header header;
  CAIRN_EXPECTS(fragment.size() >= sizeof common + sizeof header, "a truncated fragment");
  std::memcpy(&common, fragment.data(), sizeof common);
  std::memcpy(&header, fragment.data() + sizeof common, sizeof header);
  const auto bytes = fragment.subspan(sizeof common + sizeof header);
  CAIRN_EXPECTS(header.total <= max_message_bytes && header.offset <= header.total &&
                    bytes.size() <= header.total - header.offset,
                "a fragment beyond its payload");
  auto& part = partials_[{from, header.sequence}];
  if (!part.whole) {
    common.fragment = false;
    part.whole = buffer(header.total);
    part.whole.set_size(header.total);
    part.whole.header() = common;
    part.whole.from = from;
    part.missing = header.total;
  }
  CAIRN_EXPECTS(header.total == part.whole.size() && bytes.size() <= part.missing,
                "a fragment that contradicts another one");
  if (!bytes.empty()) std::memcpy(part.whole.payload() + header.offset, bytes.data(), bytes.size());
  part.missing -= bytes.size();
  if (part.missing != 0) return std::nullopt;
  auto whole = std::move(part.whole);
  partials_.erase({from, header.sequence});
  return whole;
}

}  // namespace cairn
