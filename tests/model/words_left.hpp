// What a kernel written as PTX leaves in memory on a machine.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "hw/gpu/totals.hpp"
#include "isa/device_memory.hpp"
#include "isa/memory_map.hpp"
#include "ptx/compile.hpp"
#include "tb/config/config.hpp"
#include "tb/device/code_options.hpp"
#include "tb/device/device.hpp"

namespace heddle::test {

// The kernel's only parameter is the address of `words`, which come back as it has left them. `as_the_machine_has_it`:
// the code is what the machine wants; else it is as it stands, whatever the machine. `totals`: null, or where the run's
// go.
inline std::vector<std::uint32_t> words_left_by(const std::string& machine, const std::vector<std::string>& settings,
                                                const std::string& text, isa::LaunchRequest request,
                                                std::vector<std::uint32_t> words, bool as_the_machine_has_it,
                                                const tb::DeviceOptions& options = {}, hw::Totals* totals = nullptr) {
  const hw::Machine made = tb::read_machine(machine, settings);
  tb::Device device(made, options);
  const ptx::CodeOptions code = as_the_machine_has_it ? tb::code_options(made) : ptx::CodeOptions();
  device.load(ptx::compile(text, "kernel.ptx", ptx::CompileOptions(code)));
  const std::uint64_t out = isa::kGlobalBase;
  device.memory().release(out);
  device.memory().place("out", out, 4 * words.size());
  device.memory().write(out, std::as_bytes(std::span(words)));
  request.parameters.resize(8);
  std::memcpy(request.parameters.data(), &out, 8);
  device.launch(request);
  if (totals != nullptr) {
    *totals = device.totals();
  }
  device.memory().read(out, std::as_writable_bytes(std::span(words)));
  return words;
}

}  // namespace heddle::test
