// An output whose socket is bound to a stage's input calls it directly; whatever else is bound there hears every offer.
#include <gtest/gtest.h>

#include "hw/core/pipeline/stage.hpp"
#include "tests/hw/stage_stubs.hpp"

namespace heddle::hw {
namespace {

class TakingStage final : public ReceivingStage {
 public:
  TakingStage(const sc_core::sc_module_name& name, CoreState& state)
      : ReceivingStage(name, state, 2, CoreStage::decode) {}
  void tick(Cycle) override {}
  [[nodiscard]] bool idle() const override { return empty(); }
  [[nodiscard]] bool stuck(Cycle) const override { return true; }
  void reset() override { drop_all(); }
  [[nodiscard]] link::SubWarp* head(Cycle now) const { return latch_.front(now); }
};

// Between two stages.
class Tap final : public sc_core::sc_module,
                  public link::NonBlockingTarget<link::WarpProtocol>,
                  public link::ForwardOnlyInitiator<link::WarpProtocol> {
 public:
  explicit Tap(const sc_core::sc_module_name& name) : sc_core::sc_module(name), in("in"), out("out") {
    in.bind(*this);
    out.bind(*this);
  }
  link::WarpTargetSocket in;
  link::WarpInitiatorSocket out;
  unsigned offers = 0;

 private:
  ::tlm::tlm_sync_enum nb_transport_fw(link::SubWarp& sub_warp, link::WarpPhase& phase,
                                       sc_core::sc_time& delay) override {
    ++offers;
    return out->nb_transport_fw(sub_warp, phase, delay);
  }
};

TEST(BehindSocket, DirectOrThroughATapAStageTakesTheSame) {
  Machine machine;
  CoreState state(machine, 0, nullptr);
  test::StubSender sender("sender");
  test::StubSender tapped_sender("tapped_sender");
  TakingStage direct("direct", state);
  TakingStage tapped("tapped", state);
  Tap tap("tap");
  sender.out.socket.bind(direct.in);
  tapped_sender.out.socket.bind(tap.in);
  tap.out.bind(tapped.in);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  link::SubWarp one, two, three, other_one, other_two, other_three;
  state.now = 10;
  EXPECT_TRUE(sender.out.offer(one));
  EXPECT_TRUE(tapped_sender.out.offer(other_one));
  state.now = 11;
  EXPECT_TRUE(sender.out.offer(two));
  EXPECT_TRUE(tapped_sender.out.offer(other_two));
  EXPECT_FALSE(sender.out.offer(three));  // two cycles of latency: two places
  EXPECT_FALSE(tapped_sender.out.offer(other_three));
  EXPECT_EQ(direct.head(11), nullptr);
  EXPECT_EQ(tapped.head(11), nullptr);
  EXPECT_EQ(direct.head(12), &one);
  EXPECT_EQ(tapped.head(12), &other_one);
  EXPECT_EQ(tap.offers, 3U);
}

}  // namespace
}  // namespace heddle::hw
