// The catalogue of the signals that waveforms show. Every signal is declared once, in the describe() of the struct of
// waves that it belongs to:
//
//   template <class Visitor> void describe(Visitor& visit) {
//     visit(SignalGroup::fetch, "pc", pc, number(32), "program counter of the instruction that is fetched");
//   }
//
// `heddle list signals`, docs/signals.md, the VCD header and GTKWave's save and translate files come from it.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tlm/wave.hpp"

namespace heddle::link {

enum class SignalGroup : std::uint8_t {
  fetch,
  decode,
  subwarp,
  registers,
  execute,
  memory,
  writeback,
  divergence,
  scheduler,
  l1,
  l2,
  dram,
  noc,
  pool,
};
struct SignalGroupInfo {
  std::string_view name;
  std::string_view meaning;
};
inline constexpr std::array<SignalGroupInfo, 14> kSignalGroups = {{
    {"fetch", "the fetch stage: which warp is fetched, or why none is"},
    {"decode", "the decode stage"},
    {"subwarp", "the sub-warp former beside it: masks, rows, the stall signal to fetch"},
    {"registers", "register read: the rows that the lanes' banks are asked for"},
    {"execute", "the SIMD lanes, or why they are idle"},
    {"memory", "the memory stage: lines, accesses put aside, what holds it"},
    {"writeback", "retirement, from the pipeline and from accesses that had been put aside"},
    {"divergence", "per warp: state, PC, active mask, re-convergence stack, the two mask buffers of its branch"},
    {"scheduler", "warps by state, resident blocks, the first fetch group of the two-level scheduler"},
    {"l1", "L1 data and instruction caches"},
    {"l2", "slices of the L2"},
    {"dram", "memory channels: queue, data bus, banks with open row and hold"},
    {"noc", "interconnect: queues and transfers"},
    {"pool", "global scheduler (core.divergence = odgs): threads in no core, places, what travels"},
}};

enum class SignalKind : std::uint8_t { number, boolean, enumeration, mask, address };

// The names of an enumeration's values from 0 on; also the name of its GTKWave translate file.
struct Enumeration {
  std::string name;
  std::vector<std::string> values;
  [[nodiscard]] unsigned width() const {
    return static_cast<unsigned>(std::bit_width(values.size() < 2 ? 1U : values.size() - 1));
  }
};

struct SignalType {
  SignalKind kind = SignalKind::number;
  unsigned width = 1;                        // bits, 1 to 64
  const Enumeration* enumeration = nullptr;  // of an enumeration; lives as long as the program
};
// A number from 0 to `largest`.
[[nodiscard]] inline SignalType up_to(std::uint64_t largest) {
  return {SignalKind::number, static_cast<unsigned>(std::bit_width(largest | 1U))};
}
[[nodiscard]] inline SignalType number(unsigned width) {
  return {SignalKind::number, width};
}
[[nodiscard]] inline SignalType boolean() {
  return {SignalKind::boolean, 1};
}
[[nodiscard]] inline SignalType mask(unsigned width) {
  return {SignalKind::mask, width};
}
[[nodiscard]] inline SignalType address() {
  return {SignalKind::address, 64};
}
[[nodiscard]] inline SignalType one_of(const Enumeration& enumeration) {
  return {SignalKind::enumeration, enumeration.width(), &enumeration};
}
[[nodiscard]] std::string_view name_of(SignalKind kind);

struct Signal {
  SignalGroup group = SignalGroup::fetch;
  std::string scope;  // hierarchical: "gpu.core0.fetch"
  std::string name;   // within it
  SignalType type;
  std::string meaning;
  Wave* wave = nullptr;
  [[nodiscard]] std::string path() const { return scope + "." + name; }
};

class SignalCatalogue {
 public:
  // Adds the signals of a struct of waves below a scope.
  template <class Waves>
  void add(const std::string& scope, Waves& waves) {
    Collector collector{*this, scope};
    waves.describe(collector);
  }
  [[nodiscard]] const std::vector<Signal>& signals() const { return signals_; }

 private:
  struct Collector {
    SignalCatalogue& catalogue;
    std::string scope;
    void operator()(SignalGroup group, std::string name, Wave& wave, SignalType type, std::string meaning) {
      catalogue.signals_.push_back({group, scope, std::move(name), type, std::move(meaning), &wave});
    }
  };
  std::vector<Signal> signals_;
};

// The group that a name stands for; throws InputError with the nearest valid name.
[[nodiscard]] SignalGroup signal_group(std::string_view name);

}  // namespace heddle::link
