// SPDX-License-Identifier: Apache-2.0
// expected: a message travels as its bytes
#include <string>

#include <cairn/am/channel.hpp>

#ifdef MUST_NOT_COMPILE
template class cairn::am::channel<std::string>;
#else
template class cairn::am::channel<char>;
#endif
