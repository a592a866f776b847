// The same host and GPU with a bus and memories from elsewhere, as they are: the example models that come with SystemC
// (Debian: libsystemc-doc). The bus and the memories do the timing, so that the GPU's own controllers do none.
//
//   platform_accellera [at-4-phase | at-2-phase | at-1-phase | lt | lt-dmi]
#include <cstdio>
#include <string>
#include <systemc>

#define REPORT_DEFINE_GLOBALS  // what the models report with, off at first, is defined here
#include "reporting.h"

#include "at_target_1_phase.h"
#include "at_target_2_phase.h"
#include "at_target_4_phase.h"
#include "lt_dmi_target.h"
#include "lt_target.h"
#include "models/SimpleBusAT.h"

#include "host.hpp"
#include "hw/gpu/gpu.hpp"
#include "tlm/protocol_checker.hpp"

namespace {

template <class Memory>
int run() {
  heddle::hw::Machine machine;
  machine.dram.timing = "none";
  heddle::hw::Gpu gpu("gpu", machine);
  heddle::link::ProtocolChecker checker("checker");  // of the rules of the standard: leave it out when you trust us
  SimpleBusAT<2, 1> bus("bus");
  const auto ns = [](double value) { return sc_core::sc_time(value, sc_core::SC_NS); };
  Memory memory("memory", 0, "socket", kMemoryBytes, 4, ns(2), ns(60), ns(40));  // accepts, reads and writes in so long
  Host host("host");
  sc_core::sc_signal<bool> interrupt("interrupt");
  gpu.memory[0].bind(checker.target);
  checker.initiator.bind(bus.target_socket[0]);
  host.memory.bind(bus.target_socket[1]);
  bus.initiator_socket[0].bind(memory.m_memory_socket);
  host.registers.bind(gpu.control);
  gpu.interrupt(interrupt);
  host.interrupt(interrupt);
  sc_core::sc_start();
  std::printf("%llu transactions of the GPU, %llu violations of the protocol\n",
              static_cast<unsigned long long>(checker.transactions()),
              static_cast<unsigned long long>(checker.violations()));
  return host.passed && checker.violations() == 0 && checker.outstanding() == 0 ? 0 : 1;
}

}  // namespace

int sc_main(int argc, char** argv) {
  const std::string kind = argc > 1 ? argv[1] : "at-4-phase";
  if (kind == "at-4-phase") {
    return run<at_target_4_phase>();
  }
  if (kind == "at-2-phase") {
    return run<at_target_2_phase>();
  }
  if (kind == "at-1-phase") {
    return run<at_target_1_phase>();
  }
  if (kind == "lt") {
    return run<lt_target>();
  }
  if (kind == "lt-dmi") {
    return run<lt_dmi_target>();
  }
  std::fprintf(stderr, "no such memory: %s\n", kind.c_str());
  return 2;
}
