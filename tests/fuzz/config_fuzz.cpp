// libFuzzer target: no text may crash or hang the reader of machine files. Bad input must end in an InputError;
// anything else that is thrown, and every sanitizer report, is a finding.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.hpp"
#include "tb/config/config.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto machine = heddle::tb::parse_machine({reinterpret_cast<const char*>(data), size}, "fuzz.toml");
    static_cast<void>(machine);
  } catch (const heddle::InputError&) {
  }
  return 0;
}
