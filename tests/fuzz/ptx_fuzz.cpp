// libFuzzer target: no text may crash or hang the PTX front end. Bad input must end in an InputError; anything else
// that is thrown, and every sanitizer report, is a finding.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.hpp"
#include "ptx/compile.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto module = heddle::ptx::compile({reinterpret_cast<const char*>(data), size}, "fuzz.ptx");
    static_cast<void>(module);
  } catch (const heddle::InputError&) {
  }
  return 0;
}
