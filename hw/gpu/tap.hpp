// Taps on the GPU's base-protocol connections: tracers and protocol checkers. Places within a core:
// hw/core/extension.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "tlm/channel_tap.hpp"
#include "tlm/clock.hpp"

namespace heddle::hw {

// One connection. Its index counts cores (data, instruction, texture, constants, probes) or memory channels (the
// others).
struct TapPlace {
  enum class Link : std::uint8_t {
    control,      // host -> GPU: launch registers. Outside the GPU: whoever binds the two asks for the tap
    data,         // a core's L1 data cache -> interconnect
    instruction,  // a core's instruction cache -> interconnect
    texture,      // a core's texture cache -> interconnect
    constants,    // a core's constant cache -> interconnect, where it has one
    l2,           // interconnect -> L2 slice of a channel, where there is an L2
    channel,      // interconnect, or L2 slice -> DRAM controller
    home,         // a slice's home -> the interconnect of homes' messages, where the coherence protocol has homes
    probes,       // that interconnect -> a core's L1 data cache; likewise
    memory        // DRAM controller -> the memory behind the GPU
  };
  Link link = Link::channel;
  unsigned index = 0;

  // "channel0": fit for a module's name.
  [[nodiscard]] std::string text() const;
};

// Asked once for every connection while the GPU is built; null: the two ends are bound to each other directly.
using MakeTap = std::function<std::unique_ptr<link::Tap>(const TapPlace& place, link::Clock clock)>;

// Binds `from` (an initiator) to `to` (a target, or the initiator socket of a module around), through a tap when there
// is to be one. The caller keeps what it returns.
template <class From, class To>
[[nodiscard]] std::unique_ptr<link::Tap> connect(const MakeTap& make_tap, const TapPlace& place, link::Clock clock,
                                                 From& from, To& to) {
  std::unique_ptr<link::Tap> tap = make_tap ? make_tap(place, clock) : nullptr;
  link::bind_through(tap.get(), from, to);
  return tap;
}

}  // namespace heddle::hw
