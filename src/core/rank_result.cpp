// SPDX-License-Identifier: Apache-2.0
#include "core/rank_result.hpp"

#include <cstdint>
#include <exception>
#include <new>
#include <string>

#include <cairn/base/error.hpp>
#include <cairn/base/format.hpp>
#include <cairn/hw/memory.hpp>

#include "core/stop_cause.hpp"

namespace cairn {

namespace {

// If no memory is left for the details, the sentence is "out of memory".
std::string out_of_memory() noexcept {
  try {
    const auto addresses = hw::available_addresses(), memory = hw::available_memory();
    const bool limited = addresses < memory;
    return "out of memory: an allocation failed, with " +
           format_bytes(limited ? addresses : memory) + " available" +
           (limited ? " to a process (ulimit -v)" : "");
  } catch (...) {
    return "out of memory";  // fits into a string without an allocation
  }
}

}  // namespace

rank_result result_by_exception() {
  try {
    throw;
  } catch (const usage_error& e) {
    return {2, e.what(), true};
  } catch (const input_error& e) {
    return {2, e.what(), true};
  } catch (const stopped& e) {
    return {e.cause().status(), e.what(), true};
  } catch (const cancelled& e) {
    return {stop_cause::program().status(), e.what(), true};
  } catch (const std::bad_alloc&) {
    return {1, out_of_memory(), true};
  } catch (const std::exception& e) {
    return {1, e.what(), true};
  } catch (...) {
    return {1, "an exception of unknown type", true};
  }
}

}  // namespace cairn
