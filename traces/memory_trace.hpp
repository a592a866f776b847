// The requests that reach the memory channels, as the load/store text that DRAM simulators read: one request a line,
//
//   0x10000080 R 1234
//
// address in hex, R or W (an atomic is an R and a W; RH is a read with a row-buffer hint), and the cycle in which the
// request reached the controller. Text after the second word is ignored by readers that replay as fast as they can.
// Lines come in the order of arrival; requests of one cycle in the order of their channels' calls.
#pragma once

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>

#include "tlm/channel_tap.hpp"
#include "tlm/clock.hpp"

namespace heddle::traces {

class MemoryTrace final : public link::ChannelTap {
 public:
  // `out` outlives the tap; several channels may share it.
  MemoryTrace(const sc_core::sc_module_name& name, link::Clock clock, std::ostream& out);

 private:
  void request(const ::tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay) override;

  link::Clock clock_;
  std::ostream& out_;
};

}  // namespace heddle::traces
