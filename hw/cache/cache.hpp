// What the caches have in common: lines with their data, MSHRs, ports, a write buffer, and the way to memory. What
// becomes of a request or of a line is the protocol's matter: a cache finds the line's state, asks its table
// (hw/coherence/transition_table.hpp) for the transition of state and event, and performs that. The caches of a machine
// are L1Cache, InstructionCache and L2Store, each of which adds what its role has of its own.
//
//   cpu     LineTargetSocket              requests of the core, or of the L2 slice (tlm/line_protocol.hpp)
//   memory  tlm_initiator_socket<32>      base protocol, pooled payloads with a MemoryExtension
//
// A cache has no process of its own. In every cycle in which its core runs, the core calls advance(now) once, before
// it offers requests; between its cycles the core sleeps and the cache wakes it through `core_waker` when something
// arrived. What arrives at `memory` in one cycle is visible in the next, so results do not depend on process order.
//
// Behaviour
//   ports         at most `ports` requests are accepted per cycle; more are busy (TLM_UPDATED).
//   banks         a line's bank is its number modulo their number, unless the request names banks (LineRequest::banks);
//                 a request one of whose banks has accepted another in this cycle is busy, whichever port is free.
//   hit           hit_latency 1: answered in the call. More: pending, answered hit_latency - 1 cycles later with the
//                 line as it was at the access (Answer::late_hit). A store is done in the call that accepts it, unless
//                 it waits (LineRequest::waits): then as a load is, where stores leave for memory when that has
//                 acknowledged it, and a store of a whole line in the call.
//   miss          one MSHR per outstanding line; later requests to the line merge, up to mshr_targets, and are served
//                 in order when the line comes. No MSHR or target free: busy. The read has the row-buffer hint when
//                 any of the requests has it that merged before the read left.
//   eviction      least recently used; only the dirty bytes are written, so that cores that write different bytes of
//                 one line do not undo each other. Writes that memory has not acknowledged occupy `write_buffer`
//                 entries; when none is free, requests that need one are busy and fills wait.
//   order         requests to one line leave in the order in which they were accepted; where the table says wait, a
//                 request is busy until the line under way has come.
//   atomic        where the table forwards it, a TLM_IGNORE_COMMAND payload carries the operands to the memory
//                 partition, which answers in place (LineRequest::atomic->old).
//   home          where the table knows of one (hw/coherence/mesi.cpp): a line that its owner gives up is put (kPut),
//                 and kept beside until the home has answered, and the read of a miss of it waits for that. A miss
//                 needs room in the write buffer to start, so that a fill need not wait for any: its put may exceed
//                 the buffer.
//   invalidate    invalidate_line: a copy of the line is dropped, a dirty one written back (even with the write buffer
//                 full: no request waits for this write), a copy on its way as soon as it has come.
//   perfect       with answer_from(): every request is a hit, answered from that memory (hw/cache/perfect_memory.hpp);
//                 ports and banks as ever, an atomic in the next cycle at the earliest.
//   sectors       cache_sectors.cpp: parts of a line that are valid, fetched and written by themselves
//   errors        a bus error on a load or atomic is LineRequest::failed in its response; on a write, or on the fetch
//                 that a posted store needed, it is counted and the first one kept: failed_write(). An event that the
//                 table does not know in the line's state is an InternalError that names both.
// The core must not offer requests from within a response (bw) call.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <systemc>
#include <tlm>
#include <vector>

#include "base/instrument.hpp"
#include "hw/cache/line_array.hpp"
#include "hw/cache/miss_file.hpp"
#include "hw/cache/observer.hpp"
#include "hw/cache/perfect_memory.hpp"
#include "hw/cache/statistics.hpp"
#include "hw/coherence/protocol.hpp"
#include "hw/parameters/machine.hpp"
#include "hw/state/line_listener.hpp"
#include "tlm/base_protocol.hpp"
#include "tlm/calendar/calendar.hpp"
#include "tlm/clock.hpp"
#include "tlm/line_protocol.hpp"
#include "tlm/payload_pool.hpp"
#include "tlm/ring.hpp"

namespace heddle::hw {

class Cache : public sc_core::sc_module,
              public link::LineRoom,
              public ::tlm::tlm_fw_transport_if<link::LineProtocol>,
              protected ::tlm::tlm_bw_transport_if<> {
 protected:
  using LineRequest = link::LineRequest;
  using Frame = LineFrames::Frame;

 public:
  link::LineTargetSocket cpu;
  ::tlm::tlm_initiator_socket<> memory;

  // The work of one cycle: acknowledged writes, lines that have become visible (answers every waiting request in
  // order), delayed hits, the next request to memory, flush. Returns the next cycle it wants, kNever: when woken.
  link::Cycle advance(link::Cycle now) {
    if (awake_) {
      return work(now);
    }
    begin_cycle(now);
    return link::kNever;
  }

  // For who stands right behind `cpu` (tlm/behind_socket.hpp).
  // What an nb_transport_fw with phase request does: COMPLETED, ACCEPTED or UPDATED as the line protocol says.
  [[nodiscard]] ::tlm::tlm_sync_enum offer(LineRequest& request) {
    return request.shares_port ? offer_sharing(request) : accept(request);
  }
  // A plain load of a line that is here, without a payload: its bytes until the cache does something else, if such a
  // request would be done within the call; it counts as one, unless it repeats a miss (LineRequest::repeats_miss).
  // Null: nothing has happened, offer a request.
  [[nodiscard]] const std::byte* load_at_once(std::uint64_t line, bool repeats_miss = false) {
    if (!answers_at_once_ || flushing_ || ports_used_ == ports_) {
      return nullptr;
    }
    const Frame here = lines_.find(line);
    if (here == LineFrames::kNone) {
      return nullptr;
    }
    const Transition& answer = table_.at(lines_.state(here), LineEvent::load);
    if (answer.actions != kAnswer) {
      return nullptr;
    }
    lines_.set_state(here, answer.next);
    if (!repeats_miss) {
      count_hit(statistics_.loads);
    }
    lines_.touch(here);
    took_port();
    if (observer_ != nullptr) {
      show_accepted(line);
    }
    return lines_.data(here);
  }

  // Writes every dirty line back, in the order of their addresses, and empties the cache, after what is outstanding
  // now. Requests are busy until done; quiet() tells when memory has everything. In that order lines of one DRAM row
  // follow one another under every mapping, since the row is the top of the address; in the order of the cache's sets,
  // ways of one set, which are whole multiples of the cache's size apart, would alternate between rows.
  void flush();
  // Memory gets the bytes of every dirty line at once, past its time (debug accesses), and the cache is emptied.
  // Nothing may be outstanding (quiet()).
  void write_back_untimed();
  // Likewise, and lines stay, dirty ones too, which are written back when they are replaced. Each gets the bytes that
  // memory then has when it is next used.
  void write_back_untimed_and_keep();
  // Others have written to memory: lines of which it has all bytes get what it then has when they are next used.
  // Nothing is outstanding.
  void memory_changed();
  // Forgets every line at once, dirty ones too; lines on their way are answered but not kept.
  void invalidate();
  // Drops the copy of one line in the cycle `visible`, after what has arrived by then.
  void invalidate_line(std::uint64_t address, link::Cycle visible);
  // Nothing is outstanding: no line on its way, every write acknowledged, no flush.
  [[nodiscard]] bool quiet() const;

  // Memory, or a home, has still to answer something.
  [[nodiscard]] bool owed_answers() const {
    return flushing_ || !misses_.empty() || writes_ != 0 || !invalidated_.empty();
  }
  // What is to go to memory has not gone, or has not been taken there.
  [[nodiscard]] bool waits_to_send() const { return !send_queue_.empty() || request_.under_way(); }

  // Whether the line is there, and its bytes; null: it is not, or memory has them. For debug accesses and tests.
  [[nodiscard]] bool has(std::uint64_t line) const { return lines_.find(line) != LineFrames::kNone; }
  [[nodiscard]] std::byte* peek(std::uint64_t line);
  // Whether that byte of a line that is there is: its sector may have to come yet.
  [[nodiscard]] bool knows(std::uint64_t line, unsigned offset) const;

  struct FailedWrite {
    std::uint64_t address = 0;  // of the line
    std::uint32_t group = 0;    // 0 for a write-back, which has no one writer
    std::uint32_t pc = 0;
  };
  [[nodiscard]] const std::optional<FailedWrite>& failed_write() const { return failed_write_; }
  void forget_failed_write() { failed_write_.reset(); }

  [[nodiscard]] CacheStatistics& statistics() { return statistics_; }
  [[nodiscard]] const CacheStatistics& statistics() const { return statistics_; }
  // Whether the cache's lines have sectors.
  [[nodiscard]] bool has_sectors() const { return sector_bytes_ != 0; }
  [[nodiscard]] SectorStatistics& sector_statistics() { return sector_statistics_; }
  // What was stored can be seen by every other core: by what they read from memory, or from this cache if need be.
  [[nodiscard]] bool stores_visible() const { return has_home_ ? waiting_stores_ == 0 : writes_ == 0; }
  // Writes that memory has not acknowledged yet.
  [[nodiscard]] unsigned unacknowledged_writes() const { return writes_; }
  [[nodiscard]] unsigned line_bytes() const { return line_bytes_; }
  // LineRoom, of all that ask: for want of MSHRs or of room for writes. Of MSHRs alone a refusal is foreseen.
  [[nodiscard]] bool refuses_still() const override { return refusal_lasts_; }
  [[nodiscard]] bool would_refuse(LineRequest& request) override;
  void refused_again(std::uint64_t cycles) override {
    *refusals_ += cycles;
    if (observer_ != nullptr) {
      observer_->refused_on(cycles);
    }
  }
  void refuses_on(bool on) override {
    if (observer_ != nullptr) {
      observer_->refuses_on(on);
    }
  }
  // Where several take turns in asking: how often something has happened that could make room, and refusals of one of
  // them that are not the latest.
  [[nodiscard]] std::uint64_t room_changes() const { return room_changes_; }
  void refused_again(LineRequest::Busy why, std::uint64_t cycles);
  // Every request is a hit from now on, in `memory`, which outlives the cache. Before the first one.
  void answer_from(PerfectMemory& memory) { perfect_ = &memory; }
  // Shows what the cache does from now on to `observer`, which outlives it; null: to none.
  void observe(CacheObserver* observer);
  // Tells `listener`, which outlives the cache, of lines; null: none.
  void tell(LineListener* listener) { listener_ = listener; }
  // Has so many of its bytes from now on; as LineFrames::use.
  void use(std::uint64_t bytes) { lines_.use(bytes); }
  // Frames: lines that there is room for.
  [[nodiscard]] std::uint32_t frames() const { return lines_.frames(); }

 protected:
  Cache(const sc_core::sc_module_name& name, const CacheParameters& parameters, TransitionTable table,
        link::Clock clock, link::Waker& core_waker, unsigned banks = 0);

  // Who asks, for a payload to memory that a request (of a write-back: an empty one) causes.
  virtual void describe(const LineRequest& request, link::MemoryExtension& extension) const = 0;
  static void describe_core(const LineRequest& request, unsigned core, bool instruction,
                            link::MemoryExtension& extension);
  // Where memory has a line of this cache.
  [[nodiscard]] virtual std::uint64_t beyond(std::uint64_t line) const { return line; }
  // A directory's part of the transitions kNoteSharer and kRecallSharers. A load whose line is not kept here has the
  // frame kNone.
  virtual void note_sharer(Frame frame, const LineRequest& request);
  virtual void recall_sharers(Frame frame);
  // Whether a line may leave this cache; asked where may_refuse_ says so. Else another attempt follows when it runs.
  [[nodiscard]] virtual bool may_leave(std::uint64_t /*line*/) { return true; }
  // What a home wants of this cache's lines, after the lines that have come; returns the next cycle it wants.
  virtual link::Cycle hear_home(link::Cycle /*now*/) { return link::kNever; }
  // What the home has asked of a line; none: it must wait for the line under way.
  struct Given {
    const std::byte* line = nullptr;  // its bytes, when they have changed; valid until the cache does something else
    bool keeps = false;
    bool waits = false;
    bool had = false;  // there was a copy, which has gone or is shared now
  };
  [[nodiscard]] Given give(std::uint64_t line, LineEvent event);
  [[nodiscard]] const link::Clock& clock() const { return clock_; }
  [[nodiscard]] link::Waker& core_waker() const { return core_waker_; }
  // The bytes of a line that is here change, beside its requests.
  void take_bytes(std::uint64_t line, const std::byte* data, const std::uint8_t* enable);
  std::uint64_t upgrades_ = 0;  // lines fetched for a store although there was a copy
  std::uint64_t puts_ = 0;
  bool may_refuse_ = false;

  [[nodiscard]] const LineFrames& lines() const { return lines_; }

 private:
  using Payload = link::LinePayload;
  // Where a line is, and in which state.
  struct Place {
    LineState state = kAbsent;
    Frame frame = LineFrames::kNone;
    std::uint32_t mshr = MissFile::kNone;
  };
  struct Arrival {
    link::Cycle visible = 0;
    Payload* payload = nullptr;
  };
  static constexpr std::uint32_t kNoSnapshot = ~0U;
  struct DelayedHit {
    link::Cycle ready = 0;
    LineRequest* request = nullptr;
    std::uint32_t snapshot = kNoSnapshot;
  };

  // One cycle, with something to do in it.
  [[nodiscard]] link::Cycle work(link::Cycle now);
  // Nothing has arrived, waits, or is to be sent: a cycle does nothing but to begin. Who changes that wakes it.
  [[nodiscard]] bool at_rest() const {
    return (acknowledgements_.size() | fills_.size() | delayed_.size() | send_queue_.size() | invalidated_.size()) ==
               0 &&
           !flushing_ && !has_home_ && read_.empty();
  }
  void begin_cycle(link::Cycle now) {
    now_ = now;
    ports_used_ = 0;
    banks_used_ = 0;
  }
  void may_have_room() {
    refusal_lasts_ = false;
    ++room_changes_;
  }
  void took_port() {
    ++ports_used_;
    if (fill_blocked_) {
      core_waker_.wake(now_ + 1);  // another frame may be the victim now, which needs no room for a write-back
    }
  }
  void count_hit(std::uint64_t& kind) {
    ++kind;
    ++statistics_.accesses;
    ++statistics_.hits;
  }

  // TLM interfaces
  ::tlm::tlm_sync_enum nb_transport_fw(LineRequest& request, link::LinePhase& phase, sc_core::sc_time& delay) override;
  [[nodiscard]] ::tlm::tlm_sync_enum accept(LineRequest& request);
  [[nodiscard]] ::tlm::tlm_sync_enum offer_sharing(LineRequest& request);
  void fetch_again(const Payload& payload, LineState next);
  void b_transport(LineRequest& request, sc_core::sc_time& delay) override;
  bool get_direct_mem_ptr(LineRequest& request, ::tlm::tlm_dmi& dmi) override;
  unsigned transport_dbg(LineRequest& request) override;
  ::tlm::tlm_sync_enum nb_transport_bw(::tlm::tlm_generic_payload& payload, ::tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) override;

  // Requests (cache_requests.cpp): COMPLETED, ACCEPTED or UPDATED as the line protocol says.
  // Of a line that is in `frame`; kNone: in none.
  [[nodiscard]] Place place_of(std::uint64_t line, Frame frame) const;
  [[nodiscard]] LineEvent event_of(const LineRequest& request, LineState state) const;
  // A request whose line is in frame `here`; kNone: in none.
  ::tlm::tlm_sync_enum take(LineRequest& request, Frame here);
  // Whether there is room for what the transition does; else the request is busy, and nothing has happened.
  [[nodiscard]] bool has_room(LineRequest& request, const Place& place, const Transition& transition, Frame& frame);
  ::tlm::tlm_sync_enum perform(LineRequest& request, const Place& place, const Transition& transition, Frame frame);
  ::tlm::tlm_sync_enum answer_hit(LineRequest& request, Frame frame);
  ::tlm::tlm_sync_enum step_hit(LineRequest& request, Frame frame);
  void write_hit(LineRequest& request, Frame frame);
  // A store that waits for a line under way, whose bytes go into it then.
  [[nodiscard]] static bool waits_for_line(const LineRequest& request, const Transition& transition) {
    return request.waits && !transition.does(kWriteThrough);
  }
  void add_store(LineRequest& request, const Transition& transition, std::uint32_t mshr);
  ::tlm::tlm_sync_enum finish_store(LineRequest& request, const Transition& transition);
  [[nodiscard]] std::uint32_t take_snapshot();
  ::tlm::tlm_sync_enum answer_later(LineRequest& request, std::uint32_t snapshot);
  void merge(LineRequest& request, const Transition& transition, std::uint32_t mshr);
  void start_miss(LineRequest& request, const Transition& transition);
  void forward(LineRequest& request);
  void step(LineRequest& request, std::byte* line, Frame frame);
  // Counts a refusal, and says in the request what it was for.
  ::tlm::tlm_sync_enum busy(LineRequest& request, LineRequest::Busy why);
  void refuse(LineRequest& request, LineRequest::Busy why);
  // Each counts the request, also as one of its kind, and says in it what happened.
  void hit(LineRequest& request, std::uint64_t& kind);
  void miss(LineRequest& request);
  void merged(LineRequest& request);

  // Lines with sectors (cache_sectors.cpp): what take() and fill() are else.
  ::tlm::tlm_sync_enum take_sectors(LineRequest& request, Frame here);
  ::tlm::tlm_sync_enum read_sectors(LineRequest& request, Frame here);
  ::tlm::tlm_sync_enum store_through_sectors(LineRequest& request, Frame here);
  ::tlm::tlm_sync_enum store_back_sectors(LineRequest& request, Frame here);
  ::tlm::tlm_sync_enum pass_sectors(LineRequest& request, Frame here);
  [[nodiscard]] std::optional<std::uint32_t> under_way(const LineRequest& request, Sectors wanted, Sectors valid) const;
  [[nodiscard]] bool store_joins(LineRequest& request, Sectors wanted);
  [[nodiscard]] bool store_can_join(const LineRequest& request, Sectors wanted) const;
  void keep_sectors(std::uint32_t mshr, Frame here, bool dirty_too);
  void wants_sectors(std::uint32_t mshr, const LineRequest& request, bool first);
  void enable_sectors(Payload& payload, Sectors sectors);
  bool fill_sectors(Payload& payload, Mshr& mshr, bool failed);
  [[nodiscard]] Sectors valid_sectors(Frame here) const {
    return here == LineFrames::kNone ? Sectors{0} : valid_[here];
  }
  [[nodiscard]] Sectors wanted_sectors(const LineRequest& request) const;
  // The sectors of which any byte is enabled, or all bytes are.
  [[nodiscard]] Sectors enabled_sectors(const std::uint8_t* enable, bool all) const;
  [[nodiscard]] Sectors all_sectors() const { return static_cast<Sectors>((1U << (line_bytes_ / sector_bytes_)) - 1); }

  // Where memory is perfect (cache_perfect.cpp).
  ::tlm::tlm_sync_enum accept_perfect(LineRequest& request);
  ::tlm::tlm_sync_enum load_perfect(LineRequest& request);
  void store_perfect(LineRequest& request);
  void finish_perfect_stores();
  void step_perfect(LineRequest& request);

  // Memory side (cache_memory.cpp)
  void fetch(const LineRequest& request, std::uint32_t mshr);
  void put(Frame frame, LineState next);
  void put_done(std::uint64_t line);
  [[nodiscard]] std::size_t leaving(std::uint64_t line) const;
  [[nodiscard]] bool write_room() const { return writes_ < write_buffer_; }
  void write(Payload& payload, const std::byte* data, const std::uint8_t* enable);
  void write_back(Frame frame);
  // Bytes from `first` on of a line, past the memory's time.
  void write_untimed(Frame frame, unsigned first, unsigned bytes);
  void write_dirty_untimed();
  // The line gets the bytes that memory has, past its time.
  void update(Frame frame);
  // The frame that holds the line, up to date, or kNone.
  [[nodiscard]] Frame find(std::uint64_t line) {
    const Frame frame = lines_.find(line);
    if (keeps_lines_ && frame != LineFrames::kNone && !lines_.up_to_date(frame)) {
      update(frame);
    }
    return frame;
  }
  // Makes a frame free for another line; false (nothing done): its write-back finds no room.
  [[nodiscard]] bool vacate(Frame frame);
  void recall(Frame frame);
  void drop_invalidated();
  void send(Payload& payload);
  void transmit(Payload& payload);
  void arrived(Payload& payload, link::Cycle visible);
  void acknowledge(Payload& payload);
  bool fill(Payload& payload);  // false: the victim's write-back finds no room yet
  void serve(Mshr& mshr, std::byte* line, Frame frame, bool failed);
  void answer(LineRequest& request, const std::byte* line, bool failed);
  void remember_failed_write(std::uint64_t address, std::uint32_t group, std::uint32_t pc);
  void continue_flush();
  void show_state();
  // A request has been accepted for this line.
  void show_accepted(std::uint64_t line);
  [[nodiscard]] std::uint64_t banks_of(const LineRequest& request) const {
    return request.banks != 0 ? request.banks : std::uint64_t{1} << (request.address / line_bytes_ % banks_);
  }

  link::Clock clock_;
  link::Waker& core_waker_;
  const TransitionTable table_;
  const bool keeps_sharers_;  // the table has a directory's actions
  const bool has_home_;       // the table knows of one
  const unsigned line_bytes_;
  const unsigned sector_bytes_;  // 0: lines have none
  const unsigned hit_latency_;
  const unsigned ports_;
  const unsigned banks_;        // 0: none
  const bool answers_at_once_;  // a hit is answered in the call, whichever bank
  const unsigned write_buffer_;

  LineArray<LineState> lines_;
  std::vector<Sectors> valid_;  // per frame; empty: lines have no sectors
  // Of the request that is being performed.
  struct {
    Sectors wanted = 0;
    Frame here = LineFrames::kNone;  // where its line is, with sectors that it wants or without
  } asked_;
  MissFile misses_;
  link::PayloadPool pool_;
  link::Ring<Payload*> send_queue_;
  link::Ring<Arrival> acknowledgements_;  // responses to writes
  link::Ring<Arrival> fills_;             // responses to reads and atomics
  link::Ring<DelayedHit> delayed_;
  std::vector<StoreBuffer> snapshots_;
  std::vector<std::uint32_t> free_snapshots_;
  struct Invalidated {
    link::Cycle visible = 0;
    std::uint64_t address = 0;
  };
  link::Ring<Invalidated> invalidated_;
  std::vector<std::uint64_t> dropped_;  // lines invalidated in one cycle

  bool awake_ = true;  // false: at_rest()
  link::Cycle now_ = 0;
  link::ExclusivePhase request_;  // towards memory
  unsigned ports_used_ = 0;
  std::uint64_t banks_used_ = 0;     // in this cycle, a bit per bank
  std::vector<std::uint64_t> read_;  // in this cycle, lines whose port others may share (LineRequest::shares_port)
  unsigned writes_ = 0;              // not acknowledged yet
  unsigned waiting_stores_ = 0;      // entries of MSHRs
  // Stores that wait until memory has acknowledged the write.
  struct Unacknowledged {
    Payload* write = nullptr;
    LineRequest* request = nullptr;
  };
  std::vector<Unacknowledged> unacknowledged_;
  // Lines that leave for their home.
  struct Leaving {
    std::uint64_t address = 0;
    LineState state = kAbsent;
    bool changed = false;
    Payload* read = nullptr;  // of a miss meanwhile: leaves when the home has answered
    std::array<std::byte, link::kMaxLineBytes> data;
  };
  std::vector<Leaving> leaving_;
  bool refusal_lasts_ = false;
  std::uint64_t room_changes_ = 0;
  bool flushing_ = false;
  bool keeps_lines_ = false;  // some may not be up to date
  bool fill_blocked_ = false;
  bool flush_begun_ = false;
  std::vector<Frame> flush_order_;  // what was dirty when the flush began
  std::size_t flush_next_ = 0;
  std::optional<FailedWrite> failed_write_;
  PerfectMemory* perfect_ = nullptr;
  struct PerfectStore : StoreBuffer {
    std::uint64_t address = 0;
    std::uint32_t group = 0;
    std::uint32_t pc = 0;
  };
  std::vector<PerfectStore> perfect_stores_;  // of this cycle
  Instrument<CacheObserver> observer_;        // null: none
  LineListener* listener_ = nullptr;
  CacheStatistics statistics_;
  SectorStatistics sector_statistics_;
  std::uint64_t* refusals_ = &statistics_.busy_ports;  // counts refusals of the latest cause
};

}  // namespace heddle::hw
