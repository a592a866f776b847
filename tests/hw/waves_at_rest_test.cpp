// Waves of a core that rests (hw/state/observer.hpp): they show what they would show of each of its cycles.
#include <gtest/gtest.h>

#include <string>

#include "tests/hw/wave_recording.hpp"
#include "tests/model/child.hpp"
#include "tests/support/vcd_reader.hpp"

namespace heddle::hw {
namespace {

using heddle::test::Code;
using heddle::test::VcdDump;
using isa::Op;
using isa::Special;

// Knows of rests, as waves do, or does not, so that the core has each cycle.
struct Beside final : CoreObserver {
  explicit Beside(bool knows_rests) : knows(knows_rests) {}
  const bool knows;
  unsigned many = 0;
  [[nodiscard]] bool knows_rests() const override { return knows; }
  void rests(const CoreState&) override { ++many; }
};

// Every lane wants a line of its own, of an L1 that has room for few, and computes in between.
TEST(WavesAtRest, ShowTheSameOfARestAsOfItsCycles) {
  Machine machine;
  machine.l1d.mshrs = 3;
  machine.core.pending_accesses = 4;
  Code code;
  code.param(1, 0);
  code.s2r(2, Special::tid_x);
  code.rri(Op::SHL, 2, 2, 9);
  code.rrr(Op::ADD, 1, 1, 2);
  heddle::test::add_loop(code, 4, [&] {
    code.load(Op::LD_GLOBAL, 3, 1);
    code.rri(Op::ADD, 1, 1, 128);
    code.rri(Op::ADD, 4, 3, 1);
  });
  code.exit();
  const auto dump_of = [&](bool knows) {
    const std::string text = heddle::test::in_child([&] {
      Beside beside(knows);
      const std::string dump = heddle::test::record_text(machine, code, {{1, 1, 1}, {256, 1, 1}}, &beside);
      return (beside.many != 0) == knows ? dump : "rests: " + std::to_string(beside.many);
    });
    return heddle::test::read_vcd(text);
  };
  const VcdDump told = dump_of(true);
  const VcdDump each = dump_of(false);
  ASSERT_EQ(told.signals.size(), each.signals.size());
  for (const auto& [path, signal] : each.signals) {
    const heddle::test::VcdSignal& other = told[path];
    ASSERT_EQ(other.changes.size(), signal.changes.size()) << path;
    for (std::size_t i = 0; i != signal.changes.size(); ++i) {
      ASSERT_EQ(other.changes[i].time, signal.changes[i].time) << path;
      ASSERT_EQ(other.changes[i].value, signal.changes[i].value) << path << " at " << signal.changes[i].time;
    }
  }
  EXPECT_GT(each.time_at("bench.gpu.core0.decode.former.stall_fetch", 1), 100U);
  EXPECT_GT(each.time_at("bench.gpu.core0.l1d.refused", 1), 100U);
}

}  // namespace
}  // namespace heddle::hw
