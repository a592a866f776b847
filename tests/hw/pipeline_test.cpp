// The list of a core's stages, with stages of the test's own.
#include <gtest/gtest.h>

#include <vector>

#include "hw/core/pipeline/pipeline.hpp"

namespace heddle::hw {
namespace {

// The pipeline's beginning: offers one sub-warp, once.
class FirstStage final : public sc_core::sc_module, public Stage {
 public:
  explicit FirstStage(const sc_core::sc_module_name& name) : sc_core::sc_module(name), out("out") {}
  StageOutput out;
  void start(link::SubWarp& sub_warp) { waiting_ = &sub_warp; }
  void tick(Cycle) override {
    order.push_back(this);
    if (waiting_ != nullptr && out.offer(*waiting_)) {
      waiting_ = nullptr;
    }
  }
  [[nodiscard]] bool idle() const override { return waiting_ == nullptr; }
  [[nodiscard]] bool stuck(Cycle) const override { return true; }
  void reset() override { waiting_ = nullptr; }
  [[nodiscard]] StageOutput* output() override { return &out; }
  static inline std::vector<const Stage*> order;  // in which stages were advanced

 private:
  link::SubWarp* waiting_ = nullptr;
};

// Hands on what it takes: a stage between two others, `latency` cycles deep.
class PassingStage : public ReceivingStage {
 public:
  PassingStage(const sc_core::sc_module_name& name, CoreState& state, unsigned latency)
      : ReceivingStage(name, state, latency, CoreStage::decode), out("out") {}
  StageOutput out;
  void tick(Cycle now) override;
  [[nodiscard]] bool idle() const override { return empty(); }
  [[nodiscard]] bool stuck(Cycle now) const override { return latch_.settled(now); }
  void reset() override { drop_all(); }
  [[nodiscard]] StageOutput* output() override { return &out; }
};

void PassingStage::tick(Cycle now) {
  link::SubWarp* const sub_warp = latch_.front(now);
  if (sub_warp == nullptr) {
    return;
  }
  if (out.offer(*sub_warp)) {
    latch_.pop_all();
  } else {
    held(*sub_warp, state_.block_cause);
  }
}

// One that notes its turn.
class NotedStage final : public PassingStage {
 public:
  using PassingStage::PassingStage;
  void tick(Cycle now) override {
    FirstStage::order.push_back(this);
    PassingStage::tick(now);
  }
};

class LastStage final : public ReceivingStage {
 public:
  LastStage(const sc_core::sc_module_name& name, CoreState& state)
      : ReceivingStage(name, state, 1, CoreStage::write_back) {}
  std::vector<Cycle> came;
  bool takes = true;
  void tick(Cycle now) override {
    FirstStage::order.push_back(this);
    if (takes && latch_.front(now) != nullptr) {
      latch_.pop();
      came.push_back(now);
    }
  }
  [[nodiscard]] bool idle() const override { return empty(); }
  [[nodiscard]] bool stuck(Cycle) const override { return true; }
  void reset() override { drop_all(); }
};

class PipelineOfStages : public ::testing::Test {
 protected:
  PipelineOfStages() {
    pipeline_.bind();
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    FirstStage::order.clear();
  }
  void tick(Cycle now) {
    state_.now = now;
    pipeline_.tick(now);
  }
  Machine machine_;
  CoreState state_{machine_, 0, nullptr};
  FirstStage first_{"first"};
  NotedStage deep_{"deep", state_, 3};
  NotedStage shallow_{"shallow", state_, 1};
  LastStage last_{"last", state_};
  Pipeline pipeline_{{&last_, &shallow_, &deep_, &first_}};
};

TEST_F(PipelineOfStages, AdvancesThemFromTheLastToTheFirst) {
  for (Cycle now = 10; now < 15; ++now) {
    first_.start(state_.pool.take());
    tick(now);
  }
  FirstStage::order.clear();
  tick(15);
  EXPECT_EQ(FirstStage::order, (std::vector<const Stage*>{&last_, &shallow_, &deep_, &first_}));
}

TEST_F(PipelineOfStages, AStageWithNothingInItHasNoTurn) {
  tick(0);
  EXPECT_EQ(FirstStage::order, std::vector<const Stage*>{&first_});
  first_.start(state_.pool.take());
  tick(1);
  FirstStage::order.clear();
  tick(2);
  EXPECT_EQ(FirstStage::order, (std::vector<const Stage*>{&deep_, &first_})) << "what is in it cannot go on yet";
}

TEST_F(PipelineOfStages, JoinsThemSoThatTheirLatenciesAddUp) {
  EXPECT_EQ(pipeline_.latency_to(first_), 0U);
  EXPECT_EQ(pipeline_.latency_to(deep_), 3U);
  EXPECT_EQ(pipeline_.latency_to(shallow_), 4U);
  EXPECT_EQ(pipeline_.latency_to(last_), 5U);
  first_.start(state_.pool.take());
  for (Cycle now = 10; now < 15; ++now) {
    EXPECT_TRUE(last_.came.empty()) << now;
    EXPECT_FALSE(pipeline_.idle()) << now;
    tick(now);
  }
  tick(15);
  EXPECT_EQ(last_.came, std::vector<Cycle>{15});
  EXPECT_TRUE(pipeline_.idle());
}

TEST_F(PipelineOfStages, IsStuckWhenAllOfThemAre) {
  first_.start(state_.pool.take());
  tick(0);
  EXPECT_FALSE(pipeline_.stuck(2)) << "the deep stage sees it in cycle 3";
  EXPECT_TRUE(pipeline_.stuck(3));
}

TEST_F(PipelineOfStages, ForgetsWhatIsInAnyOfThem) {
  last_.takes = false;
  first_.start(state_.pool.take());
  for (Cycle now = 0; now < 5; ++now) {
    tick(now);
  }
  first_.start(state_.pool.take());
  tick(5);
  EXPECT_FALSE(last_.idle());
  EXPECT_FALSE(deep_.idle());
  EXPECT_FALSE(pipeline_.idle());
  pipeline_.reset();
  EXPECT_TRUE(pipeline_.idle());
}

}  // namespace
}  // namespace heddle::hw
