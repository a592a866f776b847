// The one extension that Heddle's generic payloads carry beyond the core. It is ignorable: a memory or bus that knows
// nothing of it still reads and writes correctly. (Atomics are TLM_IGNORE_COMMAND payloads that never leave the GPU:
// the memory partition turns them into reads and writes.)
#pragma once

#include <cstdint>
#include <tlm>

#include "isa/instruction.hpp"
#include "tlm/line_protocol.hpp"

namespace heddle::link {

// What a payload is in a directory protocol (hw/coherence/mesi.cpp). From an L1 to a line's home: share, own, put; from
// the home to an L1: the others. What each answers is in the extension of the same payload.
enum class CoherenceMessage : std::uint8_t {
  none,
  share,       // a read of a line that others may keep; answered with `exclusive` when no other cache has it
  own,         // a read of a line that no other cache may keep
  put,         // a write: the line leaves its owner, with its bytes when `has_data`
  invalidate,  // a copy must go
  give_share,  // the owner's line must be shared: its bytes come back when `has_data`; `keeps`: a copy stays
  give_up      // the owner's line must go: its bytes come back when `has_data`
};

struct MemoryExtension : ::tlm::tlm_extension<MemoryExtension> {
  // Field contract: meaning; who writes it; default.
  std::uint16_t core = 0;      // requesting core; L1; 0
  std::uint32_t group = 0;     // warp or group that missed first, of a load merged into a posted read: its; L1; 0
  std::uint32_t pc = 0;        // its instruction; L1; 0
  isa::LaneMask lanes = 0;     // lanes that the line serves; L1; 0
  std::uint8_t coalesced = 1;  // lane accesses merged into this request; L1; 1
  bool instruction = false;    // instruction fetch; I-cache; false
  bool row_hint = false;       // row-buffer hint bit (thesis 7.2); L1; false
  bool posted = false;         // no warp waits for the answer: a write, or a read that a store caused; caches; false
  std::uint16_t route = 0;     // port by which the request came in; interconnect; 0
  // Coherence, under a directory protocol only; none, false
  CoherenceMessage message = CoherenceMessage::none;  // L1, home
  bool exclusive = false;                             // answer to share and own: no other cache has a copy; home
  bool has_data = false;                              // a put, or the answer of an owner, carries the line's bytes; L1
  bool keeps = false;                                 // answer to give_share: the owner keeps a copy; L1
  AtomicLanes* atomic = nullptr;  // operands of an atomic, answered in place by the memory partition; L1; none

  [[nodiscard]] tlm_extension_base* clone() const override;
  void copy_from(const tlm_extension_base& other) override;
};

}  // namespace heddle::link
