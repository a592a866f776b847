// The TLM-2.0 base protocol on every connection of the whole GPU that speaks it, checked while workloads run: host to
// GPU, both caches to the interconnect, interconnect to L2 slices and DRAM controllers, controllers to memory. (A core
// speaks to its L1 data cache by the line protocol.)
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "tb/device/device.hpp"
#include "tb/device/workload.hpp"
#include "tests/model/machines.hpp"
#include "tests/model/workload_cases.hpp"
#include "tests/support/marks.hpp"
#include "tlm/protocol_checker.hpp"

HEDDLE_LONG("All/Protocol.*_on_nocache_*", "All/Protocol.*_on_l2inclusive_*")
HEDDLE_LONG_SANITIZED("All/Protocol.*", "Direct/Protocol.*", "All/BrokenProtocol.*1", "Tight/Protocol.*")

namespace heddle {
namespace {

using hw::TapPlace;
using Payload = ::tlm::tlm_generic_payload;

// Hands everything on, but may grant no direct memory, so that data must come by transport, and may break a rule once:
// the first response that passes has another streaming width than its request.
class Meddler final : public sc_core::sc_module,
                      private ::tlm::tlm_fw_transport_if<>,
                      private ::tlm::tlm_bw_transport_if<> {
 public:
  Meddler(const sc_core::sc_module_name& name, bool direct_memory, bool wrong)
      : sc_core::sc_module(name),
        target("target"),
        initiator("initiator"),
        direct_memory_(direct_memory),
        wrong_(wrong) {
    target.bind(*this);
    initiator.bind(*this);
  }

  ::tlm::tlm_target_socket<> target;
  ::tlm::tlm_initiator_socket<> initiator;

 private:
  void response(Payload& payload) {
    if (wrong_) {
      wrong_ = false;
      payload.set_streaming_width(payload.get_streaming_width() + 1);
    }
  }
  ::tlm::tlm_sync_enum nb_transport_fw(Payload& payload, ::tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
    const bool request = phase == ::tlm::BEGIN_REQ;
    const ::tlm::tlm_sync_enum result = initiator->nb_transport_fw(payload, phase, delay);
    if (request && (result == ::tlm::TLM_COMPLETED || (result == ::tlm::TLM_UPDATED && phase == ::tlm::BEGIN_RESP))) {
      response(payload);
    }
    return result;
  }
  ::tlm::tlm_sync_enum nb_transport_bw(Payload& payload, ::tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
    const unsigned width = payload.get_streaming_width();
    if (phase == ::tlm::BEGIN_RESP) {
      response(payload);
    }
    const ::tlm::tlm_sync_enum result = target->nb_transport_bw(payload, phase, delay);
    payload.set_streaming_width(width);  // the connections before this one get the right width
    return result;
  }
  void b_transport(Payload& payload, sc_core::sc_time& delay) override {
    initiator->b_transport(payload, delay);
    response(payload);
  }
  bool get_direct_mem_ptr(Payload& payload, ::tlm::tlm_dmi& dmi) override {
    if (direct_memory_) {
      return initiator->get_direct_mem_ptr(payload, dmi);
    }
    dmi.set_start_address(0);
    dmi.set_end_address(~sc_dt::uint64{0});
    return false;
  }
  unsigned transport_dbg(Payload& payload) override { return initiator->transport_dbg(payload); }
  void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) override {
    target->invalidate_direct_mem_ptr(start, end);
  }

  bool direct_memory_;
  bool wrong_;
};

// initiator -> checker -> meddler -> target.
class CheckedLink final : public link::Tap {
 public:
  CheckedLink(const sc_core::sc_module_name& name, bool direct_memory, bool wrong)
      : link::Tap(name), checker("checker"), meddler_("meddler", direct_memory, wrong) {
    checker.initiator.bind(meddler_.target);
  }
  [[nodiscard]] ::tlm::tlm_target_socket<>& target_end() override { return checker.target; }
  [[nodiscard]] ::tlm::tlm_initiator_socket<>& initiator_end() override { return meddler_.initiator; }
  link::ProtocolChecker checker;

 private:
  Meddler meddler_;
};

struct Checked {
  bool correct = false;
  std::map<std::string, std::uint64_t> violations;    // by place
  std::map<std::string, std::uint64_t> transactions;  // by place
};

// Runs the workload with a checker at every place; `wrong` (as TapPlace::text) breaks a rule.
Checked observe(const std::string& name, const hw::Machine& machine, bool direct_memory,
                const std::string& wrong = {}) {
  const auto workload = test::make_workload(name, machine);
  std::map<std::string, const link::ProtocolChecker*> checkers;
  tb::DeviceOptions device_options;
  device_options.make_tap = [&](const TapPlace& place, link::Clock) {
    const std::string text = place.text();
    auto tap = std::make_unique<CheckedLink>(("tap_" + text).c_str(), direct_memory, text == wrong);
    EXPECT_TRUE(checkers.emplace(text, &tap->checker).second) << text << " was made twice";
    return tap;
  };
  tb::Device device(machine, device_options);
  device.load(workload->compile());
  Checked observed;
  observed.correct = workload->run(device).correct;
  for (const auto& [place, checker] : checkers) {
    EXPECT_EQ(checker->outstanding(), 0U) << place;
    observed.violations[place] = checker->violations();
    observed.transactions[place] = checker->transactions();
  }
  return observed;
}

// Every place of the machine at which the base protocol is spoken.
std::vector<std::string> places_of(const hw::Machine& machine) {
  std::vector<std::string> places{"control0"};
  for (unsigned i = 0; i < machine.gpu.cores; ++i) {
    places.push_back("data" + std::to_string(i));
    places.push_back("instruction" + std::to_string(i));
    places.push_back("texture" + std::to_string(i));
  }
  for (unsigned i = 0; i < machine.dram.channels; ++i) {
    if (machine.l2.enabled) {
      places.push_back("l2_" + std::to_string(i));
    }
    places.push_back("channel" + std::to_string(i));
    places.push_back("memory" + std::to_string(i));
  }
  return places;
}

hw::Machine machine_called(const std::string& name) {
  for (const hw::Machine& machine : test::machines()) {
    if (machine.name == name) {
      return machine;
    }
  }
  throw std::invalid_argument(name);
}

class Protocol : public ::testing::TestWithParam<std::tuple<std::string, const char*, bool>> {};

TEST_P(Protocol, IsKeptOnEveryConnection) {
  const auto& [name, machine_name, direct_memory] = GetParam();
  const hw::Machine machine = machine_called(machine_name);
  const Checked observed = observe(name, machine, direct_memory);
  EXPECT_TRUE(observed.correct);
  const std::vector<std::string> places = places_of(machine);
  EXPECT_EQ(observed.violations.size(), places.size());
  for (const std::string& place : places) {
    ASSERT_EQ(observed.violations.count(place), 1U) << place;
    EXPECT_EQ(observed.violations.at(place), 0U) << place;
    // With direct memory the controllers need no transactions; no workload has textures. The waves of needleman have
    // fewer blocks than the machine has cores, and the matrix of lu has work for two of four.
    const bool core_without_work = name == "lu" && (place == "data2" || place == "data3");
    const bool core_without_block =
        name == "needleman" && place.back() != '0' && (place.starts_with("data") || place.starts_with("instruction"));
    EXPECT_EQ(observed.transactions.at(place) == 0, (direct_memory && place.starts_with("memory")) ||
                                                        core_without_block || core_without_work ||
                                                        place.starts_with("texture"))
        << place;
  }
}

std::string protocol_case(const ::testing::TestParamInfo<std::tuple<std::string, const char*, bool>>& info) {
  return test::case_name(std::get<0>(info.param), std::get<1>(info.param)) +
         (std::get<2>(info.param) ? "_direct" : "_transport");
}

INSTANTIATE_TEST_SUITE_P(All, Protocol,
                         ::testing::Combine(::testing::ValuesIn(test::workload_names()),
                                            ::testing::Values("baseline", "throughcores4", "nocache", "l2inclusive"),
                                            ::testing::Values(false)),
                         protocol_case);
// Memory that is read and written directly is the same behind every other unit.
INSTANTIATE_TEST_SUITE_P(Direct, Protocol,
                         ::testing::Combine(::testing::ValuesIn(test::workload_names()),
                                            ::testing::Values("throughcores4"), ::testing::Values(true)),
                         protocol_case);
INSTANTIATE_TEST_SUITE_P(Long, Protocol,
                         ::testing::Combine(::testing::ValuesIn(test::workload_names()),
                                            ::testing::Values("baseline", "nocache", "l2inclusive"),
                                            ::testing::Values(true)),
                         protocol_case);
// Queues of one entry: every kind of waiting.
INSTANTIATE_TEST_SUITE_P(Tight, Protocol,
                         ::testing::Combine(::testing::Values("reduction", "vecadd"),
                                            ::testing::Values("tiny", "l2small"), ::testing::Bool()),
                         protocol_case);

std::vector<std::string> reported;

// A rule that is broken at one place is seen there, and nowhere else.
class BrokenProtocol : public ::testing::TestWithParam<const char*> {};

TEST_P(BrokenProtocol, IsSeen) {
  const hw::Machine machine = machine_called("channels2");
  const auto collect = [](const sc_core::sc_report& report, const sc_core::sc_actions&) {
    if (report.get_severity() != sc_core::SC_INFO) {
      reported.emplace_back(report.get_msg());
    }
  };
  reported.clear();
  const auto handler = sc_core::sc_report_handler::get_handler();
  sc_core::sc_report_handler::set_handler(collect);
  const Checked observed = observe("reduction", machine, false, GetParam());
  sc_core::sc_report_handler::set_handler(handler);
  for (const std::string& place : places_of(machine)) {
    EXPECT_EQ(observed.violations.at(place), place == GetParam() ? 1U : 0U) << place;
  }
  ASSERT_EQ(reported.size(), 1U);
  EXPECT_THAT(reported.front(), ::testing::HasSubstr("attributes: only the initiator sets them"));
  EXPECT_THAT(reported.front(), ::testing::HasSubstr(std::string("tap_") + GetParam()));
}

INSTANTIATE_TEST_SUITE_P(All, BrokenProtocol,
                         ::testing::Values("control0", "data0", "instruction0", "channel0", "channel1", "memory0",
                                           "memory1"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace heddle
