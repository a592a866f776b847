// How far cores may run on, alone: the first cycle in which anything can come to a core, of modules that are due when
// the test says. Requests take 3 cycles through the interconnect, responses 5.
#include "hw/gpu/basic_foresight.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace heddle::hw {
namespace {

using link::Cycle;
using link::kNever;

struct DueModule {
  Cycle next = kNever;
  [[nodiscard]] Cycle due() const { return next; }
};
struct ExpectingCore {
  enum class Expects { anything, answers, nothing };
  Expects says = Expects::nothing;
  [[nodiscard]] Expects expects() const { return says; }
};
struct RoomyNoc : DueModule {
  std::vector<Cycle> responses{kNever, kNever};
  bool room = true;
  mutable unsigned asked_core = 99;
  mutable Cycle asked_cycle = 0;
  void next_responses(std::vector<Cycle>& by_core) const { by_core = responses; }
  [[nodiscard]] bool has_room(unsigned core, Cycle now) const {
    asked_core = core;
    asked_cycle = now;
    return room;
  }
};
struct StandInModules {
  const std::vector<std::unique_ptr<ExpectingCore>>& cores;
  const DueModule& dispatcher;
  const RoomyNoc& noc;
  const DueModule* probes;
  const std::vector<std::unique_ptr<DueModule>>& l2;
  const std::vector<std::unique_ptr<DueModule>>& dram;
  const std::vector<std::unique_ptr<DueModule>>& ways;
};

struct Foreseen {
  enum Kind { plain, copies, homes };
  explicit Foreseen(Kind kind = plain)
      : foresight(machine(kind),
                  StandInModules{cores, dispatcher, noc, kind == homes ? &probes : nullptr, l2, dram, ways}) {
    for (unsigned i = 0; i != 2; ++i) {
      cores.push_back(std::make_unique<ExpectingCore>());
      l2.push_back(std::make_unique<DueModule>());
      dram.push_back(std::make_unique<DueModule>());
    }
  }
  static Machine machine(Kind kind) {
    Machine out;
    out.gpu.cores = 2;
    out.noc.request_latency = 3;
    out.noc.response_latency = 5;
    out.l2.enabled = true;
    out.l2.inclusive = kind == copies;
    return out;
  }
  // Of core 1, which expects nothing or answers.
  Cycle idle(Cycle now = 100, Cycle told = kNever) { return until(ExpectingCore::Expects::nothing, now, told); }
  Cycle waiting(Cycle now = 100, Cycle told = kNever) { return until(ExpectingCore::Expects::answers, now, told); }
  Cycle until(ExpectingCore::Expects expects, Cycle now, Cycle told) {
    cores[1]->says = expects;
    foresight.look(now, told);
    return foresight.undisturbed_until(1);
  }

  std::vector<std::unique_ptr<ExpectingCore>> cores;
  std::vector<std::unique_ptr<DueModule>> l2, dram, ways;
  DueModule dispatcher, probes;
  RoomyNoc noc;
  BasicForesight<StandInModules> foresight;
};

TEST(CoreForesight, ACoreThatMayGetABlockDoesNotRunOn) {
  Foreseen modules;
  EXPECT_EQ(modules.until(ExpectingCore::Expects::anything, 100, kNever), 0U);
}

TEST(CoreForesight, ACoreThatHasAskedForNothingHearsOfTheDispatcherAlone) {
  Foreseen modules;
  EXPECT_EQ(modules.idle(), kNever);
  modules.dispatcher.next = 107;
  EXPECT_EQ(modules.idle(), 108U) << "in the cycle after its turn";
  modules.dispatcher.next = kNever;
  modules.noc.next = modules.l2[0]->next = modules.dram[1]->next = 101;
  modules.noc.responses = {100, 100};
  modules.noc.room = false;
  EXPECT_EQ(modules.idle(100, 101), kNever);
}

TEST(CoreForesight, AnAnswerComesThroughTheInterconnectAtTheEarliest) {
  Foreseen modules;
  // What the core asks for in this cycle is in the interconnect in 101, out of it in 104, and back in 109.
  EXPECT_EQ(modules.waiting(), 109U);
  EXPECT_EQ(modules.noc.asked_core, 1U);
  EXPECT_EQ(modules.noc.asked_cycle, 100U);
  // What a module does in cycle 102 the interconnect has in 103 and the core in 108; in 103 it is no earlier than that.
  for (Cycle* const due : {&modules.noc.next, &modules.l2[1]->next, &modules.dram[0]->next}) {
    *due = 102;
    EXPECT_EQ(modules.waiting(), 108U);
    *due = 103;
    EXPECT_EQ(modules.waiting(), 109U);
    *due = 104;
    EXPECT_EQ(modules.waiting(), 109U);
    *due = kNever;
  }
  EXPECT_EQ(modules.waiting(100, 101), 107U) << "what has been told counts like a turn";
  modules.dispatcher.next = 100;
  EXPECT_EQ(modules.waiting(), 101U);
}

TEST(CoreForesight, AnAnswerOnItsWayIsTheCoresOwn) {
  Foreseen modules;
  modules.noc.responses = {101, 105};
  EXPECT_EQ(modules.waiting(), 106U);
  modules.noc.responses = {101, 200};
  EXPECT_EQ(modules.waiting(), 109U) << "the other core's is none of its business";
}

TEST(CoreForesight, WithoutRoomInTheInterconnectAWaitingCoreDoesNotRunOn) {
  Foreseen modules;
  modules.noc.room = false;
  EXPECT_EQ(modules.waiting(), 0U);
}

TEST(CoreForesight, AnInclusiveL2TakesCopiesBack) {
  Foreseen modules(Foreseen::copies);
  // For what a core asks for in this cycle: out of the interconnect in 104, at the slice then, at the core in 105.
  EXPECT_EQ(modules.idle(), 105U);
  EXPECT_EQ(modules.waiting(), 105U);
  modules.l2[1]->next = 102;
  EXPECT_EQ(modules.idle(), 103U) << "in the cycle after the slice's turn";
  modules.l2[1]->next = kNever;
  for (Cycle* const due : {&modules.noc.next, &modules.dram[1]->next}) {
    *due = 101;
    EXPECT_EQ(modules.idle(), 103U) << "by way of the slice, a cycle later";
    *due = 103;
    EXPECT_EQ(modules.idle(), 105U);
    *due = kNever;
  }
  EXPECT_EQ(modules.idle(100, 101), 103U);
}

TEST(CoreForesight, AnL2ThatIsSwitchedOffTakesNothingBack) {
  Machine machine = Foreseen::machine(Foreseen::copies);
  machine.l2.enabled = false;
  Foreseen modules;
  BasicForesight<StandInModules> foresight(
      machine, {modules.cores, modules.dispatcher, modules.noc, nullptr, modules.l2, modules.dram, modules.ways});
  foresight.look(100, kNever);
  EXPECT_EQ(foresight.undisturbed_until(1), kNever);
}

TEST(CoreForesight, AHomeSendsThroughAnInterconnectOfItsOwn) {
  Foreseen modules(Foreseen::homes);
  // What a core asks for in this cycle reaches the home in 104, whose message is in its network in 105 and out in 108.
  EXPECT_EQ(modules.idle(), 108U);
  modules.probes.next = 103;
  EXPECT_EQ(modules.idle(), 104U) << "in the cycle after the network's turn";
  modules.probes.next = kNever;
  modules.l2[0]->next = 103;
  EXPECT_EQ(modules.idle(), 107U);
  modules.l2[0]->next = 104;
  EXPECT_EQ(modules.idle(), 108U);
  modules.l2[0]->next = kNever;
  for (Cycle* const due : {&modules.noc.next, &modules.dram[1]->next}) {
    *due = 102;
    EXPECT_EQ(modules.idle(), 107U);
    *due = 103;
    EXPECT_EQ(modules.idle(), 108U);
    *due = kNever;
  }
  EXPECT_EQ(modules.idle(100, 101), 106U);
}

TEST(CoreForesight, KnowsAllThatCanComeOrLetsNobodyRunOn) {
  using Any = BasicForesight<StandInModules>;
  const Machine usual = Foreseen::machine(Foreseen::plain);
  EXPECT_TRUE(Any::knows(usual));
  Machine other = usual;
  other.gpu.cores = 1;
  EXPECT_FALSE(Any::knows(other));
  other = usual;
  other.gpu.perfect_memory = true;
  EXPECT_FALSE(Any::knows(other));
  other = usual;
  other.icache.ideal = true;
  EXPECT_FALSE(Any::knows(other));
  other = usual;
  other.core.divergence = "odgs";
  EXPECT_FALSE(Any::knows(other)) << "threads change cores";
}

}  // namespace
}  // namespace heddle::hw
