#include "isa/fault.hpp"

#include <fmt/format.h>

namespace heddle::isa {

std::string_view name_of(Fault::Kind kind) {
  switch (kind) {
    case Fault::Kind::out_of_bounds:
      return "out-of-bounds access";
    case Fault::Kind::misaligned:
      return "misaligned access";
    case Fault::Kind::division_by_zero:
      return "integer division by zero";
    case Fault::Kind::trap:
      return "trap";
    case Fault::Kind::barrier_mismatch:
      return "barrier mismatch";
    case Fault::Kind::deadlock:
      return "deadlock";
    case Fault::Kind::livelock:
      return "livelock";
    case Fault::Kind::resources:
      return "resources exceeded";
    case Fault::Kind::invalid_instruction:
      return "invalid instruction";
    case Fault::Kind::bus_error:
      return "bus error";
  }
  return "fault";
}

std::string describe(const Fault& fault, const Module& module) {
  std::string out = fmt::format("{} in kernel '{}'", name_of(fault.kind), fault.kernel);
  if (fault.kind != Fault::Kind::resources) {
    const Kernel* kernel = module.find(fault.kernel);
    out += fmt::format(" at PC {}", fault.pc);
    if (kernel != nullptr && fault.pc < kernel->words.size()) {
      out += ", " + describe_pc(module, *kernel, fault.pc);
    }
    out += fmt::format(", block ({}, {}, {}), thread ({}, {}, {})", fault.block.x, fault.block.y, fault.block.z,
                       fault.thread.x, fault.thread.y, fault.thread.z);
  }
  if (fault.size != 0) {
    out += fmt::format(": {} {} at address {:#x}", fault.size, fault.size == 1 ? "byte" : "bytes", fault.address);
  }
  if (!fault.detail.empty()) {
    out += ": " + fault.detail;
  }
  return out;
}

}  // namespace heddle::isa
