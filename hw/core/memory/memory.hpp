// Memory stage: what becomes of the sub-warp at its head, and of those that have left it to wait. The parts of its work
// have each a header of their own: address_check, local_path, private_path, scratchpad_path, texture_path,
// constant_path; line_requests, load_store_unit; pending_accesses, gathering, return_queue.
//
//   in              target, WarpProtocol           from execute
//   scratchpad      initiator, ScratchpadProtocol  timing by b_transport, data by direct memory
//   private_memory  initiator, PrivateProtocol     likewise, of a core that has one (private.bytes)
//   l1d             initiator, LineProtocol        each distinct line of an access takes one port cycle
//   texture         initiator, LineProtocol        likewise, of texture fetches
//   bulk_copies     initiator, BulkCopyProtocol    copies in bulk, of a core that has a unit for them (bulk_copy.queue)
//   constants       initiator, LineProtocol        each distinct address of a load of constants or kernel parameters
//                                                  takes a cycle, of a core that has a constant cache
//   out             initiator, WarpProtocol        to write-back, in pipeline order
//   returns         initiator, WarpProtocol        to write-back, accesses that had been put aside
// A sub-warp with a miss is put aside until all its lines are there, so that others flow through (LWM report 2.2,
// thesis 2.1.2). Where the coalescer gathers, the sub-warps of an instruction leave the stage's head until its last one
// has come, which holds the stage until the lines of all of them have been sent. A sub-warp whose lines are all there,
// some of them late (l1d.hit_latency), is not: it is in a pipeline of hit_latency cycles, takes no place of a waiting
// access, its group is in flight, and it goes to write-back by `returns` when the last answer comes. So do scratchpad
// accesses whose results take their time (scratchpad.latency). Scratchpad bank conflicts hold the stage, and so do the
// words of private memory.
//
// With a memory queue (lsu.queue) accesses wait there, and what accesses no memory, or constants and parameters alone,
// passes them; what goes through constant caches is at the stage's head until its last address has been sent. The
// load-store unit has one access of the sub-core at a time, which goes to write-back by `returns`.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "hw/core/memory/address_check.hpp"
#include "hw/core/memory/bulk_copy_path.hpp"
#include "hw/core/memory/constant_path.hpp"
#include "hw/core/memory/gathering.hpp"
#include "hw/core/memory/load_store_unit.hpp"
#include "hw/core/memory/local_path.hpp"
#include "hw/core/memory/memory_queue.hpp"
#include "hw/core/memory/pending_accesses.hpp"
#include "hw/core/memory/private_path.hpp"
#include "hw/core/memory/return_queue.hpp"
#include "hw/core/memory/scratchpad_path.hpp"
#include "hw/core/memory/texture_path.hpp"
#include "hw/core/pipeline/stage.hpp"
#include "hw/core/warps/warp_unit.hpp"

namespace heddle::hw {

class MemoryStage final : public ReceivingStage,
                          public AccessesAside,
                          private ::tlm::tlm_bw_transport_if<link::LineProtocol>,
                          private ::tlm::tlm_bw_transport_if<BulkCopyProtocol> {
 public:
  MemoryStage(const sc_core::sc_module_name& name, CoreState& state, link::Clock clock,
              std::unique_ptr<Coalescer> coalescer);

  link::LineInitiatorSocket l1d;
  link::LineInitiatorSocket texture;
  ScratchpadInitiatorSocket scratchpad;
  // Null: the core has no private memory.
  [[nodiscard]] PrivateInitiatorSocket* private_memory() { return private_path_ ? &private_path_->socket : nullptr; }
  // Null: the core has no constant cache.
  [[nodiscard]] link::LineInitiatorSocket* constants() { return constant_path_ ? &constant_path_->socket : nullptr; }
  // Null: the core has no unit for copies in bulk.
  [[nodiscard]] BulkCopyInitiatorSocket* bulk_copies() { return bulk_path_ ? &bulk_path_->socket : nullptr; }
  StageOutput out;
  StageOutput returns;

  // Every store that has left the core so far has been acknowledged: membar waits for that. Asked while one does.
  std::function<bool()> stores_visible;
  // What it shares the load-store unit by with the core's other sub-cores; needed where there is a memory queue.
  AccessSlots* slots = nullptr;
  // And addresses of constants in registers; where it has a constant cache.
  void read_constants_at(SharedRate& rate) {
    if (constant_path_) {
      constant_path_->indexed = &rate;
    }
  }
  // A membar completes: loads behind it must see what others had stored before, whatever copies the L1 has.
  std::function<void()> drop_old_copies;

  void tick(Cycle now) override;
  After turn(Cycle now) override { return turn_of(*this, now); }
  [[nodiscard]] bool idle() const override {
    return empty() && only_head() && (!queue_.exists() || (present_ == nullptr && (queue_.empty() || queue_sleeps())));
  }
  // Where accesses wait for the load-store unit.
  [[nodiscard]] MemoryQueue& queue() { return queue_; }
  [[nodiscard]] unsigned queue_places() const { return queue_.taken(); }
  // When it has something to do by itself next, with nothing else to do: results of the scratchpad come, or the queue's
  // first access goes on; kNever: neither. It has a turn then, with all other stages.
  [[nodiscard]] Cycle next_by_itself() const {
    const Cycle queue = queue_.empty() || present_ != nullptr || !queue_sleeps() ? link::kNever : queue_.next();
    return std::min({queue, results_.next(), constant_results_.next()});
  }
  [[nodiscard]] bool goes_on(Cycle now) const { return next_by_itself() <= now; }
  void comes_alive() const { has_work(); }
  [[nodiscard]] unsigned put_aside() const { return pending_.put_aside(); }
  // Accesses that wait for the other sub-warps of their instruction (Coalescer::Traits::gathers).
  [[nodiscard]] unsigned gathered() const { return gathering_.waiting(); }
  // Whether the sub-warp at the stage's head had to stay in the latest cycle, and for want of room where; it stays as
  // long as nothing comes back from the cache.
  enum class Refused : std::uint8_t { no, here, by_l1d, by_texture };
  [[nodiscard]] Refused refused() const { return only_head() ? refused_ : Refused::no; }
  // It would be refused again: nothing has happened that could make room.
  [[nodiscard]] bool rests_on() override;
  // After a cycle in which lines of the sub-warp at the head were sent, and not all: the next one is refused in the
  // next cycle, for want of room, unless something happens that makes some. True: refused() says so already.
  [[nodiscard]] bool foresees_stuck() override;
  // Its head was refused, and what refuses would not any more.
  [[nodiscard]] bool may_have_room() const {
    return (refused() == Refused::by_l1d || refused() == Refused::by_texture) &&
           (load_store_.full() == nullptr || !load_store_.full()->refuses_still());
  }
  // Nothing but the sub-warp at the head has anything to do here.
  [[nodiscard]] bool only_head() const { return back_.empty() && fences_.empty(); }
  // Nothing but want of room in the memory stage holds up a whole pipeline for long.
  [[nodiscard]] bool stuck(Cycle) const override { return refused() != Refused::no && constants_ == nullptr; }
  [[nodiscard]] StageOutput* output() override { return &out; }
  // What accesses no memory is not held.
  [[nodiscard]] bool sees_all() override { return gathers_; }
  [[nodiscard]] bool lets_by(const link::DecodedInstruction& decoded) const override {
    return decoded.unit != isa::Unit::memory;
  }
  [[nodiscard]] bool works_in_row() const override { return true; }
  void shows(link::SubWarp& sub_warp) override { state_.observer->in_memory(state_, sub_warp); }
  // The accesses of one instruction of a group (Group::flights) that are in the stage, put aside, or wait for late
  // hits: visit(const MemoryAccess&) for that of each sub-warp. MemoryAccess::waiting() says which of its lanes wait,
  // its lines which are under way.
  template <class Visit>
  void each_access(GroupId group, unsigned flight, Visit visit) const {
    pending_.each([&](const MemoryAccess& access) {
      if (access.sub_warp->group == group && access.sub_warp->flight == flight) {
        visit(access);
      }
    });
  }
  // The cache that refuses the next line would have been asked in every cycle.
  [[nodiscard]] bool counts_rests() const override { return true; }
  void rests(bool stopped) override;
  // Who watches the cache that refuses is told that it does so in each cycle of a rest, and that the rest is over.
  void shows_rest(bool rests) {
    if (refuses_ != nullptr) {
      refuses_->refuses_on(rests);
    }
  }
  void waited(Cycle, Cycle cycles) override {
    if (refuses_ != nullptr) {
      refuses_->refused_again(cycles);
    }
  }
  void reset() override;
  // Who hears of accesses that are put aside while some of their threads have been answered already
  // (PendingAccesses::part); none unless told.
  void tell(WarpUnit& warps) { warps_ = &warps; }
  [[nodiscard]] LaneMask answered(const Group& group) const override { return pending_.answered(group); }
  void leave(const Group& group, LaneMask lanes, const Group& to) override;

 private:
  // Observers are told of every cycle of an access in the queue.
  [[nodiscard]] bool queue_sleeps() const { return state_.observer == nullptr && refused_ == Refused::no; }
  [[nodiscard]] bool results_come(Cycle now) const {
    return std::min(results_.next(), constant_results_.next()) <= now;
  }
  ::tlm::tlm_sync_enum nb_transport_bw(link::LineRequest& request, link::LinePhase& phase,
                                       sc_core::sc_time& delay) override;
  ::tlm::tlm_sync_enum nb_transport_bw(BulkCopy& copy, BulkCopyPhase& phase, sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

  // A sub-warp goes to write-back by `returns`, from the next turn on.
  void comes_back(link::SubWarp& sub_warp, bool late) {
    back_.put(sub_warp, late);
    has_work();
  }
  // The last of the sub-warps beside each other has left the stage's head.
  void row_leaves() {
    scratchpad_path_.row_leaves();
    if (private_path_) {
      private_path_->row_leaves();
    }
  }
  // With a memory queue: the access that the load-store unit has or takes, and the sub-warp at the stage's head.
  void work_on_access(Cycle now);
  void pass_head(Cycle now);
  [[nodiscard]] bool enters(link::SubWarp& sub_warp, Cycle now);
  [[nodiscard]] bool answer_at_once(link::SubWarp& sub_warp);
  [[nodiscard]] bool fetch_constants(link::SubWarp& sub_warp);
  void tell_queue() const;
  // The work on the sub-warp at the stage's head.
  void work_on_head(Cycle now);
  [[nodiscard]] bool work_on(link::SubWarp& sub_warp, Cycle now);
  [[nodiscard]] bool passes(link::SubWarp& sub_warp);
  enum class Begin : std::uint8_t { goes_on, stays, waits };
  [[nodiscard]] Begin begin(link::SubWarp& sub_warp, Cycle now);
  [[nodiscard]] Begin begin_access(link::SubWarp& sub_warp, Cycle now);
  void read_banks(MemoryAccess& access) const;
  void make_lines(MemoryAccess& access);
  void copy_in_bulk(MemoryAccess& access);
  // Copies that the access's group asked for before it, bulk ones apart, are under way.
  [[nodiscard]] bool copies_before(const MemoryAccess& access) const;
  // A copy has ended: what waited for it alone happens.
  void arrive_after_copies();
  // Results of an access on their way to the lanes' registers, each access's as long as others', in their order.
  class Results {
   public:
    [[nodiscard]] Cycle next() const { return on_way_.empty() ? link::kNever : on_way_.front().at; }
    void come(MemoryAccess& access, Cycle at) { on_way_.push({at, &access}); }
    MemoryAccess& take() {
      MemoryAccess& access = *on_way_.front().access;
      on_way_.pop();
      return access;
    }
    void reset() { on_way_.clear(); }

   private:
    struct One {
      Cycle at = 0;
      MemoryAccess* access = nullptr;
    };
    link::Ring<One> on_way_;
  };
  // They come in cycle `at`.
  static void results_come_later(Results& results, MemoryAccess& access, Cycle at);
  void take_results(Results& results, Cycle now);
  // True: all lines have been sent. False: `refused_` and the core's block_cause say why not.
  [[nodiscard]] bool send(MemoryAccess& access);
  [[nodiscard]] bool send_gathered();
  // False: the sub-warp at the head cannot go on in this cycle.
  bool stays(const link::SubWarp& sub_warp, IdleCause cause) const;

  // All lines of the access at the head have been sent, and some are under way: it leaves the head.
  void wait(MemoryAccess& access);
  // All lines of an instruction have been sent: what becomes of an access that has left the head to wait for that.
  void goes_on(MemoryAccess& access);
  void put_aside_now(MemoryAccess& access);
  void tell_gathered(const link::SubWarp& sub_warp) const;
  // An access that is put aside has its hits, late ones too: tells whether its threads diverge.
  void look_for_divergence(const MemoryAccess& access);
  // It is still sending lines.
  [[nodiscard]] bool is_present(const MemoryAccess& access) const {
    return &access == present_ || &access == constants_;
  }
  // An access that has left the head has all that it waited for.
  void came(MemoryAccess& access);
  void complete(MemoryAccess& access);
  // Writes what has come into result registers.
  void write_results(MemoryAccess& access);

  const bool gathers_;     // Coalescer::Traits
  const bool mimd_lanes_;  // Divergence::Traits
  AddressCheck check_;
  LineRequests requests_;
  LoadStoreUnit load_store_;
  ScratchpadPath scratchpad_path_;
  std::unique_ptr<PrivatePath> private_path_;    // null: all local memory is in device memory
  std::unique_ptr<ConstantPath> constant_path_;  // null: constants are read at once
  std::unique_ptr<BulkCopyPath> bulk_path_;      // null: no instruction copies in bulk
  LocalPath local_path_;
  TexturePath texture_path_;
  PendingAccesses pending_;
  Gathering gathering_;
  MemoryQueue queue_;
  ReturnQueue back_;
  WarpUnit* warps_ = nullptr;
  std::vector<link::SubWarp*> fences_;   // membar: wait for the core's stores
  std::vector<MemoryAccess*> arrivals_;  // at barrier objects, which wait for copies (MemoryAccess::for_copies)
  Results results_;                      // of the scratchpad
  Results constant_results_;             // of constant caches

  // ---- the stage's head
  bool handed_on_ = false;             // to write-back in this cycle, beside which others can go
  MemoryAccess* present_ = nullptr;    // of the sub-warp in the latch; with a memory queue, in the load-store unit
  MemoryAccess* constants_ = nullptr;  // with a memory queue, of the sub-warp in the latch
  Refused refused_ = Refused::no;
  IdleCause refusal_ = IdleCause::memory_port;  // what the stages before it are held up by, where it is refused
  link::LineRoom* refuses_ = nullptr;  // at rest, the next line of the sub-warp at the stage's head; null: none does
  bool finished_ = false;              // the sub-warp in the latch only waits for write-back to take it
  Cycle busy_until_ = 0;               // scratchpad: last cycle of the access
};

}  // namespace heddle::hw
