// What a cache must do, said as simply as possible and knowing nothing of hw/cache: sets as lists, MSHRs as a map,
// contents as one flat array in the order in which requests were accepted. It is told what is offered and what memory
// answers when, and says what becomes of every offer, what is sent to memory in which order, and what is answered when.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <vector>

#include "hw/parameters/machine.hpp"
#include "tlm/clock.hpp"

namespace heddle::hw::test {

class ReferenceCache {
 public:
  using Cycle = link::Cycle;
  using Mask = std::vector<std::uint8_t>;  // byte enables of a line, 0 or 0xff
  enum class Kind { load, bypass, store, waiting_store, atomic };
  enum class Result { done, pending, refused };
  enum class Command { read, write, atomic };
  // What must be sent to memory next.
  struct Sent {
    Command command = Command::read;
    std::uint64_t address = 0;
    Mask enable;                  // writes
    std::vector<std::byte> data;  // writes: at least the enabled bytes
    unsigned mshr = 0;            // others; of a write, the number of the store that waits for it, from 1 on
  };

  // `atomics_here`: as in a write-back L2 slice.
  ReferenceCache(const DataCacheParameters& parameters, bool atomics_here, std::uint64_t base,
                 std::vector<std::byte>& contents);

  // A new cycle; the numbers of the requests that are answered in it, in order.
  std::vector<unsigned> cycle(Cycle now);
  // A request is offered: `number` is new, `enable` the bytes that it writes (stores, atomics). When it is not refused,
  // what it writes must be in `contents` before the next call.
  Result offer(unsigned number, Kind kind, std::uint64_t line, const Mask& enable);
  // The bytes of a write that is sent at once are the request's.
  void invalidate(std::uint64_t line, Cycle visible) { invalidated_.push_back({visible, line}); }
  // Memory has taken `sent.front()`, and answers it in a later call (its `mshr`).
  std::deque<Sent> sent;
  Sent take();
  void answered(bool write, unsigned mshr, Cycle visible);
  [[nodiscard]] bool idle() const { return mshrs_.empty() && writes_ == 0 && delayed_.empty() && sent.empty(); }

  std::uint64_t hits = 0, misses = 0, merged = 0, write_backs = 0, evictions = 0, fills = 0;

 private:
  struct Line {
    std::uint64_t address = 0;
    Mask dirty;  // empty: clean
  };
  using Set = std::list<Line>;  // most recently used first
  struct Target {
    bool answer = false;  // load, atomic or store that waits: its number
    unsigned number = 0;
    Mask writes;
  };
  struct Mshr {
    std::uint64_t address = 0;
    bool open = false;
    bool sent = false;
    bool atomic = false;
    bool dirty = false;
    bool drop = false;
    std::vector<Target> targets;
  };
  struct Event {
    Cycle visible = 0;
    std::uint64_t what = 0;
  };

  Set& set_of(std::uint64_t line) { return sets_[(line / line_bytes_) % sets_.size()]; }
  Line* find(std::uint64_t line);
  Line* touch(std::uint64_t line);
  Mshr* open_mshr(std::uint64_t line);
  unsigned allocate(std::uint64_t line, bool open, Command command);
  [[nodiscard]] bool room() const { return writes_ < parameters_.write_buffer; }
  [[nodiscard]] bool mshrs_full() const { return mshrs_.size() == parameters_.mshrs; }
  [[nodiscard]] static bool last_is_store(const Mshr& mshr) {
    return !mshr.targets.empty() && !mshr.targets.back().answer;
  }
  void add_dirty(Line& line, const Mask& enable);
  void send_write(std::uint64_t line, const Mask& enable, unsigned waits = 0);
  void write_back(const Line& line);
  bool give_up(std::uint64_t line);
  bool make_room(std::uint64_t line);
  bool fill(unsigned id, std::vector<unsigned>& answers);
  void invalidate_now(std::uint64_t line);
  Result hit(unsigned number);
  Result load(unsigned number, std::uint64_t line);
  Result bypass(unsigned number, std::uint64_t line);
  Result store_back(unsigned number, std::uint64_t line, const Mask& enable, bool waits);
  Result store_through(unsigned number, std::uint64_t line, const Mask& enable, bool waits);
  Result atomic(unsigned number, std::uint64_t line);
  Result atomic_here(unsigned number, std::uint64_t line, const Mask& enable);

  const DataCacheParameters parameters_;
  const bool through_;
  const bool atomics_here_;
  const unsigned line_bytes_;
  const std::uint64_t base_;
  std::vector<std::byte>& contents_;
  std::vector<Set> sets_;
  std::map<unsigned, Mshr> mshrs_;
  unsigned next_mshr_ = 0;
  unsigned writes_ = 0;
  unsigned ports_used_ = 0;
  std::vector<std::uint64_t> banks_used_;  // in this cycle
  Cycle now_ = 0;
  std::deque<Event> acknowledgements_;
  std::deque<Event> fills_;
  std::deque<Event> delayed_;
  std::deque<Event> invalidated_;
};

}  // namespace heddle::hw::test
