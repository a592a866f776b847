// A forward data-flow analysis over physical registers: optimistic, so that what loops carry round stays the same until
// something says otherwise. What differs and where threads part depend on each other; both only grow.
#include "ptx/backend/parting.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

#include "isa/register_use.hpp"

namespace heddle::ptx::backend {

namespace {

struct Places {
  isa::RegisterSet registers;
  std::uint8_t predicates = 0;
  Places& operator|=(const Places& other) {
    registers |= other.registers;
    predicates = static_cast<std::uint8_t>(predicates | other.predicates);
    return *this;
  }
  Places& operator&=(const Places& other) {
    registers &= other.registers;
    predicates = static_cast<std::uint8_t>(predicates & other.predicates);
    return *this;
  }
  Places operator~() const { return {~registers, static_cast<std::uint8_t>(~predicates)}; }
  friend bool operator==(const Places&, const Places&) = default;
};

using Vertices = std::vector<bool>;

class Parting {
 public:
  Parting(const std::vector<isa::Instruction>& code, const CodeFlow& flow)
      : code_(code),
        flow_(flow),
        same_(flow.vertices()),
        mixed_(flow.vertices()),
        written_(flow.vertices()),
        parts_(code.size()) {
    uses_.reserve(code.size());
    for (std::size_t pc = 0; pc < code.size(); ++pc) {
      uses_.push_back(isa::register_use(code[pc]));
      written_[flow.vertex_of(pc)] |= {uses_[pc].written, uses_[pc].predicates_written};
    }
  }

  std::vector<bool> run() {
    if (code_.empty()) return {};
    same_[0] = ~Places{};  // registers and predicates begin as zero
    do {
      follow();
    } while (part());
    return std::move(parts_);
  }

 private:
  [[nodiscard]] static bool gives_same(const isa::Instruction& instruction) {
    return isa::accepts_uniform(instruction) || isa::is_load(instruction.op);
  }
  [[nodiscard]] bool same_guard(std::size_t pc, const Places& same) const {
    const isa::Pred guard = code_[pc].guard;
    return guard.reg == isa::kPT || ((same.predicates >> guard.reg) & 1U) != 0;
  }
  [[nodiscard]] bool same_result(std::size_t pc, const Places& same) const {
    if (isa::is_vote(code_[pc].op)) return same_guard(pc, same);
    return gives_same(code_[pc]) && (uses_[pc].read & ~same.registers).empty() &&
           (uses_[pc].predicates_read & ~same.predicates) == 0;
  }

  // What is the same in front of the vertex's last instruction, and behind it.
  Places walk(std::size_t vertex, bool whole) const {
    Places same = *same_[vertex];
    const std::size_t end = flow_.last(vertex) + (whole ? 1U : 0U);
    for (std::size_t pc = flow_.start(vertex); pc != end; ++pc) {
      const Places written{uses_[pc].written, uses_[pc].predicates_written};
      if (!same_result(pc, same)) {
        same &= ~written;
      } else if (code_[pc].guard.always()) {  // else the old value may stay, in all threads
        same |= written;
      }
    }
    return same;
  }

  // To the fixed point, where threads part as it is known now.
  void follow() {
    std::vector<std::size_t> work;
    for (std::size_t v = flow_.vertices(); v-- > 0;) {
      if (same_[v]) work.push_back(v);
    }
    while (!work.empty()) {
      const std::size_t vertex = work.back();
      work.pop_back();
      const Places out = walk(vertex, true);
      for (const std::size_t next : flow_.next(vertex)) {
        Places met = out;
        met &= ~mixed_[next];
        if (same_[next]) {
          met &= *same_[next];
          if (met == *same_[next]) continue;
        }
        same_[next] = met;
        work.push_back(next);
      }
    }
  }

  // True: there are more branches that part threads than before.
  bool part() {
    bool grown = false;
    for (std::size_t v = 0; v < flow_.vertices(); ++v) {
      const std::size_t pc = flow_.last(v);
      if (code_[pc].op != isa::Op::BRA || !same_[v] || parts_[pc] || same_guard(pc, walk(v, false))) continue;
      parts_[pc] = true;
      grown = true;
      mix(v);
    }
    return grown;
  }

  // What the paths from a branch on have written is not the same where they meet.
  void mix(std::size_t branch) {
    const isa::Instruction& in = code_[flow_.last(branch)];
    const std::size_t meet =
        in.reconvergence == isa::kNoReconvergence ? flow_.vertices() : flow_.vertex_of(in.reconvergence);
    const Vertices jumps = reached(flow_.vertex_of(in.target), meet), falls = reached(branch + 1, meet);
    const auto inside = [&](std::size_t v) { return jumps[v] || falls[v]; };
    Places written;
    for (std::size_t v = 0; v < flow_.vertices(); ++v) {
      if (inside(v)) written |= written_[v];
    }
    if (meet != flow_.vertices()) mixed_[meet] |= written;
    for (std::size_t v = 0; v < flow_.vertices(); ++v) {
      std::size_t ways = 0;
      for (const std::size_t from : flow_.before(v)) ways += inside(from) || from == branch ? 1 : 0;
      if (jumps[v] && falls[v] && ways > 1) mixed_[v] |= written;
    }
    if (inside(branch)) mix_loop(branch, inside);
  }

  // The branch is in a loop, and leaves it: some threads go round while others have left.
  template <class Inside>
  void mix_loop(std::size_t branch, const Inside& inside) {
    Vertices loop(flow_.vertices());
    std::vector<std::size_t> work{branch};
    loop[branch] = true;
    Places written = written_[branch];
    while (!work.empty()) {
      const std::size_t at = work.back();
      work.pop_back();
      for (const std::size_t from : flow_.before(at)) {
        if (loop[from] || !inside(from)) continue;
        loop[from] = true;
        written |= written_[from];
        work.push_back(from);
      }
    }
    for (std::size_t v = 0; v < flow_.vertices(); ++v) {
      bool entered = v == 0;
      for (const std::size_t from : flow_.before(v)) entered = entered || !loop[from];
      if (loop[v] && entered) mixed_[v] |= written;
    }
  }

  [[nodiscard]] Vertices reached(std::size_t first, std::size_t but) const {
    Vertices seen(flow_.vertices());
    std::vector<std::size_t> work;
    const auto come = [&](std::size_t v) {
      if (v == but || seen[v]) return;
      seen[v] = true;
      work.push_back(v);
    };
    come(first);
    while (!work.empty()) {
      const std::size_t at = work.back();
      work.pop_back();
      for (const std::size_t next : flow_.next(at)) come(next);
    }
    return seen;
  }

  const std::vector<isa::Instruction>& code_;
  const CodeFlow& flow_;
  std::vector<isa::RegisterUse> uses_;
  std::vector<std::optional<Places>> same_;  // by vertex, at its begin; none: not reached
  std::vector<Places> mixed_;                // by vertex: what is not the same at its begin, whatever comes there
  std::vector<Places> written_;              // by vertex
  std::vector<bool> parts_;                  // by PC
};

}  // namespace

std::vector<bool> parting_branches(const std::vector<isa::Instruction>& code, const CodeFlow& flow) {
  return Parting(code, flow).run();
}

}  // namespace heddle::ptx::backend
