// One sub-warp's instruction on its way through the stages of a core: the payload of WarpProtocol
// (tlm/warp_protocol.hpp). Plain data, without SystemC.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "isa/register_use.hpp"
#include "isa/result_form.hpp"
#include "isa/result_time.hpp"
#include "isa/semantics.hpp"

namespace heddle::link {

// What the core's issue discipline says of an instruction, whoever executes it (hw/issue/discipline.hpp).
struct IssueRules {
  // Its group may go on as soon as the former has handed on its last sub-warp: the next PC is known, and nothing that
  // the next instruction does can come before it in the pipeline.
  bool early = false;
  // Decode keeps it until all earlier ones of its group have completed.
  bool waits_for_earlier = false;
  // Instructions behind it need not wait until it has completed.
  bool outlasts = false;
  // It waits in front of the pipeline for all that outlasts it.
  bool waits_for_all = false;
  isa::ResultTime result_time;  // where warps know their dependences by control bits
};

// What decode finds out about an instruction word once.
struct DecodedInstruction {
  isa::InstructionWord word;
  isa::Instruction instruction;
  isa::LaneFunction function = nullptr;  // null: not lane-wise
  isa::ResultForm form;
  isa::SourcePredicates sources;
  isa::Unit unit = isa::Unit::alu;
  std::uint8_t a_words = 0, b_words = 0, c_words = 0, d_words = 0, stored_words = 0;
  std::uint8_t operand_words = 0;  // the sum of the five: 32-bit words that a lane reads
  std::uint16_t occupies = 0;      // a product of matrices: for how many cycles it takes the tensor core
  bool conditional_branch = false;
  bool floating_point = false;
  isa::LaneKind lanes = isa::LaneKind::other;
  bool plain = false;  // it does no more to its group than to move its threads on: no control, barrier or PROGRESS
  // What it does depends on its threads' registers alone and cannot fail, in the time of a simple operation: no memory
  // access, barrier, complex operation, special register.
  bool self_contained = false;
  // An operation between lanes of a warp that has several rows: its sub-warps, one behind the other, have each a part
  // of the results (register read computes them with the first one).
  bool exchanges = false;
  bool forms_one = false;  // it takes one sub-warp, however many threads its group has (SubWarpFormer::forms_one)
  bool queues = false;     // it takes a place of the memory queue, where there is one (lsu.queue)
  bool by_guard = false;   // only threads whose guard is true are in its sub-warps
  IssueRules issue;
  isa::RegisterUse use;
  // Where operands go by ports of register banks (registers.banks): the words, and which of them are marked for reuse,
  // a bit for each (hw/registers/reuse_marks.hpp).
  isa::OperandWords operands;
  std::uint8_t reuse = 0;
  // Of its sub-warps in the present launch (hw/core/pipeline/pipeline.hpp): at which stages they stop, a bit for each;
  // at which stage their passages end, 0: they have none; they leave the functional units in order; all that stages do
  // to them is in hw/effects/own_row.hpp.
  std::uint32_t stops = ~std::uint32_t{0};
  std::uint8_t passage_end = 0;
  bool in_order = false;
  bool in_row = false;
};

// Lanes that hold threads of one register row.
struct RowLanes {
  std::uint16_t row = 0;
  isa::LaneMask lanes = 0;
};

struct SubWarp {
  // Where rows are told row by row: so many at most, beyond which going from lane to lane is as good.
  static constexpr unsigned kMostRows = 8;

  // Written by fetch.
  std::uint32_t group = 0;
  std::uint32_t pc = 0;
  isa::InstructionWord word;
  std::uint8_t flight = 0;  // the group's record of this instruction
  // How many stages of the pipeline have done their work on it; the others have put theirs off, or it has not come
  // there (hw/core/pipeline/pipeline.hpp).
  std::uint8_t done = 0;
  std::uint64_t begins = 0;  // let by: the cycle in which it begins in the functional units, unless it is held up
  // Passes the stages together with this one, in other lanes (lanes that execute each an instruction of its own); null:
  // none, or it is the last. Set by the latch that they share (WarpPhase::beside).
  SubWarp* beside = nullptr;
  // Written by decode and the sub-warp former. Lane l holds the thread of register row row[l] (first_row if uniform)
  // and home lane home[l] (l itself unless displaced).
  const DecodedInstruction* decoded = nullptr;
  isa::LaneMask lanes = 0;  // lanes that hold a thread
  bool uniform = true;
  bool last = true;        // last sub-warp of its instruction
  bool resolved = false;   // execute: the group knows which lanes take this branch
  bool forwarded = false;  // execute: later instructions of the group have its results; write-back writes none
  std::uint16_t first_row = 0;
  std::array<std::uint16_t, isa::kLanes> row{};
  bool displaced = false;  // never with uniform
  // What `row` says, row by row, which is how operands are gathered: each of `lanes` is in one of rows[0..row_count);
  // lanes beside those may be in some, too. 0: look at each lane. Never with uniform or displaced.
  std::uint8_t row_count = 0;
  std::array<RowLanes, kMostRows> rows{};
  bool whole = false;   // stands for every active thread of its group (taken once: a jump, a scalar instruction)
  bool scalar = false;  // whole, and its one lane computes what every active thread gets (core.scalar)
  std::array<std::uint8_t, isa::kLanes> home{};
  isa::LaneMask warp = 0;  // of an instruction that exchanges: the active threads of its warp, by their lane ids
  // Written by register read.
  isa::LaneMask executing = 0;  // lanes whose guard is true
  isa::LaneValues values;       // operands; results by execute and memory
  // Written by execute for memory operations: generic address per lane, and its low word (retirement hash).
  std::array<std::uint64_t, isa::kLanes> address{};
  alignas(64) isa::LaneWord address_low{};

  [[nodiscard]] std::uint16_t row_of(unsigned lane) const { return uniform ? first_row : row[lane]; }
  [[nodiscard]] unsigned home_of(unsigned lane) const { return displaced ? home[lane] : lane; }
};

// Sub-warps are taken from here and come back at retirement, so that the hot path allocates nothing.
class SubWarpPool {
 public:
  [[nodiscard]] SubWarp& take() {
    if (free_.empty()) {
      all_.push_back(std::make_unique<SubWarp>());
      return *all_.back();
    }
    SubWarp* const sub_warp = free_.back();
    free_.pop_back();
    return *sub_warp;
  }
  void give_back(SubWarp& sub_warp) { free_.push_back(&sub_warp); }
  // At the start of a launch, when a fault has left some in the pipeline.
  void take_back_all() {
    free_.clear();
    for (const std::unique_ptr<SubWarp>& sub_warp : all_) {
      sub_warp->beside = nullptr;
      free_.push_back(sub_warp.get());
    }
  }
  [[nodiscard]] std::size_t in_use() const { return all_.size() - free_.size(); }

 private:
  std::vector<std::unique_ptr<SubWarp>> all_;
  std::vector<SubWarp*> free_;
};

}  // namespace heddle::link
