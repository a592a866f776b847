// What a core knows of its groups' instructions in flight where the compiler's control bits keep dependences
// (isa::ControlBits; MICRO 2025, section 4): six dependence counters and a stall count for each group. And the judge,
// which says when an instruction goes into the pipeline before a register that it reads or writes is ready. Hardware
// has no judge; it computes with what is there.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "hw/parameters/machine.hpp"
#include "hw/state/group.hpp"
#include "isa/result_time.hpp"
#include "tlm/sub_warp.hpp"

namespace heddle::hw {

class DependenceBoard {
 public:
  // A group begins: nothing of it is in flight.
  void begin(const Group& group);
  // `next` goes into the pipeline in cycle `now`, as the group's latest instruction, for the group's active threads;
  // its result time is known (link::IssueRules). What is wrong with that; empty: nothing.
  [[nodiscard]] std::string issued(const Group& group, const link::DecodedInstruction& next, Cycle now);
  // All sub-warps of an instruction in flight have read their operands. True: it had a counter for that.
  bool operands_read(GroupId group, unsigned flight);
  // All of them have been written back.
  void completed(GroupId group, unsigned flight);
  // The stall count of the group's latest instruction is over in this cycle.
  [[nodiscard]] Cycle next_issue(GroupId group) const { return board(group).next_issue; }

  // What counters of this wait mask wait for.
  enum class Open : std::uint8_t { none, units, memory };
  [[nodiscard]] Open open(GroupId group, std::uint8_t wait) const;
  // The instruction's results are known to be there by its completion alone.
  [[nodiscard]] bool counted(GroupId group, unsigned flight) const { return board(group).flights[flight].counted; }

 private:
  struct Flight {
    const link::DecodedInstruction* decoded = nullptr;  // null: it has completed
    std::uint32_t pc = 0;
    bool counted = false;         // isa::ResultTime
    bool unread = false;          // some sub-warp has not read its operands
    Cycle there = 0;              // not counted: its results may be read in this cycle
    std::vector<LaneMask> lanes;  // its threads, by row
  };
  struct Board {
    std::uint64_t counters = 0;  // number n in byte n
    Cycle next_issue = 0;
    std::uint32_t live = 0;  // bit f: flight f has not completed
    std::array<Flight, Group::kFlights> flights;
  };
  static_assert(Group::kFlights <= 32);  // what six bits of a counter hold
  static_assert(isa::ControlBits::kCounters <= sizeof(std::uint64_t));

  [[nodiscard]] const Board& board(GroupId group) const { return boards_[group]; }
  static void count_down(Board& board, unsigned counter);
  // What `next` would do, which goes in cycle `now`, before `earlier` has done its part.
  enum class Hazard : std::uint8_t { none, read_after_write, write_after_write, write_after_read };
  [[nodiscard]] static Hazard hazard(const Flight& earlier, const link::DecodedInstruction& next, Cycle now);
  [[nodiscard]] static std::string sentence(Hazard hazard, const Flight& earlier, const link::DecodedInstruction& next,
                                            std::uint32_t pc);

  std::vector<Board> boards_;  // by group
};

}  // namespace heddle::hw
