// The way of sub-warps that nothing holds up: by their times instead of through the stages.
//
// With strict issue, no module sees an instruction between fetch and write-back, or the memory stage if it accesses
// memory: its warp is not fetched before it retires, and no other warp has its registers. Unless something is in its
// way, the cycles in which it passes the stages are known when it is fetched. So it becomes an entry here with those
// cycles; decode, register read and execute do not see it, and all that they would do happens at the end of its way:
// when it retires, in the cycle in which write-back would have it, or when the memory stage gets it. Where decode parts
// a warp into sub-warps, each has its way from there.
//
//   takes(...)   fetch offers what it has fetched, or decode what it has formed (from_decode()). True: it is here
//   tick(now)    a cycle of the core's pipeline, of stages with work only
//   land()       everything here becomes what it would be in the stages: payloads in their latches, with what has been
//                done to them by now (nothing is deferred then)
//
// The times. A sub-warp is in decode fetch_latency cycles after its fetch, then in register read, then begins to
// execute. It leaves the execute stages when its operation is through them and the one before it has left, one per
// cycle: leaves = max(begins + execute_stages - 1, leaves of the one before + 1). Sub-warps that the stages see and
// sub-warps here are one sequence. A cycle later it is in the memory stage, and what accesses no memory retires in the
// next. What can hold one up: a sub-warp that stays at the memory stage's head, results of another unit that leave the
// execute stages' exit, a sub-warp that finds no room to execute. Whoever looks at the stages' heads after their work
// in a cycle sees that before it can matter to the sub-warps here; then they land, and the stages move them on. What
// comes from fetch is deferred then (SubWarp::deferred): a payload that passes the stages as it was fetched, all that
// they would do to it being done, as for the sub-warps here, when it retires or leaves for the memory stage; so is what
// fetch hands to decode while something stays. From the first cycle on in which nothing stays where it is, new
// sub-warps are taken again. (An instruction that stays in decode while its sub-warps are formed holds up none of
// them.)
//
// Not with observers or replayed records, which see every stage; issue disciplines that overlap a warp's instructions
// or know the next PC early; scalar instructions; coalescers that gather; lanes that fetch for themselves; mechanisms
// that part groups in flight (usable()). Tests compare runs with those of watched cores, which have no fast path.
#pragma once

#include <array>
#include <cstdint>

#include "hw/core/execute/execute.hpp"
#include "hw/core/execute/register_read.hpp"
#include "hw/core/execute/writeback.hpp"
#include "hw/core/front/decode.hpp"
#include "hw/core/front/fetch.hpp"
#include "hw/core/memory/memory.hpp"
#include "hw/effects/own_row.hpp"

namespace heddle::hw {

class FastPath {
 public:
  struct Stages {
    FetchStage& fetch;
    DecodeStage& decode;
    RegisterReadStage& register_read;
    ExecuteStage& execute;
    MemoryStage& memory;
    WriteBackStage& writeback;
    RegisterFile& registers;
    WarpUnit& warps;
  };
  FastPath(CoreState& state, const Stages& stages);
  FastPath(const FastPath&) = delete;
  FastPath& operator=(const FastPath&) = delete;

  // Whether a core of this machine can have one, whoever looks at it.
  [[nodiscard]] static bool usable(const Machine& machine);

  // Before a launch, for the present table of groups: nothing is here. False: it takes nothing, as long as that is so.
  bool reset();
  [[nodiscard]] bool empty() const { return retiring_.empty() && accessing_.empty(); }
  // Of that table: a group may become several sub-warps, so decode offers them, and fetch nothing.
  [[nodiscard]] bool from_decode() const { return from_decode_; }
  [[nodiscard]] bool takes(const Group& group, std::uint64_t word);
  [[nodiscard]] bool takes(link::SubWarp& formed);
  // `from_memory`: the memory stage has had its turn already; nothing is here, nor in write-back.
  void tick(Cycle now, bool from_memory = false);
  // Of the sub-warps here that have begun to execute before `now`: the cycle in which the last one leaves; 0: there is
  // none.
  [[nodiscard]] Cycle begun_leave_until(Cycle now) const;
  // At the start of cycle `now`, before any stage's work.
  void land(Cycle now) {
    if (!empty()) {
      land(now, Done::nothing);
    }
    if (!from_decode_) {
      make_up_all();
    }
  }
  // A payload that fetch makes for decode: whether it is deferred.
  void defer(link::SubWarp& sub_warp) const;
  // Does to a deferred payload all that the stages have not done, up to the end of its operation; it is deferred no
  // more.
  void make_up(link::SubWarp& sub_warp);
  // Does so in write-back, where the payload retires.
  void retire(link::SubWarp& sub_warp);

 private:
  // What has had its turn in the cycle, in the stages' order.
  enum class Done : std::uint8_t { nothing, memory, execute, register_read, decode };
  struct Entry {
    Cycle begins = 0;  // in the functional units
    Cycle leaves = 0;  // the execute stages
    const link::DecodedInstruction* decoded = nullptr;
    link::SubWarp* formed = nullptr;  // from decode; null: from fetch
    GroupId group = 0;
    std::uint32_t pc = 0;
    std::uint8_t flight = 0;
  };
  // In the order in which they leave.
  class Queue {
   public:
    // As many as there are cycles from fetch to write-back, at most; a power of two.
    static constexpr std::size_t kPlaces = 256;
    [[nodiscard]] bool empty() const { return count_ == 0; }
    [[nodiscard]] const Entry& front() const { return entries_[first_]; }
    // One more, to be filled in where it lies: made elsewhere and copied, it would be read before it is written.
    [[nodiscard]] Entry& push() { return entries_[(first_ + count_++) % kPlaces]; }
    // What was in front stays as it is until something is pushed.
    void pop() {
      first_ = (first_ + 1) % kPlaces;
      --count_;
    }
    void clear() { first_ = count_ = 0; }
    // visit(entry) for each from the youngest on, while it says so.
    template <class Visit>
    void from_youngest(Visit visit) const {
      for (std::size_t left = count_; left != 0 && visit(entries_[(first_ + left - 1) % kPlaces]); --left) {
      }
    }

   private:
    std::array<Entry, kPlaces> entries_;
    std::size_t first_ = 0;
    std::size_t count_ = 0;
  };

  // What is taken in a cycle, if nothing holds it up.
  [[nodiscard]] Cycle begins(Cycle taken) const { return taken + to_begin_; }
  [[nodiscard]] Cycle last_in_stages(Cycle now) const;
  // A new entry for what begins to execute in a cycle, behind all before it; null: the stages are to see it.
  [[nodiscard]] Entry* enter(const link::DecodedInstruction& decoded, Cycle begins);
  // One here begins to execute in this cycle.
  [[nodiscard]] bool serves(Cycle now) const { return now >= unlanded_ && begins_[now % Queue::kPlaces] == now; }
  [[nodiscard]] link::SubWarp& payload(const Entry& entry);
  // Where it is deferred; it is no more.
  void form(link::SubWarp& sub_warp);
  void hand_to_memory();
  void retire();
  void retire_row(const link::DecodedInstruction& decoded, std::uint32_t pc, Group& group, const ThreadHome& home,
                  Cycle read);
  void make_up_all();
  void stays(Cycle now, Done done);
  void land(Cycle now, Done done);
  void land(const Entry& entry, Cycle now, Done done);

  CoreState& state_;
  Stages stages_;
  const Cycle to_decode_, to_read_, to_execute_, execute_stages_;  // latencies
  const bool keeps_row_;                                           // SubWarpFormer::Traits
  bool from_decode_ = false;
  Cycle to_begin_ = 0;                          // cycles from where it is taken to the functional units
  Queue retiring_;                              // what depends on registers alone
  Queue accessing_;                             // what the memory stage gets
  std::array<Cycle, Queue::kPlaces> begins_{};  // of the entries: each in the place of its cycle
  Cycle unlanded_ = 0;                          // entries that begin before it have landed
  bool held_ = false;                           // something stays where it is in this cycle
  bool known_ = false;                          // last_leaves_ is that of the sub-warp that was fetched last
  Cycle last_leaves_ = 0;
  OwnRow own_row_;
};

}  // namespace heddle::hw
