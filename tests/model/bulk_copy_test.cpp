// The unit that copies in bulk (section [bulk_copy]) in whole GPUs: how long a copy takes beside measurements, that
// threads go on meanwhile, that several copies and blocks do not meet, and what goes wrong.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tb/config/config.hpp"
#include "tb/measure/trace/recorder.hpp"
#include "tests/model/pointer_chase.hpp"
#include "tests/model/replayed.hpp"
#include "tests/model/words_left.hpp"
#include "tlm/protocol_tap.hpp"

namespace heddle::bulk_copies {
namespace {

// Each pointer comes by a copy of its 16 bytes, of which the thread waits for the phase's end.
constexpr const char* kBegin = R"(
  .shared .align 16 .b8 space[16];
  .shared .align 8 .b64 object;
  mbarrier.init.shared::cta.b64 [object], 1;
  mov.u32 %r4, 0;
)";
constexpr const char* kHop = R"({
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [object], 16;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [space], [%a0], 16, [object];
AGAIN:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [object], %r4;
  @!%p2 bra AGAIN;
  xor.b32 %r4, %r4, 1;
  ld.shared.u64 %a0, [space];
  }
)";

// An H800 by its Tensor Memory Accelerator: HPMLL/NVIDIA-Hopper-Benchmark, tma_lat_random (2025).
TEST(BulkCopies, TakeWhatWasMeasured) {
  constexpr double kL2 = 369, kDram = 761;
  const hw::Machine machine = tb::read_machine("h100");
  const double l2 = test::follow(machine, {kHop, 256, 128, 256, 2, 64, kBegin, true});
  const double dram = test::follow(machine, {kHop, 512, 36992, 256, 2, 64, kBegin, true});
  EXPECT_NEAR(l2, kL2, kL2 * 0.05);
  EXPECT_NEAR(dram, kDram, kDram * 0.05);
  const std::string row = fmt::format("| `h100` | {:.1f} | {:.1f} | {:.1f} | {:.1f} |\n", kL2, l2, kDram, dram);
  EXPECT_NE(test::gpus_page().find(row), std::string::npos) << "docs/gpus.md has no row\n" << row;
}

// Four warps of each of two blocks: the first thread of each copies its tile by itself, of another size and from an
// address in the midst of a line, and all threads of the warp read what came. The first `kWords` words are the input.
constexpr unsigned kTile = 112, kWarps = 8, kWords = kWarps * kTile;
constexpr const char* kTiles = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry tiles(.param .u64 out)
{
  .reg .pred %p<3>;
  .reg .b32 %r<16>;
  .reg .b64 %a<4>;
  .shared .align 16 .b8 space[1792];
  .shared .align 8 .b64 objects[4];
  ld.param.u64 %a0, [out];
  mov.u32 %r0, %tid.x;
  shr.u32 %r1, %r0, 5;
  and.b32 %r2, %r0, 31;
  mov.u32 %r3, objects;
  mad.lo.u32 %r3, %r1, 8, %r3;
  mov.u32 %r4, space;
  mad.lo.u32 %r4, %r1, 448, %r4;
  setp.ne.u32 %p0, %r2, 0;
  mov.u32 %r5, %ctaid.x;
  mad.lo.u32 %r5, %r5, 4, %r1;
  mul.wide.u32 %a1, %r5, 448;
  add.u64 %a1, %a0, %a1;
  add.u32 %r6, %r1, 1;
  mul.lo.u32 %r6, %r6, 112;          // bytes: a quarter of the tile, a half, ...
  @!%p0 mbarrier.init.shared::cta.b64 [%r3], 1;
  @!%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], %r6;
  @!%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%a1], %r6, [%r3];
  mov.u32 %r11, %clock;
  bar.sync 0;
  mov.u32 %r12, %clock;
AGAIN:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r3], 0;
  @!%p1 bra AGAIN;
  mad.lo.u32 %r7, %r2, 4, %r4;
  setp.lt.u32 %p2, %r2, 28;
  mov.u32 %r9, 0;
  @%p2 ld.shared.u32 %r8, [%r7];
  @%p2 add.u32 %r9, %r9, %r8;
  @%p2 ld.shared.u32 %r8, [%r7+112];
  @%p2 mad.lo.u32 %r9, %r8, 3, %r9;
  @%p2 ld.shared.u32 %r8, [%r7+224];
  @%p2 mad.lo.u32 %r9, %r8, 5, %r9;
  @%p2 ld.shared.u32 %r8, [%r7+336];
  @%p2 mad.lo.u32 %r9, %r8, 7, %r9;
  mad.lo.u32 %r10, %r5, 32, %r2;
  mul.wide.u32 %a2, %r10, 8;
  add.u64 %a2, %a0, %a2;
  sub.u32 %r12, %r12, %r11;
  st.global.v2.u32 [%a2+3584], {%r9, %r12};
  ret;
}
)";

std::vector<std::uint32_t> tiles_of(const std::string& machine, const std::vector<std::string>& settings,
                                    const tb::DeviceOptions& options = {}, hw::Totals* totals = nullptr) {
  std::vector<std::uint32_t> words(kWords + kWarps * 64);
  for (unsigned i = 0; i != kWords; ++i) words[i] = i * 7 + 1;
  return test::words_left_by(machine, settings, kTiles, {"tiles", {2, 1, 1}, {128, 1, 1}, 0, {}, 0, false}, words, true,
                             options, totals);
}

std::string judged(const std::string& machine, const std::vector<std::string>& settings) {
  return test::in_child([&]() -> std::string {
    const std::vector<std::uint32_t> words = tiles_of(machine, settings);
    unsigned longest = 0;
    for (unsigned warp = 0; warp != kWarps; ++warp) {
      for (unsigned lane = 0; lane != 32; ++lane) {
        std::uint32_t sum = 0;
        for (unsigned part = 0; lane < 28 && part <= warp % 4; ++part) {
          sum += ((warp * kTile + part * 28 + lane) * 7 + 1) * (2 * part + 1);
        }
        const std::uint32_t* const found = &words[kWords + (warp * 32 + lane) * 2];
        if (found[0] != sum) {
          return fmt::format("warp {}, lane {}: {} instead of {}", warp, lane, found[0], sum);
        }
        longest = std::max(longest, found[1]);
      }
    }
    return longest < 100 ? "right" : fmt::format("a barrier took {} cycles, as long as the copies", longest);
  });
}

TEST(BulkCopies, OfWarpsAndBlocksDoNotMeet) {
  for (const char* const machine : {"h100-8sm", "h200-8sm"}) {
    EXPECT_EQ(judged(machine, {}), "right") << machine;
  }
  for (const std::vector<std::string>& settings : std::vector<std::vector<std::string>>{
           {"core.issue=scoreboard"},
           {"bulk_copy.queue=1"},
           {"gpu.perfect_memory=true", "l0i.enabled=false", "constant_cache.l0_bytes=0"},
           {"l1d.mshrs=1"},
           {"core.pending_accesses=1", "core.issue=scoreboard"},
           {"core.divergence=stack"}}) {
    EXPECT_EQ(judged("h100-8sm", settings), "right") << settings[0];
  }
}

// Where a warp waits for what it has asked for, so do barriers.
TEST(BulkCopies, AreRightWhereWarpsWaitForThem) {
  for (const std::vector<std::string>& settings : std::vector<std::vector<std::string>>{
           {"core.issue=strict"},
           {"core.issue=scoreboard", "scoreboard.stall=on-access"},
           {"core.divergence=stack", "core.issue=relaxed"},
           {"core.divergence=dws", "core.issue=scoreboard", "scoreboard.stall=on-access"},
           {"core.divergence=tbc", "core.issue=scoreboard", "scoreboard.stall=on-access"}}) {
    const std::string found = judged("h100-8sm", settings);
    EXPECT_TRUE(found == "right" || found.starts_with("a barrier took")) << settings[0] << ": " << found;
  }
}

template <class Protocol>
class CountingTap final : public link::ProtocolTap<Protocol> {
 public:
  CountingTap(const hw::CorePlace& place, std::uint64_t& taken)
      : link::ProtocolTap<Protocol>(("tap_" + place.text()).c_str()), taken_(taken) {}

 private:
  using Base = link::ProtocolTap<Protocol>;
  void returns(const typename Base::Payload&, const typename Base::Phase&, const typename Base::Phase&,
               const sc_core::sc_time&, ::tlm::tlm_sync_enum answer) override {
    taken_ += answer != ::tlm::TLM_UPDATED ? 1 : 0;
  }
  std::uint64_t& taken_;
};

TEST(BulkCopies, ArePassedByTapsInTheirCycles) {
  const auto run = [](bool tapped) {
    return test::in_child([&] {
      std::uint64_t copies = 0, lines = 0;
      tb::DeviceOptions options;
      if (tapped) {
        options.extension.bulk_copies = [&](const hw::CorePlace& place, link::Clock) {
          EXPECT_EQ(place.socket.substr(0, 15), "bulk_copies.in_");
          return std::make_unique<CountingTap<hw::BulkCopyProtocol>>(place, copies);
        };
        options.extension.lines = [&](const hw::CorePlace& place,
                                      link::Clock) -> std::unique_ptr<CountingTap<link::LineProtocol>> {
          if (place.socket != "l1d_ports.in_4") return nullptr;
          return std::make_unique<CountingTap<link::LineProtocol>>(place, lines);
        };
      }
      hw::Totals totals;
      static_cast<void>(tiles_of("h100-8sm", {}, options, &totals));
      if (!tapped) {
        copies = totals.bulk_copies.copies;
        lines = totals.bulk_copies.lines;
      }
      return fmt::format("cycles {} warp instructions {} copies {} lines {}", totals.cycles,
                         totals.core.warp_instructions, copies, lines);
    });
  };
  EXPECT_EQ(run(true), run(false));
}

// A record has neither addresses in the scratchpad nor values; copies take their time all the same.
TEST(BulkCopies, ReplayInTheCyclesOfTheProgram) {
  const hw::Machine machine = tb::read_machine("h100-8sm");
  const auto cycles_of = [](const tb::Device& device) {
    const hw::Totals totals = device.totals();
    return fmt::format("cycles {} warp instructions {} copies {} bytes {} lines {}", totals.cycles,
                       totals.core.warp_instructions, totals.bulk_copies.copies, totals.bulk_copies.bytes,
                       totals.bulk_copies.lines);
  };
  const auto record = [&](bool trace) {
    return test::in_child([&] {
      std::ostringstream out;
      tb::TraceRecorder recorder(out);
      tb::DeviceOptions options;
      options.observers = {&recorder};
      tb::Device device(machine, options);
      device.load(ptx::compile(kTiles, "k.ptx", ptx::CompileOptions(tb::code_options(machine))));
      const std::uint64_t place = isa::kGlobalBase;
      device.memory().release(place);
      device.memory().place("out", place, 4 * (kWords + kWarps * 64));
      isa::LaunchRequest request{"tiles", {2, 1, 1}, {128, 1, 1}, 0, {}, 0, false};
      request.parameters = test::ParameterBytes().add(&place, 8).take();
      device.launch(request);
      recorder.finish({});
      return trace ? out.str() : cycles_of(device);
    });
  };
  const std::string program = record(false);
  EXPECT_NE(program.find(" copies 8 bytes 2240 lines "), std::string::npos) << program;
  EXPECT_EQ(test::replayed(machine, record(true), cycles_of), program);
}

std::string fault_of(const std::vector<std::string>& settings, const std::string& copy) {
  return test::in_child([&]() -> std::string {
    const std::string text =
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry bad(.param .u64 out)\n{\n"
        ".reg .u64 %a0; .reg .b32 %r0;\n.shared .align 16 .b8 tile[64];\n.shared .align 8 .b64 object[2];\n"
        "ld.param.u64 %a0, [out];\nmbarrier.init.shared::cta.b64 [object], 1;\n"
        "mov.u32 %r0, 72;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes " +
        copy + ";\nret;\n}\n";
    try {
      static_cast<void>(test::words_left_by("h100-8sm", settings, text, {"bad", {1, 1, 1}, {1, 1, 1}, 0, {}, 0, false},
                                            std::vector<std::uint32_t>(64), true));
    } catch (const std::exception& error) {
      return error.what();
    }
    return "none";
  });
}

TEST(BulkCopies, FaultsNameWhatIsWrong) {
  EXPECT_EQ(fault_of({}, "[tile], [%a0], 64, [object]"), "none");
  EXPECT_EQ(fault_of({}, "[tile+48], [%a0+240], 16, [object+8]"), "none");
  EXPECT_EQ(fault_of({}, "[tile], [%a0+1048576], 0, [object]"), "none") << "nothing is read";
  const auto expect = [](const std::string& copy, const std::string& text) {
    const std::string found = fault_of({}, copy);
    EXPECT_NE(found.find(text), std::string::npos) << copy << ": " << found;
  };
  expect("[tile+8], [%a0], 16, [object]", "the address is no multiple of 16");
  expect("[tile], [%a0+8], 16, [object]", "the address is no multiple of 16");
  expect("[tile], [%a0], 16, [object+4]", "the address is no multiple of 8");
  expect("[tile], [%a0], %r0, [object]", "72 bytes to copy, which is no multiple of 16");
  expect("[tile+32], [%a0], 64, [object]", "store at offset 32 of the block's scratchpad, which has 80 bytes");
  expect("[tile], [%a0], 16, [object+16]", "store at offset 80 of the block's scratchpad, which has 80 bytes");
  expect("[tile], [%a0+224], 64, [object]", "load");
  expect("[tile], [%a0+1048576], 16, [object]", "load");
}

}  // namespace
}  // namespace heddle::bulk_copies
