// Memory stage: address checks, scratchpad, constants, coalescer, and the requests to the L1.
//
//   in          target, WarpProtocol           from execute
//   scratchpad  initiator, ScratchpadProtocol  timing by b_transport, data by direct memory
//   l1d         initiator, LineProtocol        each distinct line of an access takes one port cycle
//   texture     initiator, LineProtocol        likewise, of texture fetches (memory_texture.cpp)
//   out         initiator, WarpProtocol        to write-back, in pipeline order
//   returns     initiator, WarpProtocol        to write-back, accesses that had been put aside
// A sub-warp with a miss is put aside until all its lines are there, so that others flow through (LWM report 2.2,
// thesis 2.1.2). Where the coalescer gathers, the sub-warps of an instruction leave the stage's head until its last one
// has come, which holds the stage until the lines of all of them have been sent. A sub-warp whose lines are all there,
// some of them late (l1d.hit_latency), is not: it is in a pipeline of hit_latency cycles, takes no place of a waiting
// access, its group is in flight, and it goes to write-back by `returns` when the last answer comes. Scratchpad bank
// conflicts hold the stage.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "hw/cache/cache.hpp"
#include "hw/core/memory/memory_access.hpp"
#include "hw/core/pipeline/stage.hpp"
#include "hw/core/warps/warp_unit.hpp"
#include "hw/scratchpad/scratchpad.hpp"

namespace heddle::hw {

class MemoryStage final : public ReceivingStage,
                          public AccessesAside,
                          private ::tlm::tlm_bw_transport_if<link::LineProtocol>,
                          private ::tlm::tlm_bw_transport_if<ScratchpadProtocol> {
 public:
  MemoryStage(const sc_core::sc_module_name& name, CoreState& state, link::Clock clock,
              std::unique_ptr<Coalescer> coalescer);

  link::LineInitiatorSocket l1d;
  link::LineInitiatorSocket texture;
  ScratchpadInitiatorSocket scratchpad;
  StageOutput out;
  StageOutput returns;

  // Every store that has left the core so far has been acknowledged: membar waits for that. Asked while one does.
  std::function<bool()> stores_visible;
  // A membar completes: loads behind it must see what others had stored before, whatever copies the L1 has.
  std::function<void()> drop_old_copies;

  void tick(Cycle now) override;
  After turn(Cycle now) override { return turn_of(*this, now); }
  [[nodiscard]] bool idle() const override { return empty() && returned_.empty() && fences_.empty(); }
  [[nodiscard]] unsigned put_aside() const { return put_aside_; }
  // Accesses that wait for the other sub-warps of their instruction (Coalescer::Traits::gathers).
  [[nodiscard]] unsigned gathered() const;
  // Whether the sub-warp at the stage's head had to stay in the latest cycle, and for want of room where; it stays as
  // long as nothing comes back from the cache.
  enum class Refused : std::uint8_t { no, here, by_l1d, by_texture };
  [[nodiscard]] Refused refused() const { return only_head() ? refused_ : Refused::no; }
  // It would be refused again: nothing has happened that could make room.
  [[nodiscard]] bool refused_still();
  // After a cycle in which lines of the sub-warp at the head were sent, and not all: the next one is refused in the
  // next cycle, for want of room, unless something happens that makes some. True: refused() says so already.
  [[nodiscard]] bool foresees_refusal();
  // Nothing but the sub-warp at the head has anything to do here.
  [[nodiscard]] bool only_head() const { return returned_.empty() && fences_.empty(); }
  // Nothing but want of room in the memory stage holds up a whole pipeline for long.
  [[nodiscard]] bool stuck(Cycle) const override { return refused() != Refused::no; }
  [[nodiscard]] StageOutput* output() override { return &out; }
  // What accesses no memory is not held.
  [[nodiscard]] bool sees_all() override { return gathers_; }
  [[nodiscard]] bool lets_by(const link::DecodedInstruction& decoded) const override {
    return decoded.unit != isa::Unit::memory;
  }
  [[nodiscard]] bool works_in_row() const override { return true; }
  // The accesses of one instruction of a group (Group::flights) that are in the stage, put aside, or wait for late
  // hits: visit(const MemoryAccess&) for that of each sub-warp. MemoryAccess::waiting() says which of its lanes wait,
  // its lines which are under way.
  template <class Visit>
  void each_access(GroupId group, unsigned flight, Visit visit) const {
    for (const auto& access : accesses_) {
      if (access->sub_warp != nullptr && access->sub_warp->group == group && access->sub_warp->flight == flight) {
        visit(*access);
      }
    }
  }
  [[nodiscard]] bool foresees_stuck() override { return foresees_refusal(); }
  [[nodiscard]] bool rests_on() override { return refused_still(); }
  // The cache that refuses the next line would have been asked in every cycle.
  [[nodiscard]] bool counts_rests() const override { return true; }
  void rests(bool stopped) override;
  void waited(Cycle, Cycle cycles) override {
    if (refuses_ != nullptr) {
      refuses_->refused_again(cycles);
    }
  }
  void reset() override;
  // Who hears of accesses that are put aside while some of their threads have been answered already
  // (memory_parting.cpp); none unless told.
  void tell(WarpUnit& warps) { warps_ = &warps; }
  [[nodiscard]] LaneMask answered(const Group& group) const override;
  void leave(const Group& group, LaneMask lanes, const Group& to) override;

 private:
  ::tlm::tlm_sync_enum nb_transport_bw(link::LineRequest& request, link::LinePhase& phase,
                                       sc_core::sc_time& delay) override;
  ::tlm::tlm_sync_enum nb_transport_bw(ScratchpadAccess&, link::WarpPhase&, sc_core::sc_time&) override {
    throw InternalError("the scratchpad's socket is blocking");
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override { scratchpad_data_ = nullptr; }

  // A sub-warp goes to write-back by `returns`, from the next turn on.
  void comes_back(link::SubWarp& sub_warp, bool late) {
    returned_.emplace_back(sub_warp, late);
    has_work();
  }
  // The work on the sub-warp at the stage's head.
  void work(Cycle now);
  [[nodiscard]] bool work_on(link::SubWarp& sub_warp, Cycle now);
  [[nodiscard]] bool passes(link::SubWarp& sub_warp);
  enum class Begin : std::uint8_t { goes_on, stays, waits };
  [[nodiscard]] Begin begin(link::SubWarp& sub_warp, Cycle now);
  [[nodiscard]] bool hand_back(link::SubWarp& sub_warp);
  void access_scratchpad(MemoryAccess& access, Cycle now);
  [[nodiscard]] Cycle occupy_banks();
  void read_bank(MemoryAccess& access, LaneMask lanes, const std::vector<std::uint8_t>& bank);
  void translate_local(MemoryAccess& access);
  // Notes what a store writes; zeroes what a load has read and its thread has never written.
  void follow_local(MemoryAccess& access);
  // Where the part of the scratchpad begins that belongs to a block.
  [[nodiscard]] std::uint32_t scratchpad_of(const BlockHome& block) const;
  void address_texels(MemoryAccess& access);
  void make_lines(MemoryAccess& access);
  void fill_store(MemoryAccess& access, AccessLine& line);
  void fill_atomic(MemoryAccess& access, AccessLine& line);
  // Offers lines until the L1 refuses one; leaves the reason in the core's block_cause.
  void send(MemoryAccess& access);
  void take_line(MemoryAccess& access, const link::LineRequest& request);
  void take_texels(MemoryAccess& access, const link::LineRequest& request);
  void is_sent(AccessLine& line, bool under_way);
  void came(AccessLine& line);
  void wait_for_lines(MemoryAccess& access);
  void wait_for_hits(MemoryAccess& access);
  [[nodiscard]] MemoryAccess* aside_of(const Group& group) const;
  // An access that is put aside has its hits, late ones too: tells whether its threads diverge.
  void look_for_divergence(const MemoryAccess& access);
  void count_misses(const MemoryAccess& access);
  void complete(MemoryAccess& access);
  [[nodiscard]] std::uint64_t stored_value(const MemoryAccess& access, unsigned lane, unsigned element) const;
  void set_waiting(link::SubWarp& sub_warp);
  void clear_waiting(link::SubWarp& sub_warp);

  // The sub-warps of one instruction that wait for each other (memory_gathering.cpp).
  struct Gathering {
    GroupId group = 0;
    unsigned flight = 0;
    unsigned arrived = 0;  // sub-warps of the instruction, also those that access nothing
    bool joined = false;   // which lines go with which is known
    std::vector<MemoryAccess*> accesses;
  };
  void arrive(const link::SubWarp& sub_warp);
  void gather(MemoryAccess& access);
  [[nodiscard]] bool send_gathered();
  void join_lines();
  void go_with(AccessLine& lead, AccessLine& line);
  void settle(MemoryAccess& access);
  void tell_gathered(const link::SubWarp& sub_warp) const;

  // Null: something else is behind the socket.
  [[nodiscard]] Cache* cache_of(const MemoryAccess& access) {
    return access.kind == MemoryAccess::Kind::texture ? texture_cache_.of(texture) : cache_.of(l1d);
  }
  // Offers a line to the L1, that of a texture fetch to the texture cache.
  [[nodiscard]] ::tlm::tlm_sync_enum ask(AccessLine& line);

  const link::Clock clock_;
  link::BehindSocket<Cache> cache_;
  link::BehindSocket<Cache> texture_cache_;
  link::BehindSocket<Scratchpad> pad_;
  std::unique_ptr<Coalescer> coalescer_;
  const bool gathers_;                 // Coalescer::Traits
  const bool mimd_lanes_;              // Divergence::Traits
  std::vector<Gathering> gathers_of_;  // instructions whose last sub-warp has not arrived
  Gathering gathering_;                // that whose last one is at the stage's head; accesses: empty: none
  bool arrived_ = false;               // the sub-warp at the stage's head has been counted
  bool alone_ = true;                  // it is its instruction's only one
  bool sent_now_ = false;              // a line has been sent in this cycle
  WarpUnit* warps_ = nullptr;
  std::byte* scratchpad_data_ = nullptr;  // direct view
  ScratchpadAccess scratchpad_access_;
  // Lanes beside each other whose scratchpad accesses share cycles of the banks.
  struct Together {
    LaneMask lanes = 0;
    Cycle since = 0;
  };
  Together together_;
  bool handed_on_ = false;    // to write-back in this cycle, beside which others can go
  bool handed_back_ = false;  // likewise, what had waited
  std::vector<InFlight*> arriving_;
  std::vector<std::unique_ptr<MemoryAccess>> accesses_;
  std::vector<MemoryAccess*> free_;
  MemoryAccess* present_ = nullptr;  // of the sub-warp in the latch
  Refused refused_ = Refused::no;
  Cache* refuses_ = nullptr;  // at rest, the next line of the sub-warp at the stage's head; null: none does
  bool finished_ = false;     // the sub-warp in the latch only waits for write-back to take it
  Cycle busy_until_ = 0;      // scratchpad: last cycle of the access
  unsigned put_aside_ = 0;
  unsigned late_ = 0;  // accesses that wait for late hits alone
  struct Returned {
    Returned(link::SubWarp& returned, bool came_late) : sub_warp(&returned), late(came_late) {}
    link::SubWarp* sub_warp;
    bool late;
  };
  std::vector<Returned> returned_;      // complete, in order; offered one per cycle
  std::vector<link::SubWarp*> fences_;  // membar: wait for the core's stores
};

}  // namespace heddle::hw
