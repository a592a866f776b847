// Question 4 of a core: when may a group be fetched again, and may its instruction go on? One file per answer, in
// Registry<IssueDiscipline>.
#pragma once

#include <algorithm>
#include <string>

#include "base/registry.hpp"
#include "hw/parameters/machine.hpp"
#include "hw/state/group.hpp"
#include "isa/instruction.hpp"
#include "isa/result_time.hpp"
#include "tlm/sub_warp.hpp"

namespace heddle::hw {

class IssueDiscipline {
 public:
  struct Setup {
    const CoreParameters& core;
    // Accesses to the scratchpad leave the pipeline's order, as those to memory do (scratchpad_goes_on).
    bool scratchpad_goes_on = false;
    // Likewise loads of constants and kernel parameters (constants_go_on).
    bool constants_go_on = false;
  };
  // What a discipline does (hw/parameters/policy.hpp).
  struct Traits {
    // Instructions of one group overlap, so that the sub-warp former must leave threads alone that are in flight, and
    // the divergence mechanism must be able to bear it (Divergence::Traits::overlap).
    bool overlaps = true;
    // A group goes on in the cycle in which its instruction is decoded, where its next PC is known then: its
    // instructions follow each other down the pipeline in their order, and the discipline says which may read its
    // operands. Only where the divergence mechanism lets the group go on so (Divergence::goes_on).
    bool early_next_pc = false;
    // With early_next_pc: accesses to memory and long operations may outlast the group's next instructions, which wait
    // for what they bring alone (waits_for()). The group's instructions complete out of their order then.
    // Null: never.
    bool (*stalls_on_use)(const CoreParameters& core) = nullptr;
    // The compiler is to move loads ahead. Null: never.
    bool (*loads_ahead)(const CoreParameters& core) = nullptr;
    // With stalls_on_use: a warp knows its dependences by control bits (isa::ControlBits), which the compiler writes
    // from these times. Null: it finds them by itself.
    isa::ResultTime (*result_time)(const CoreParameters& core, const isa::Instruction& instruction) = nullptr;
  };
  using About = PolicyAbout<Traits, CorePolicies>;
  virtual ~IssueDiscipline() = default;
  // Asked when a sub-warp of the group has been written back, until the group's latest instruction is released; about
  // that instruction. True: the group's PC and mask are brought up to date and it may be fetched again.
  [[nodiscard]] virtual bool release(const Group& group, const isa::Instruction& instruction) const = 0;
  // Whether a group goes on at a branch as soon as sub-warps that have been written back have gone both ways, whatever
  // its other sub-warps will do; where the divergence mechanism can (Divergence::parts_at_once).
  [[nodiscard]] virtual bool releases_diverged() const { return false; }

  // ---- with the trait early_next_pc alone
  // Instructions of one group in flight at most, 1 to Group::kFlights.
  [[nodiscard]] virtual unsigned in_flight() const { return Group::kUsualFlights; }
  // Of an instruction, whose unit is known and whether its sub-warps are formed by guard: asked once for each, when it
  // is decoded (DecodedInstruction::issue).
  [[nodiscard]] virtual link::IssueRules rules(const link::DecodedInstruction& decoded) const {
    (void)decoded;
    return {};
  }
  // Cycles from the decode of an instruction with IssueRules::early until its group may be fetched again, at least.
  [[nodiscard]] virtual unsigned refetch() const { return 0; }
  // ---- with the trait stalls_on_use alone
  // The former has handed on the last sub-warp of the group's latest instruction, and the next one may come. Once for
  // each instruction, in their order; it may have completed by then.
  virtual void formed(const Group& group, const link::DecodedInstruction& decoded) {
    (void)group;
    (void)decoded;
  }
  // What `next`, the group's next instruction, must wait for before it is issued: it keeps its place in front of the
  // pipeline, where it holds up no other group, until one of the group's instructions in flight has completed.
  enum class Waits : std::uint8_t { no, for_memory, for_units };
  [[nodiscard]] virtual Waits waits_for(const Group& group, const link::DecodedInstruction& next) const {
    (void)group;
    (void)next;
    return Waits::no;
  }

  // ---- with the trait result_time alone
  // `next` goes into the pipeline in cycle `now`, as the group's latest instruction. What dependence it does not keep,
  // as a sentence; empty: none.
  [[nodiscard]] virtual std::string issued(const Group& group, const link::DecodedInstruction& next, Cycle now) {
    (void)group;
    (void)next;
    (void)now;
    return {};
  }
  // The group's next instruction goes into the pipeline in this cycle at the earliest.
  [[nodiscard]] virtual Cycle next_issue(const Group& group) const {
    (void)group;
    return 0;
  }
  // A sub-warp has read its operands. True: a counter may have come to 0.
  [[nodiscard]] virtual bool operands_read(const link::SubWarp& sub_warp) {
    (void)sub_warp;
    return false;
  }

  // ---- with the trait early_next_pc again
  // A group begins: nothing of it is in flight.
  virtual void begin(const Group& group) { (void)group; }
  // A sub-warp wants to read its operands in cycle `now`. True: it does, and what it will write is in flight from here
  // on. False: it is asked again in the next cycle. In the order of the group's instructions.
  [[nodiscard]] virtual bool read(const link::SubWarp& sub_warp, Cycle now) {
    (void)sub_warp;
    (void)now;
    return true;
  }
  // The operation of a sub-warp is in the functional units up to cycle `last`, and goes on to memory and write-back.
  // True: its results can be read before they are written (read() says from when on).
  [[nodiscard]] virtual bool computed(const link::SubWarp& sub_warp, Cycle last) {
    (void)sub_warp;
    (void)last;
    return false;
  }
  // Every sub-warp of an instruction in flight has been written back.
  virtual void completed(const Group& group, unsigned flight) {
    (void)group;
    (void)flight;
  }
};

// Whether instructions of a group complete out of their order on such a core.
[[nodiscard]] inline bool stalls_on_use(const CoreParameters& core) {
  const auto& traits = about<IssueDiscipline>(core.issue).traits;
  return traits.stalls_on_use != nullptr && traits.stalls_on_use(core);
}

// Whether warps know their dependences by control bits on such a core.
[[nodiscard]] inline bool by_control_bits(const CoreParameters& core) {
  return about<IssueDiscipline>(core.issue).traits.result_time != nullptr;
}

// Within how many registers per thread the compiler is to move loads ahead for such a core: as many as leave room for
// all threads. 0: it is not to.
[[nodiscard]] inline unsigned schedules_within(const CoreParameters& core) {
  const auto& traits = about<IssueDiscipline>(core.issue).traits;
  return traits.loads_ahead != nullptr && traits.loads_ahead(core) ? std::max(1U, core.registers / core.threads) : 0;
}

}  // namespace heddle::hw
