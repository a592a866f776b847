// What a device has counted, as text: for tests that compare runs.
#pragma once

#include <string>

#include "tb/device/device.hpp"

namespace heddle::test {

// Every figure of the summary and every counter by its hierarchical name, a line each.
[[nodiscard]] std::string counters_of(tb::Device& device);

}  // namespace heddle::test
