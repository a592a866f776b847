// Waves: a trace file beside SystemC's own; the papers' figures as a designer sees them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <systemc>

#include "hw/schedule/two_level_adaptive.hpp"
#include "hw/waves/gpu_waves.hpp"
#include "tests/hw/gpu_bench.hpp"
#include "tests/hw/wave_recording.hpp"
#include "tests/support/vcd_reader.hpp"
#include "tlm/wave.hpp"
#include "traces/vcd_file.hpp"

namespace heddle::hw {
namespace {

using heddle::test::Code;
using heddle::test::GpuBench;
using heddle::test::read_vcd;
using heddle::test::record_text;
using heddle::test::TextSink;
using heddle::test::VcdDump;
using isa::Op;
using isa::Special;
using link::Wave;

// ------------------------------------------------------------------------------------------------ beside SystemC's own

SC_MODULE(Mixed) {
  sc_core::sc_signal<bool> flag{"flag"};
  sc_core::sc_signal<int> number{"number"};
  sc_core::sc_signal<sc_dt::sc_uint<5>> small{"small"};
  sc_core::sc_signal<sc_dt::sc_lv<3>> logic{"logic"};
  double level = 0;
  unsigned char byte = 0;
  sc_dt::sc_biguint<70> wide = 0;
  SC_CTOR(Mixed) {
    SC_THREAD(run);
  }
  void run() {
    for (int i = 0; i < 40; ++i) {
      flag = (i / 3) % 2 != 0;
      number = i * i - 100;
      small = i / 2;
      logic = i % 4 == 3 ? "x1z" : "010";
      level = i * 0.5;
      byte = static_cast<unsigned char>(7 * i);
      wide = sc_dt::sc_biguint<70>(i) << 60;
      wait(sc_core::sc_time(i % 5 == 0 ? 1.5 : 1, sc_core::SC_NS));
    }
  }
};

template <class File>
void trace_all(File* file, Mixed& mixed) {
  sc_trace(file, mixed.flag, "top.flag");
  sc_trace(file, mixed.number, "top.number");
  sc_trace(file, mixed.small, "top.small");
  sc_trace(file, mixed.logic, "top.logic");
  sc_trace(file, mixed.byte, "top.byte");
  sc_trace(file, mixed.wide, "top.wide");
}

TEST(VcdFile, TracesWhatSystemcTraces) {
  Mixed mixed("mixed");
  const std::string theirs = testing::TempDir() + "heddle-systemc-trace-" + std::to_string(::getpid());
  sc_core::sc_trace_file* const own = sc_core::sc_create_vcd_trace_file(theirs.c_str());
  own->set_time_unit(1, sc_core::SC_PS);
  TextSink sink;
  traces::VcdFile file(sink, link::Clock(sc_core::sc_time(1, sc_core::SC_NS)), {"heddle test"});
  trace_all(own, mixed);
  trace_all(static_cast<sc_core::sc_trace_file*>(&file), mixed);
  sc_trace(&file, mixed.level, "top.level");
  Wave wave;
  sc_trace(&file, wave, "top.wave", 4);
  EXPECT_THROW(sc_trace(own, wave, "top.wave", 4), InternalError);
  sc_core::sc_start(sc_core::sc_time(10, sc_core::SC_NS));
  wave.set(9);
  sc_core::sc_start(sc_core::sc_time(50, sc_core::SC_NS));
  file.finish();
  sc_core::sc_close_vcd_trace_file(own);
  const VcdDump ours = read_vcd(sink.text);
  EXPECT_EQ(ours.timescale, "1ps");
  // SystemC's own, of which the values are read here: its header holds a date and it has several forms of sections.
  std::ifstream in(theirs + ".vcd");
  std::map<std::string, std::string> names;
  std::map<std::string, std::map<std::uint64_t, std::string>> expected;
  std::uint64_t time = 0;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string first, second, third, id, name;
    words >> first;
    if (first == "$var") {
      words >> second >> third >> id >> name;
      names[id] = "top." + name.substr(0, name.find('['));
    } else if (!first.empty() && first.front() == '#') {
      time = std::stoull(first.substr(1));
    } else if (!first.empty() && first.front() == 'b') {
      words >> id;
      std::string value = first.substr(1);
      std::transform(value.begin(), value.end(), value.begin(), [](char c) {
        return c == 'X' ? 'x' : c == 'Z' ? 'z' : c;
      });
      expected[names.at(id)][time] = value;
    } else if (first.size() > 1 && names.count(first.substr(1)) != 0) {
      expected[names.at(first.substr(1))][time] = first.substr(0, 1);
    }
  }
  std::remove((theirs + ".vcd").c_str());
  ASSERT_EQ(expected.size(), 6U);
  for (const auto& [name, values] : expected) {
    ASSERT_GT(values.size(), 3U) << name;
    for (const auto& [at, value] : values) {
      std::string wide = value;
      const auto& signal = ours[name];
      wide.insert(0, signal.width - wide.size(), wide.front() == '1' ? '0' : wide.front());
      EXPECT_EQ(signal.at(at), wide) << name << " at " << at;
    }
    EXPECT_LE(ours[name].changes.size(), values.size() + 1) << name;
  }
  EXPECT_EQ(ours["top.wave"].at(9999), "xxxx");
  EXPECT_EQ(ours["top.wave"].number(10000), 9U);
  EXPECT_EQ(ours["top.level"].at(2500), "1");
}

// ------------------------------------------------------------------------------------------------------- the figures

// With every signal of the GPU recorded.
VcdDump record(const Machine& machine, const Code& code, const heddle::test::LaunchShape& shape) {
  return read_vcd(record_text(machine, code, shape));
}

Machine four_lanes(unsigned warp_size) {
  Machine machine;
  machine.core.simd_width = 4;
  machine.core.warp_size = warp_size;
  machine.core.threads = 64;
  return machine;
}

// Thesis figure 4.5: a mask of eight rows of four lanes, its sub-warps with the row of each lane, and the stall signal
// to fetch while threads are left. The mask is a guard's.
TEST(Waves, ShowTheSubWarpsOfFigure45) {
  constexpr std::array<std::uint32_t, 8> kMask = {0b1001, 0b0101, 0b1110, 0b0010, 0b0110, 0b1100, 0b0001, 0b0011};
  std::uint32_t bits = 0;
  for (unsigned row = 0; row < 8; ++row) {
    bits |= kMask[row] << (4 * row);
  }
  Machine machine = four_lanes(32);
  machine.core.former = "packed";
  Code code;
  code.s2r(1, Special::tid_x);
  code.mov(2, bits);
  code.rrr(Op::SHR_U, 2, 2, 1);
  code.rri(Op::AND, 2, 2, 1);
  code.setp(1, isa::Comparison::ne, 2, 0);
  const Code::Pc packed = code.when(1).rri(Op::ADD, 3, 1, 1);
  code.exit();
  const VcdDump dump = record(machine, code, {{1, 1, 1}, {32, 1, 1}});
  const std::string decode = "bench.gpu.core0.decode";
  const std::string former = decode + ".former";
  constexpr int kNone = -1;
  const std::array<std::array<int, 4>, 4> expected = {{{0, 2, 1, 0}, {1, 3, 2, 2}, {6, 4, 4, 5}, {7, 7, 5, kNone}}};
  std::size_t formed = 0;
  for (std::uint64_t cycle = dump.begin; cycle < dump.end; ++cycle) {
    if (dump[former + ".valid"].number(cycle) != 1U || dump[decode + ".pc"].number(cycle) != packed) {
      continue;
    }
    ASSERT_LT(formed, expected.size());
    EXPECT_EQ(dump[decode + ".opcode"].number(cycle), static_cast<std::uint64_t>(Op::ADD));
    EXPECT_EQ(dump[former + ".number"].number(cycle), formed + 1);
    EXPECT_EQ(dump[former + ".uniform"].number(cycle), 0U);
    EXPECT_EQ(dump[former + ".last"].number(cycle), formed == 3 ? 1U : 0U);
    EXPECT_EQ(dump[former + ".stall_fetch"].number(cycle), formed == 3 ? 0U : 1U);
    std::array<int, 4> rows{};
    const std::uint64_t lanes = dump[former + ".lanes"].number(cycle).value();
    for (unsigned lane = 0; lane < 4; ++lane) {
      const std::string place = ".row.lane" + std::to_string(lane);
      rows[lane] = (lanes >> lane & 1U) != 0 ? static_cast<int>(dump[former + place].number(cycle).value()) : kNone;
      if (rows[lane] != kNone) {  // register read works on it one cycle later
        EXPECT_EQ(dump["bench.gpu.core0.register_read" + place].number(cycle + 1), rows[lane]);
      }
    }
    EXPECT_EQ(rows, expected[formed]) << "sub-warp " << formed;
    unsigned left = 0;
    for (unsigned row = 0; row < 8; ++row) {
      left +=
          static_cast<unsigned>(std::popcount(dump[former + ".left.row" + std::to_string(row)].number(cycle).value()));
    }
    EXPECT_EQ(left, formed == 3 ? 0 : 15 - 4 * (formed + 1));
    ++formed;
  }
  EXPECT_EQ(formed, 4U);
}

// Kernels with operations between lanes have warps of 32 threads on narrower machines: their rows are there, too.
TEST(Waves, HaveTheRowsOfTheLargestWarpOfANumber) {
  const auto rows = [](unsigned warp_size, const char* divergence) {
    Machine machine;
    machine.core.simd_width = 8;
    machine.core.warp_size = warp_size;
    machine.core.divergence = divergence;
    const CoreWidths widths(machine);
    std::vector<unsigned> of_warps = {widths.group_rows};
    for (const unsigned warp : {0U, 15U, 16U, 31U, 32U, 127U}) {
      of_warps.push_back(widths.rows_of(warp, machine));
    }
    return of_warps;
  };
  EXPECT_EQ(rows(64, "stack"), (std::vector<unsigned>{8, 8, 8, 4, 4, 1, 1}));
  EXPECT_EQ(rows(32, "stack"), (std::vector<unsigned>{4, 4, 4, 4, 4, 1, 1}));
  EXPECT_EQ(rows(8, "stack"), (std::vector<unsigned>{4, 4, 4, 4, 4, 1, 1}));
  EXPECT_EQ(rows(8, "per-thread-pc"), (std::vector<unsigned>{1, 1, 1, 1, 1, 1, 1}));
}

struct Fork {
  Code::Pc c, d;
};

// The branch A of thesis figure 2.2, to C where predicate 1 is true and to B where it is not; both meet at D.
Fork add_fork(Code& code) {
  const Code::Pc a = code.when(1).bra();
  code.rri(Op::ADD, 2, 1, 1);  // B
  const Code::Pc b_end = code.bra();
  const Code::Pc c = code.rri(Op::ADD, 2, 1, 2);
  const Code::Pc d = code.rri(Op::ADD, 3, 1, 3);
  code.exit();
  code.aim(a, c, d);
  code.aim(b_end, d);
  return {c, d};
}

// Thesis figure 2.2: A diverges to B (threads 1011, lane 2 missing) and C, which meet at D.
TEST(Waves, ShowTheStackOfFigure22) {
  Code code;
  code.s2r(1, Special::tid_x);
  code.setp(1, isa::Comparison::eq, 1, 2);
  const auto [c, d] = add_fork(code);
  const VcdDump dump = record(four_lanes(4), code, {{1, 1, 1}, {4, 1, 1}});
  const std::string warp = "bench.gpu.core0.warp0";
  struct Seen {
    std::uint64_t depth, merge, execute, top, active;
    bool operator==(const Seen&) const = default;
  };
  std::vector<Seen> seen;
  const auto& depths = dump[warp + ".stack.depth"].changes;
  for (const auto& change : depths) {
    if (change.value.find('x') != std::string::npos ||
        (seen.empty() && dump[warp + ".stack.depth"].number(change.time) == 0U)) {
      continue;
    }
    const auto value = [&](const char* name) { return dump[warp + name].number(change.time).value_or(~0U); };
    seen.push_back({value(".stack.depth"), value(".stack.merge_pc"), value(".stack.execute_pc"),
                    value(".stack.mask.row0"), value(".active.row0")});
  }
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen[0], (Seen{2, d, c, 0b0100, 0b1011})) << "B runs, C waits, D below";
  EXPECT_EQ(seen[1], (Seen{1, d, d, 0b1111, 0b0100})) << "C runs, D waits";
  EXPECT_EQ(seen[2].depth, 0U);
  EXPECT_EQ(seen[2].active, 0b1111U) << "all at D";
  // The branch's two buffers hold its outcome until it takes effect.
  const std::uint64_t effect = depths[depths.size() - 3].time;
  EXPECT_EQ(dump[warp + ".branch.taken.row0"].number(effect), 0b0100U);
  EXPECT_EQ(dump[warp + ".branch.not_taken.row0"].number(effect), 0b1011U);
  EXPECT_EQ(dump[warp + ".branch.taken.row0"].number(effect + 1), 0U);
}

// A branch whose threads meet at a convergence barrier.
TEST(Waves, ShowTheThreadsThatWaitToMeet) {
  Machine machine = four_lanes(4);
  machine.core.divergence = "barriers";
  Code code;
  code.s2r(1, Special::tid_x);
  code.setp(1, isa::Comparison::eq, 1, 2);
  const Fork fork = add_fork(code);
  const VcdDump dump = record(machine, code, {{1, 1, 1}, {4, 1, 1}});
  const std::string warp = "bench.gpu.core0.warp0";
  std::vector<std::uint64_t> seen[4];  // whenever other threads wait to meet
  for (std::uint64_t cycle = dump.begin; cycle < dump.end; ++cycle) {
    if (dump[warp + ".threads.barriers"].number(cycle).value_or(0) == 0) {
      continue;
    }
    const char* const signals[] = {".threads.ready", ".threads.meeting", ".active.row0", ".pc"};
    std::uint64_t now[4];
    for (unsigned i = 0; i < 4; ++i) {
      now[i] = dump[warp + signals[i]].number(cycle).value();
    }
    if (seen[0].empty() || now[1] != seen[1].back()) {
      for (unsigned i = 0; i < 4; ++i) {
        seen[i].push_back(now[i]);
      }
    }
  }
  EXPECT_EQ(seen[0], (std::vector<std::uint64_t>{0b0100, 0})) << "C may run, then it does";
  EXPECT_EQ(seen[1], (std::vector<std::uint64_t>{0, 0b1011}));
  EXPECT_EQ(seen[2], (std::vector<std::uint64_t>{0b1011, 0b0100}));
  EXPECT_EQ(seen[3].back(), fork.c);
}

// Lanes at both arms of a branch in one cycle: what each lane executes, and all lanes in the stage's mask.
TEST(Waves, ShowWhatEachMimdLaneExecutes) {
  Machine machine = four_lanes(4);
  machine.core.divergence = "mimd";
  Code code;
  code.s2r(1, Special::tid_x);
  code.setp(1, isa::Comparison::eq, 1, 2);
  const Fork fork = add_fork(code);
  const VcdDump dump = record(machine, code, {{1, 1, 1}, {4, 1, 1}});
  const std::string execute = "bench.gpu.core0.execute";
  unsigned both = 0;
  for (std::uint64_t cycle = dump.begin; cycle < dump.end; ++cycle) {
    if (dump[execute + ".valid"].number(cycle) != 1U) {
      continue;
    }
    EXPECT_EQ(dump[execute + ".active"].number(cycle),
              static_cast<unsigned>(std::popcount(dump[execute + ".lanes"].number(cycle).value())));
    if (dump[execute + ".lane2.pc"].number(cycle) != fork.c) {
      continue;
    }
    ++both;
    EXPECT_EQ(dump[execute + ".lanes"].number(cycle), 0b1111U);
    EXPECT_EQ(dump[execute + ".lane2.opcode"].number(cycle), static_cast<std::uint64_t>(Op::ADD));
    for (const char* const lane : {".lane0", ".lane1", ".lane3"}) {
      EXPECT_LT(dump[execute + lane + ".pc"].number(cycle), fork.c);
      EXPECT_EQ(dump[execute + lane + ".warp"].number(cycle), 0U);
    }
  }
  EXPECT_EQ(both, 1U);
  // Fetch shows what decode makes of the same word.
  std::map<std::uint64_t, std::uint64_t> opcodes;
  for (std::uint64_t cycle = dump.begin; cycle < dump.end; ++cycle) {
    if (dump[execute + ".valid"].number(cycle) == 1U) {
      opcodes[dump[execute + ".pc"].number(cycle).value()] = dump[execute + ".opcode"].number(cycle).value();
    }
  }
  const std::string fetch = "bench.gpu.core0.fetch";
  unsigned known = 0;
  for (std::uint64_t cycle = dump.begin; cycle < dump.end; ++cycle) {
    const auto found = opcodes.find(dump[fetch + ".pc"].number(cycle).value_or(~std::uint64_t{0}));
    if (dump[fetch + ".valid"].number(cycle) == 1U && found != opcodes.end()) {
      ++known;
      EXPECT_EQ(dump[fetch + ".opcode"].number(cycle), found->second) << "PC " << found->first;
    }
  }
  EXPECT_GT(known, 4U);
}

// Of the two sub-warps of a load the first waits for the second, and both for the L1 to have taken their line.
TEST(Waves, ShowAccessesThatWaitForTheirInstructionsOthers) {
  Machine machine = four_lanes(8);
  Code code;
  code.param(1, 0);
  code.load(Op::LD_GLOBAL, 2, 1);
  code.exit();
  const heddle::test::LaunchShape shape{{1, 1, 1}, {8, 1, 1}};
  const std::string gathered = "bench.gpu.core0.memory.gathered";
  machine.core.coalescer = "whole-warp";
  const VcdDump dump = record(machine, code, shape);
  std::uint64_t most = 0;
  for (std::uint64_t cycle = dump.begin; cycle < dump.end; ++cycle) {
    most = std::max(most, dump[gathered].number(cycle).value_or(0));
  }
  EXPECT_GE(most, 1U) << "the first waits for the second";
  EXPECT_LE(most, 2U);
  EXPECT_EQ(dump[gathered].number(dump.end - 1), 0U);
}

// Lines 0, 2, 4 and 6, of which each thread loads one, are of one bank: it takes one in a cycle and refuses what comes
// beside it.
TEST(Waves, ShowRequestsThatABankRefuses) {
  Machine machine = four_lanes(4);
  machine.l1d.ports = 8;
  machine.l1d.banks = 2;
  Code code;
  code.s2r(1, Special::tid_x);
  code.rri(Op::SHL, 1, 1, 8);
  code.param(2, 0);
  code.rrr(Op::ADD, 1, 1, 2);
  code.load(Op::LD_GLOBAL, 3, 1);
  code.exit();
  const VcdDump dump = record(machine, code, {{1, 1, 1}, {4, 1, 1}});
  EXPECT_EQ(dump.sum("bench.gpu.core0.l1d.misses"), 4U);
  EXPECT_GE(dump.sum("bench.gpu.core0.l1d.refused"), 1U);
}

// The branch of figure 2.2 in a block of eight threads under thread block compaction: one stack for the block, its
// masks by row of the block's threads. Threads 2 and 5 go to C, so that B runs with lanes 1011 of row 0 and 1101 of
// row 1.
TEST(Waves, ShowTheMasksOfABlocksStack) {
  Machine machine = four_lanes(4);
  machine.core.divergence = "tbc";
  machine.core.scheduler = "sticky";
  Code code;
  code.s2r(1, Special::tid_x);
  code.mov(2, 0b00100100);
  code.rrr(Op::SHR_U, 2, 2, 1);
  code.rri(Op::AND, 2, 2, 1);
  code.setp(1, isa::Comparison::ne, 2, 0);
  static_cast<void>(add_fork(code));
  const VcdDump dump = record(machine, code, {{1, 1, 1}, {8, 1, 1}});
  const std::string stack = "bench.gpu.core0.block0.stack.";
  using Masks = std::vector<std::uint64_t>;
  std::vector<std::pair<std::uint64_t, Masks>> seen;  // depth, and threads and rows of the top entry
  for (const auto& change : dump[stack + "depth"].changes) {
    const std::optional<std::uint64_t> depth = dump[stack + "depth"].number(change.time);
    if (depth.value_or(0) == 0) {
      continue;
    }
    Masks masks{dump[stack + "threads"].number(change.time).value()};
    for (unsigned row = 0; row < 3; ++row) {
      masks.push_back(dump[stack + "mask.row" + std::to_string(row)].number(change.time).value());
    }
    seen.emplace_back(*depth, masks);
  }
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].first, 2U);
  EXPECT_EQ(seen[0].second, (Masks{2, 0b0100, 0b0010, 0})) << "B runs, C waits";
  EXPECT_EQ(seen[1].first, 1U);
  EXPECT_EQ(seen[1].second, (Masks{8, 0b1111, 0b1111, 0})) << "C runs, D waits for all";
}

TEST(Waves, ShowProgressAndTheCandidateThatSchedules) {
  constexpr std::uint32_t kRounds = 30;
  Machine machine;
  machine.core.scheduler = "two-level-adaptive";
  auto& own = machine.core.policies.of<AdaptiveTwoLevelParameters>();
  own.fetch_groups = "1,2";
  own.inner_schedulers = own.outer_schedulers = "round-robin";
  own.settle = 0;
  own.sample = 20;
  own.run = 40;
  Code code;
  heddle::test::add_loop(code, kRounds, [&] { code.plain(Op::PROGRESS); });
  code.exit();
  const VcdDump dump = record(machine, code, {{1, 1, 1}, {64, 1, 1}});
  for (const char* const warp : {"bench.gpu.core0.warp0.progress", "bench.gpu.core0.warp1.progress"}) {
    std::uint64_t before = 0;
    for (const auto& change : dump[warp].changes) {
      if (const std::optional<std::uint64_t> made = dump[warp].number(change.time); made && *made != 0) {
        EXPECT_EQ(*made, ++before);
      }
    }
    EXPECT_EQ(before, kRounds);
  }
  EXPECT_GT(dump.time_at("bench.gpu.core0.scheduler.candidate", 0), 100U);
  EXPECT_GT(dump.time_at("bench.gpu.core0.scheduler.candidate", 1), 100U);
}

}  // namespace
}  // namespace heddle::hw
