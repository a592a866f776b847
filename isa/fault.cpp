#include "isa/fault.hpp"

#include <fmt/format.h>

#include <algorithm>

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
    case Fault::Kind::assertion:
      return "assertion failed";
    case Fault::Kind::no_texture:
      return "fetch without a texture";
    case Fault::Kind::bad_free:
      return "bad free";
    case Fault::Kind::heap_room:
      return "no room on the device heap";
    case Fault::Kind::dependence:
      return "dependence not kept";
    case Fault::Kind::shared_bytes:
      return "bytes shared between cores";
  }
  return "fault";
}

namespace {

// `source`: the line of the PC, if known.
std::string describe_at(const Fault& fault, const std::string& source) {
  std::string out = fmt::format("{} in kernel '{}'", name_of(fault.kind), fault.kernel);
  if (fault.kind != Fault::Kind::resources && fault.kind != Fault::Kind::shared_bytes) {
    out += fmt::format(" at PC {}", fault.pc);
    out += source.empty() ? "" : ", " + source;
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

}  // namespace

std::string describe(const Fault& fault, const Module& module) {
  const Kernel* const kernel = module.find(fault.kernel);
  const bool known = kernel != nullptr && fault.pc < kernel->words.size();
  return describe_at(fault, known ? describe_pc(module, *kernel, fault.pc) : "");
}

std::string describe_no_texture(std::uint64_t handle) {
  return handle == 0 ? "the handle is 0: a texture reference that nothing is bound to, or no texture object"
                     : fmt::format("{:#x} is the handle of no texture; its object may have been destroyed", handle);
}

std::string describe(const StrayLoads& loads) {
  const std::string first = describe_at(loads.first, loads.source);
  return loads.count == 1 ? "a load read 0: " + first
                          : fmt::format("{} loads by one instruction read 0; the first: {}", loads.count, first);
}

void add(std::vector<StrayLoads>& to, const StrayLoads& loads) {
  const auto known = std::find_if(to.begin(), to.end(), [&](const StrayLoads& other) {
    return other.first.pc == loads.first.pc && other.first.kernel == loads.first.kernel;
  });
  if (known == to.end()) {
    to.push_back(loads);
  } else {
    known->count += loads.count;
  }
}

}  // namespace heddle::isa
