// SPDX-License-Identifier: Apache-2.0
#include "core/rank_result.hpp"

#include <exception>
#include <new>

#include <cairn/base/error.hpp>

#include "core/stop_cause.hpp"

namespace cairn {

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
    return {1, "out of memory", true};
  } catch (const std::exception& e) {
    return {1, e.what(), true};
  } catch (...) {
    return {1, "an exception of unknown type", true};
  }
}

}  // namespace cairn
