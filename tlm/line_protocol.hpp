// Between the core and its caches: one request for one cache line, of one sub-warp (memory stage to L1) or of the fetch
// stage (to the instruction cache). Non-blocking:
//
//   fw request  -> TLM_COMPLETED  done in this call: a hit, whose `line` points to the line's bytes until the call
//                                 returns, or a store (Answer::hit, miss, merged)
//               -> TLM_ACCEPTED   answered later by one bw response (Answer::miss, merged, late_hit; of a store that
//                                 waits for memory also hit); the payload, and what it points to, stays until then
//               -> TLM_UPDATED    Answer::busy: nothing happened, `busy` says why, offer it again later
// `answer` says what happened, at once and until the payload is offered again.
//   bw response -> `line` (loads) or `atomic->old` (atomics) valid during the call; returns TLM_COMPLETED
//
// The initiator owns the payload. A cache is advanced by its core (Cache::advance), so both sides share a cycle. The L2
// slices take requests from beyond the core into the same form: what their payloads said goes along in `origin`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tlm>

#include "isa/instruction.hpp"

namespace heddle::link {

// What the lanes of an atomic want from one line, in lane order: same address in that order.
struct AtomicLanes {
  isa::AtomicOp op = isa::AtomicOp::add;
  isa::Type type = isa::Type::u32;
  unsigned count = 0;  // entries used
  std::array<std::uint8_t, isa::kLanes> lane{};
  std::array<std::uint32_t, isa::kLanes> offset{};  // bytes into the line
  std::array<std::uint64_t, isa::kLanes> b{};
  std::array<std::uint64_t, isa::kLanes> c{};
  std::array<std::uint64_t, isa::kLanes> old{};  // answer
};

struct MemoryExtension;

inline constexpr unsigned kPartBytes = 32;  // of LineRequest::parts

struct LineRequest {
  enum class Kind : std::uint8_t { load, store, atomic };
  // What happened to a request.
  enum class Answer : std::uint8_t {
    hit,       // the line is there
    late_hit,  // it is there, and the answer only takes its time (hit_latency)
    miss,      // it has to come from beyond, or the request has to go there
    merged,    // a miss of a line that was on its way already
    busy       // nothing
  };
  // Why a cache is busy.
  enum class Busy : std::uint8_t {
    ports,         // every port used in this cycle
    bank,          // the line's bank used in this cycle, others perhaps not
    mshrs,         // no MSHR free
    targets,       // the line's MSHR has no target free
    write_buffer,  // writes wait for their acknowledgements
    order,         // stores that wait for the line must come first
    flush          // the cache is being emptied
  };
  Kind kind = Kind::load;
  bool bypass = false;  // loads: do not answer from the cache (ld.volatile, ld.cv, ld.cg)
  // Loads of lanes that execute each an instruction of its own: loads of one line in one cycle share a port and a bank,
  // as lanes of one instruction do (which are one request).
  bool shares_port = false;
  // Fetches: it missed and was counted then; its line has come, and it is looked up once more. Not counted again.
  bool repeats_miss = false;
  // Stores: done when the bytes are in a line of the cache, or memory has acknowledged them; false: when they are
  // accepted.
  bool waits = false;
  bool row_hint = false;      // row-buffer hint bit of the instruction (thesis 7.2)
  std::uint64_t address = 0;  // of the line, aligned to the line size
  // Loads, atomics: which parts (kPartBytes) of the line they want, a bit each from the line's first byte on. Matters
  // to caches whose lines have sectors; stores say it by their byte enables.
  std::uint8_t parts = 0xff;
  // Who asks: statistics, traces, and the payload extension beyond the core.
  std::uint16_t core = 0;
  std::uint8_t port = 0;    // of several sub-cores that share the cache (hw/core/share/line_ports.hpp)
  std::uint32_t group = 0;  // of all in the core
  std::uint32_t pc = 0;
  isa::LaneMask lanes = 0;
  // The banks that it takes, a bit each; 0: its line's.
  std::uint64_t banks = 0;
  // Stores: line-sized data and byte enables (0x00 / 0xff, as TLM-2.0 has them).
  const std::byte* store_data = nullptr;
  const std::uint8_t* byte_enable = nullptr;
  AtomicLanes* atomic = nullptr;
  // L2 only: where in the line the atomic's offsets count from (an L1's lines may be shorter), and the extension of the
  // payload that asked.
  std::uint32_t atomic_offset = 0;
  const MemoryExtension* origin = nullptr;
  // L2 only: it was refused before, and is tried again whenever the slice runs; counted as refused once.
  bool again = false;
  // Answer to a load: the whole line.
  const std::byte* line = nullptr;
  Answer answer = Answer::busy;
  // Of Answer::busy: what it has no room for. Anything else leaves it alone.
  Busy busy = Busy::ports;
  // The access failed (bus error response from a memory beyond the core).
  bool failed = false;
};

// What a target grants that refuses line requests for want of room, so that its initiator need not ask in every cycle:
// the initiator asks for it behind its socket (tlm/behind_socket.hpp). What stands in between, or grants nothing, is
// asked in every cycle.
class LineRoom {
 public:
  virtual ~LineRoom() = default;
  // The initiator's latest request was refused for want of room, and nothing has happened that could make some.
  [[nodiscard]] virtual bool refuses_still() const = 0;
  // A request that is offered in the next cycle for the first time will be refused for want of room, unless something
  // happens that could make some. True: it has been noted as refused, and refuses_still(), but is not counted
  // (refused_again() does).
  [[nodiscard]] virtual bool would_refuse(LineRequest& request) = 0;
  // The initiator has kept offering its latest refused request, in vain, for so many more cycles.
  virtual void refused_again(std::uint64_t cycles) = 0;
  // It will do so from the next cycle on, and does so no more: for who watches the target.
  virtual void refuses_on(bool /*on*/) {}
};

enum class LinePhase : std::uint8_t { request, response };

struct LineProtocol {
  using tlm_payload_type = LineRequest;
  using tlm_phase_type = LinePhase;
};

using LineInitiatorSocket = ::tlm::tlm_initiator_socket<32, LineProtocol>;
using LineTargetSocket = ::tlm::tlm_target_socket<32, LineProtocol>;

}  // namespace heddle::link
