#include "traces/memory_trace.hpp"

#include <fmt/format.h>

#include "tlm/memory_extension.hpp"

namespace heddle::traces {

MemoryTrace::MemoryTrace(const sc_core::sc_module_name& name, link::Clock clock, std::ostream& out)
    : link::ChannelTap(name), clock_(clock), out_(out) {}

void MemoryTrace::request(const ::tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay) {
  const link::Cycle arrival = clock_.visible_after(delay);
  const auto line = [&](const char* kind) {
    out_ << fmt::format("{:#x} {} {}\n", payload.get_address(), kind, arrival);
  };
  const auto* const extension = payload.get_extension<link::MemoryExtension>();
  if (!payload.is_write()) {
    line(payload.is_read() && extension != nullptr && extension->row_hint ? "RH" : "R");
  }
  if (!payload.is_read()) {
    line("W");
  }
}

}  // namespace heddle::traces
