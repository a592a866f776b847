// heddle diagram: the modules and bindings of the elaborated machine.
#include <gtest/gtest.h>

#include <filesystem>

#include "hw/gpu/gpu.hpp"
#include "os/process/child_process.hpp"
#include "studies/pages/diagram/diagram.hpp"
#include "tb/device/device.hpp"
#include "tests/support/program_runner.hpp"
#include "tlm/protocol_tap.hpp"

namespace heddle::studies {
namespace {

using test::heddle;
using test::Ran;
using test::Scratch;

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Diagram, HasTheBindingsOfTheBaseline) {
  const Ran ran = test::heddle({"diagram", "baseline"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  for (const char* edge : {"\"gpu.core0.fetch\" -> \"gpu.core0.decode.in\"",
                           "\"gpu.core0.decode.out\" -> \"gpu.core0.register_read\"",
                           "\"gpu.core0.register_read\" -> \"gpu.core0.execute\"",
                           "\"gpu.core0.execute\" -> \"gpu.core0.memory\"",
                           "\"gpu.core0.memory\" -> \"gpu.core0.writeback.in\"",
                           "\"gpu.core0.memory\" -> \"gpu.core0.writeback.returns\"",
                           "\"gpu.core0.memory\" -> \"gpu.core0.l1d\"",
                           "\"gpu.core0.memory\" -> \"gpu.core0.scratchpad\"",
                           "\"gpu.core0.register_read\" -> \"gpu.core0.registers.read_port\"",
                           "\"gpu.core0.writeback.registers\" -> \"gpu.core0.registers.write_port\"",
                           "\"gpu.core0.registers.bank_port_0\" -> \"gpu.core0.registers.bank0\"",
                           "\"gpu.core0.decode.masks\" -> \"gpu.core0.decode.former\"",
                           "\"gpu.core0.icache\" -> \"gpu.core0.instruction\"",
                           "\"gpu.core0.instruction\" -> \"gpu.noc\"",
                           "\"gpu.core0.fetch\" -> \"gpu.core0.icache\"",
                           "\"gpu.core0.l1d\" -> \"gpu.core0.data\"",
                           "\"gpu.core0.memory\" -> \"gpu.core0.texture\"",
                           "\"gpu.core0.texture\" -> \"gpu.core0.texels\"",
                           "\"gpu.core0.texels\" -> \"gpu.noc\"",
                           "\"gpu.core0.data\" -> \"gpu.noc\"",
                           "\"gpu.noc\" -> \"gpu.dram0\"",
                           "\"gpu.dispatcher\" -> \"gpu.core0.blocks\"",
                           "\"gpu.dram0\" -> \"gpu.memory_0\""}) {
    EXPECT_EQ(test::occurrences(ran.out, edge), 1U) << edge;
  }
  EXPECT_TRUE(holds(ran.out, "bank0 … bank31\\n32 alike")) << ran.out;
  EXPECT_FALSE(holds(ran.out, "lane1\"")) << ran.out;
  EXPECT_FALSE(holds(ran.out, "bank_port_1\"")) << ran.out;
  EXPECT_EQ(test::occurrences(ran.out, "tooltip"), 23U) << "no other edges";
}

TEST(Diagram, FollowsTheMachine) {
  const std::vector<std::string> two = {"--set", "gpu.cores=2",     "--set", "dram.channels=2",
                                        "--set", "l2.enabled=true", "--set", "l1d.write_policy=write-through"};
  std::vector<std::string> words = {"diagram", "baseline", "--all"};
  words.insert(words.end(), two.begin(), two.end());
  const Ran all = test::heddle(words);
  ASSERT_EQ(all.code, 0) << all.err;
  for (const char* edge : {"\"gpu.core1.fetch\" -> \"gpu.core1.decode.in\"", "\"gpu.core1.data\" -> \"gpu.noc\"",
                           "\"gpu.noc\" -> \"gpu.l2_1.target\"", "\"gpu.l2_1.store\" -> \"gpu.dram1\"",
                           "\"gpu.l2_0.socket\" -> \"gpu.l2_0.store\"", "\"gpu.dispatcher\" -> \"gpu.core1.blocks\""}) {
    EXPECT_EQ(test::occurrences(all.out, edge), 1U) << edge;
  }
  EXPECT_EQ(test::occurrences(all.out, "[label=\"bank_port_"), 64U) << "to every register bank";
  EXPECT_EQ(test::occurrences(all.out, "[label=\"bank"), 2 * 64U) << "every register bank besides";
  words[2] = "--set";
  words.insert(words.begin() + 3, "gpu.clock_ghz=1.0");
  const Ran folded = test::heddle(words);
  ASSERT_EQ(folded.code, 0) << folded.err;
  EXPECT_TRUE(holds(folded.out, "core0 … core1\\n2 alike"));
  EXPECT_FALSE(holds(folded.out, "gpu.core1"));
}

// Every kind of connection has a colour.
TEST(Diagram, DrawsThreadsThatChangeCores) {
  const Ran ran = test::heddle({"diagram", "odgs"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(test::occurrences(ran.out, "\"gpu.core0.others\" -> \"gpu.global_scheduler\""), 1U) << ran.out;
}

// Holds on to the GPU that the device builds.
class DrawnGpu final : public tb::RunObserver {
 public:
  void attached(hw::Gpu& gpu) override { top = &gpu; }
  const sc_core::sc_object* top = nullptr;
};

TEST(Diagram, DrawsWhatStandsBetween) {
  DrawnGpu drawn;
  tb::DeviceOptions options;
  options.observers = {&drawn};
  options.extension.sub_warps = [](const hw::CorePlace& place, link::Clock) {
    return place.socket != "execute.in" ? nullptr : std::make_unique<link::ProtocolTap<link::WarpProtocol>>("between");
  };
  const tb::Device device({}, options);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  const std::string dot = pages::diagram_dot(pages::read_diagram(*drawn.top), "tapped", false);
  EXPECT_EQ(test::occurrences(dot, "\"gpu.core0.register_read\" -> \"gpu.core0.between\""), 1U) << dot;
  EXPECT_EQ(test::occurrences(dot, "\"gpu.core0.between\" -> \"gpu.core0.execute\""), 1U) << dot;
  EXPECT_EQ(test::occurrences(dot, "\"gpu.core0.register_read\" -> \"gpu.core0.execute\""), 0U) << dot;
  EXPECT_EQ(test::occurrences(dot, "\"gpu.core0.execute\" -> \"gpu.core0.memory\""), 1U) << dot;
}

TEST(Diagram, GraphvizDrawsIt) {
  const Scratch scratch;
  const Ran without = [&] {
    test::RunSetup setup;
    setup.environment = {"PATH=/nowhere"};
    return test::heddle({"diagram", "baseline", "--svg", scratch.path("a.svg")}, setup);
  }();
  EXPECT_EQ(without.code, 2);
  EXPECT_TRUE(holds(without.err, "Graphviz' dot, which is not installed")) << without.err;
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
  if (os::find_program("dot").empty()) {
    GTEST_SKIP() << "Graphviz is not installed";
  }
  const Ran ran = test::heddle({"diagram", "baseline", "--svg", scratch.path("a.svg"), "--dot", scratch.path("a.dot")});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(ran.out.empty());
  const std::string svg = Scratch::read(scratch.path("a.svg"));
  EXPECT_TRUE(holds(svg, "<svg")) << svg.substr(0, 200);
  EXPECT_TRUE(holds(svg, ">register_read</text>"));
  // Plain colours on a white ground: every viewer shows it, and dark pages do.
  EXPECT_TRUE(holds(svg, "<polygon fill=\"white\" "));
  EXPECT_FALSE(holds(svg, "var(") || holds(svg, "class=\"chart\"") || holds(svg, "<style"));
  EXPECT_EQ(Scratch::read(scratch.path("a.dot")), test::heddle({"diagram", "baseline"}).out);
}

}  // namespace
}  // namespace heddle::studies
