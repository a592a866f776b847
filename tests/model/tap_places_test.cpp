// Taps on the connections within cores (hw/core/extension.hpp), on every machine of configs/: what passes a place is
// what the counters say, and a machine with taps counts as one without.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hw/divergence/divergence.hpp"
#include "tb/device/device.hpp"
#include "tests/model/child.hpp"
#include "tests/model/counters.hpp"
#include "tests/model/workload_cases.hpp"
#include "tests/support/marks.hpp"
#include "tlm/protocol_tap.hpp"

HEDDLE_SAMPLED("Configs/TapPlaces.*")
HEDDLE_SAMPLED_SANITIZED("Configs/TapPlaces.*")

namespace heddle {
namespace {

// What has passed a place in any core, in the units of its counter.
struct Passed {
  std::uint64_t count = 0;
  std::uint64_t owed = 0;  // answers
};

// Of sub-warps that the next stage has taken, those beside them too.
class CountedSubWarps final : public link::ProtocolTap<link::WarpProtocol> {
 public:
  CountedSubWarps(const char* name, Passed& passed) : ProtocolTap(name), passed_(passed) {}

 private:
  void returns(const Payload& sub_warp, const Phase&, const Phase&, const sc_core::sc_time&,
               ::tlm::tlm_sync_enum answer) override {
    for (const Payload* each = answer == ::tlm::TLM_COMPLETED ? &sub_warp : nullptr; each != nullptr;
         each = each->beside) {
      ++passed_.count;
    }
  }
  Passed& passed_;
};

// Of requests that a cache has accepted; a look-up of a line that has come belongs to its request.
class CountedLines final : public link::ProtocolTap<link::LineProtocol> {
 public:
  CountedLines(const char* name, Passed& passed) : ProtocolTap(name), passed_(passed) {}

 private:
  void returns(const Payload& line, const Phase&, const Phase&, const sc_core::sc_time&,
               ::tlm::tlm_sync_enum answer) override {
    passed_.count += answer != ::tlm::TLM_UPDATED && !line.repeats_miss ? 1 : 0;
    passed_.owed += answer == ::tlm::TLM_ACCEPTED ? 1 : 0;
  }
  void calls_back(const Payload&, const Phase&, const sc_core::sc_time&) override { --passed_.owed; }
  Passed& passed_;
};

// Of words of threads.
class CountedRegisters final : public link::ProtocolTap<hw::RegisterProtocol> {
 public:
  CountedRegisters(const char* name, Passed& passed) : ProtocolTap(name), passed_(passed) {}

 private:
  void ends(const Payload& access, const sc_core::sc_time&) override {
    int threads = access.sub_warp->scalar ? 0 : std::popcount(access.sub_warp->lanes);
    for (const isa::LaneMask row : access.warp) {
      threads += std::popcount(row);
    }
    passed_.count += std::uint64_t{access.operands} * static_cast<unsigned>(threads);
  }
  Passed& passed_;
};

// Of words of one lane's threads.
class CountedBank final : public link::ProtocolTap<hw::BankProtocol> {
 public:
  CountedBank(const char* name, Passed& passed) : ProtocolTap(name), passed_(passed) {}

 private:
  void ends(const Payload& access, const sc_core::sc_time&) override { passed_.count += access.words; }
  Passed& passed_;
};

// Of sub-warps, an empty one for an instruction without threads too.
class CountedMasks final : public link::ProtocolTap<hw::FormerProtocol> {
 public:
  CountedMasks(const char* name, Passed& passed) : ProtocolTap(name), passed_(passed) {}

 private:
  void ends(const Payload& request, const sc_core::sc_time&) override {
    const auto none = [](const auto& rows) {
      return std::all_of(rows.begin(), rows.end(), [](auto row) { return row == 0; });
    };
    passed_.count += request.formed || (none(request.candidates) && none(request.pending)) ? 1 : 0;
  }
  Passed& passed_;
};

class CountedScratchpad final : public link::ProtocolTap<hw::ScratchpadProtocol> {
 public:
  CountedScratchpad(const char* name, Passed& passed) : ProtocolTap(name), passed_(passed) {}

 private:
  void ends(const Payload& access, const sc_core::sc_time&) override { passed_.count += access.joins ? 0 : 1; }
  Passed& passed_;
};

class CountedPrivate final : public link::ProtocolTap<hw::PrivateProtocol> {
 public:
  CountedPrivate(const char* name, Passed& passed) : ProtocolTap(name), passed_(passed) {}

 private:
  void ends(const Payload&, const sc_core::sc_time&) override { ++passed_.count; }
  Passed& passed_;
};

using PassedAt = std::map<std::string, Passed>;  // by the names of their sockets

// What a place of one of several sub-cores is called in a core of one: without "sub3.".
std::string without_sub_core(const std::string& socket) {
  return socket.rfind("sub", 0) == 0 ? socket.substr(socket.find('.') + 1) : socket;
}

// A maker of taps at the places that are in `places`.
template <class Counting>
auto counting(PassedAt& places) {
  return [&places](const hw::CorePlace& place, link::Clock) -> std::unique_ptr<Counting> {
    const auto at = places.find(without_sub_core(place.socket));
    return at == places.end() ? nullptr : std::make_unique<Counting>(("tap_" + place.text()).c_str(), at->second);
  };
}

// What a run with taps has counted, and what contradicts the counters.
std::string counters_with(const std::string& workload_name, const hw::Machine& machine,
                          const std::vector<std::string>& sockets) {
  return test::in_child([&] {
    PassedAt places;
    for (const std::string& socket : sockets) {
      places[socket];
    }
    const auto workload = test::make_workload(workload_name, machine, 0.3);
    tb::DeviceOptions options;
    if (!sockets.empty()) {
      options.extension.sub_warps = counting<CountedSubWarps>(places);
      options.extension.lines = counting<CountedLines>(places);
      options.extension.registers = counting<CountedRegisters>(places);
      options.extension.scratchpad = counting<CountedScratchpad>(places);
      options.extension.private_memory = counting<CountedPrivate>(places);
      options.extension.banks = counting<CountedBank>(places);
      options.extension.former = counting<CountedMasks>(places);
    }
    tb::Device device(machine, options);
    device.load(workload->compile());
    const tb::Verdict verdict = workload->run(device);
    std::string text = verdict.correct ? test::counters_of(device) : "wrong: " + verdict.detail;
    const hw::Totals totals = device.totals();
    const bool by_lane = hw::about<hw::Divergence>(machine.core.divergence).traits.mimd_lanes;
    std::map<std::string, std::uint64_t> expected = {
        {"decode.former.form", by_lane ? 0 : totals.core.warp_instructions - totals.core.scalar_instructions},
        {"decode.in", totals.core.fetched},
        {"register_read.in", totals.core.warp_instructions},
        {"execute.in", totals.core.warp_instructions},
        {"memory.in", totals.core.warp_instructions},
        {"registers.read_port", totals.registers.reads + totals.core.lane_reads_saved},
        {"registers.write_port", totals.registers.writes + totals.core.lane_writes_saved},
        {"scratchpad.access", totals.scratchpad.accesses},
        {"private_memory.access", totals.private_memory.accesses},
        {"icache.cpu", totals.icache.accesses},
        {"l1d.cpu", totals.l1d.accesses},
        {"texture.cpu", totals.texture.accesses}};
    for (const StatisticsRegistry::Scalar& scalar : device.statistics().scalars()) {
      const std::string& module = scalar.declaration.module;
      if (const std::size_t bank = module.find("registers.bank"); bank != std::string::npos) {
        expected[module.substr(bank) + ".port"] += *scalar.value;
      }
    }
    for (const auto& [socket, passed] : places) {
      if (const auto counter = expected.find(socket); counter != expected.end() && counter->second != passed.count) {
        text +=
            "at " + socket + " " + std::to_string(passed.count) + ", counted " + std::to_string(counter->second) + "\n";
      }
      text += passed.owed != 0 ? "answers are owed at " + socket + "\n" : "";
    }
    if (places.count("writeback.in") != 0 && places.count("writeback.returns.in") != 0) {
      const std::uint64_t retired = places["writeback.in"].count + places["writeback.returns.in"].count;
      if (retired != totals.core.warp_instructions) {
        text += "to write-back " + std::to_string(retired) + ", retired " +
                std::to_string(totals.core.warp_instructions) + "\n";
      }
    }
    return text;
  });
}

const std::vector<std::string>& configs() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = test::machine_names();
    const std::vector<std::string> known = all;
    std::erase_if(all, [&](const std::string& name) {
      // Of today's GPUs the cuts, which differ from the whole ones by numbers alone.
      return name.starts_with("test-") || std::find(known.begin(), known.end(), name + "-8sm") != known.end();
    });
    return all;
  }();
  return names;
}

class TapPlaces : public ::testing::TestWithParam<std::string> {};

// With sub-warps on passages, with parts of their work in the stages, and with all of it. Not every machine runs every
// workload; each runs one at least.
TEST_P(TapPlaces, SeeWhatIsCounted) {
  const hw::Machine machine = test::machine_called(GetParam());
  const std::vector<std::vector<std::string>> sets = {
      {"icache.cpu", "l1d.cpu", "texture.cpu", "scratchpad.access", "writeback.returns.in", "writeback.in"},
      {"registers.read_port", "decode.in"},
      {"registers.write_port", "register_read.in"},
      {"registers.bank0.port", "registers.bank3.port", "decode.former.form"},
      {"decode.in", "decode.former.form", "register_read.in", "execute.in", "memory.in", "writeback.in",
       "writeback.returns.in", "registers.read_port", "registers.write_port", "registers.bank1.port",
       "scratchpad.access", "icache.cpu", "l1d.cpu", "texture.cpu"}};
  unsigned ran = 0;
  for (const char* const workload : {"lu", "reduction"}) {
    const std::string untapped = counters_with(workload, machine, {});
    if (untapped.rfind("refused: ", 0) == 0) {
      continue;
    }
    if (++ran > 1 && machine.core.sub_cores > 1) {
      break;  // of cores of several parts one is enough
    }
    EXPECT_EQ(untapped.rfind("cycles ", 0), 0U) << untapped;
    for (const std::vector<std::string>& sockets : sets) {
      EXPECT_EQ(counters_with(workload, machine, sockets), untapped) << workload << " " << sockets.front();
    }
  }
  EXPECT_NE(ran, 0U);
}

// No machine of configs/ has one.
TEST(TapPlacesOf, PrivateMemory) {
  hw::Machine machine = test::machine_called("baseline");
  machine.core.registers_per_thread = 10;
  machine.private_memory.bytes = 128;
  const std::string untapped = counters_with("lu", machine, {});
  EXPECT_NE(untapped.find("private_memory accesses "), std::string::npos) << untapped;
  EXPECT_EQ(untapped.find("private_memory accesses 0\n"), std::string::npos) << "the kernel does not spill";
  EXPECT_EQ(counters_with("lu", machine, {"private_memory.access"}), untapped);
}

INSTANTIATE_TEST_SUITE_P(Configs, TapPlaces, ::testing::ValuesIn(configs()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace heddle
