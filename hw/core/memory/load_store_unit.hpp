// The load-store unit: the lines of accesses on their way to the L1 and back.
//
//   l1d       initiator, LineProtocol   each line takes one port cycle
//   texture   initiator, LineProtocol   likewise, of texture fetches
//   is told   an access whose lines have been made, in each cycle until all are sent; the answer of a line
//   answers   whether all are sent. If not, CoreState::block_cause says what the next one waits for
//   order     as the access has them, until one is refused. A line whose bank is taken in this cycle lets lines of
//             other banks pass; those of its own bank keep their order. An access with such a line waits
//             l1d.conflict_cycles, once, before it goes on
//   keeps     with the access: its lines under way, how many of them are late hits, which lanes missed, and when the
//             first line missed and came. Lines of other sub-warps that go with a line (gathering.hpp) share its answer
//   counts    SIMD cache misses, and those of which other threads hit (DWS report, section 2)
#pragma once

#include "hw/cache/cache.hpp"
#include "hw/core/memory/line_requests.hpp"
#include "tlm/behind_socket.hpp"

namespace heddle::hw {

// What a refusal means to who waits, and what an observer is told of a request.
[[nodiscard]] IdleCause cause_of(link::LineRequest::Busy busy);
[[nodiscard]] LineOutcome outcome_of(::tlm::tlm_sync_enum taken, link::LineRequest::Answer answer);

class LoadStoreUnit {
 public:
  LoadStoreUnit(CoreState& state, LineRequests& requests, link::LineInitiatorSocket& l1d,
                link::LineInitiatorSocket& texture)
      : state_(state),
        requests_(requests),
        conflict_cycles_(state.machine.l1d.conflict_cycles),
        l1d_{l1d, {}, {}},
        texture_{texture, {}, {}} {}

  void begin_cycle() { sent_now_ = false; }
  enum class Sent : std::uint8_t {
    all,
    some,     // the next one waits for the port or bank of a later cycle
    no_room,  // it is the first of this cycle, which found a port free: what is missing is room
  };
  [[nodiscard]] Sent send(MemoryAccess& access);
  // What had no room last; null: it does not grant to say when that changes.
  [[nodiscard]] link::LineRoom* full() const { return full_; }
  // After a cycle in which lines of the access were sent, and not all: the next one will find no room in the next
  // cycle, unless something happens that makes some. block_cause says so already.
  [[nodiscard]] bool lacks_room(MemoryAccess& access);

  // A line that was under way is there. Returns one of another sub-warp that goes with it, which has the answer and has
  // come too; null: there is none.
  AccessLine* came(AccessLine& line);
  // All of the access has come.
  void count(const MemoryAccess& access);

 private:
  struct Port {
    link::LineInitiatorSocket& socket;
    link::BehindSocket<Cache> cache;
    link::BehindSocket<link::LineRoom> behind;
    [[nodiscard]] link::LineRoom* room() { return behind.of(socket); }
    [[nodiscard]] ::tlm::tlm_sync_enum offer(AccessLine& line);
  };
  [[nodiscard]] Port& port_of(const MemoryAccess& access) {
    return access.kind == MemoryAccess::Kind::texture ? texture_ : l1d_;
  }
  void is_sent(AccessLine& line, bool under_way);

  CoreState& state_;
  LineRequests& requests_;
  const unsigned conflict_cycles_;
  Port l1d_;
  Port texture_;
  bool sent_now_ = false;  // a line has been sent in this cycle
  link::LineRoom* full_ = nullptr;
};

}  // namespace heddle::hw
