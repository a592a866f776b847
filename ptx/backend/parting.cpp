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
    come(0, ~Places{});  // registers and predicates begin as zero
    while (!work_.empty()) {
      const std::size_t vertex = work_.back();
      work_.pop_back();
      follow(vertex);
    }
    return std::move(parts_);
  }

 private:
  // What is in a thread's local memory at an address is its own.
  [[nodiscard]] static bool gives_same(const isa::Instruction& instruction) {
    return isa::accepts_uniform(instruction) ||
           (isa::is_load(instruction.op) && isa::space_of(instruction.op) != isa::Space::local);
  }
  [[nodiscard]] bool same_guard(std::size_t pc, const Places& same) const {
    const isa::Pred guard = code_[pc].guard;
    return guard.reg == isa::kPT || ((same.predicates >> guard.reg) & 1U) != 0;
  }
  [[nodiscard]] bool same_result(std::size_t pc, const Places& same) const {
    if ((uses_[pc].read & ~same.registers).empty()) {
      if (isa::is_vote(code_[pc].op)) return same_guard(pc, same);  // whatever the lanes tell
      return gives_same(code_[pc]) && (uses_[pc].predicates_read & ~same.predicates) == 0;
    }
    return false;
  }

  // At a vertex's begin no more than this is the same.
  void come(std::size_t vertex, const Places& same) {
    Places met = same;
    met &= ~mixed_[vertex];
    if (same_[vertex]) {
      met &= *same_[vertex];
      if (met == *same_[vertex]) return;
    }
    same_[vertex] = met;
    work_.push_back(vertex);
  }

  void follow(std::size_t vertex) {
    Places same = *same_[vertex];
    for (std::size_t pc = flow_.start(vertex); pc <= flow_.last(vertex); ++pc) {
      if (code_[pc].op == isa::Op::BRA && !parts_[pc] && !same_guard(pc, same)) {
        parts_[pc] = true;
        mix(vertex);
      }
      const Places written{uses_[pc].written, uses_[pc].predicates_written};
      if (!same_result(pc, same)) {
        same &= ~written;
      } else if (code_[pc].guard.always()) {  // else the old value may stay, in all threads
        same |= written;
      }
    }
    for (const std::size_t next : flow_.next(vertex)) come(next, same);
  }

  // At the vertex's begin this is not the same, whatever comes there.
  void differs(std::size_t vertex, const Places& places) {
    mixed_[vertex] |= places;
    if (same_[vertex]) come(vertex, *same_[vertex]);
  }

  // What the paths from a branch on have written is not the same where they meet.
  void mix(std::size_t branch) {
    const isa::Instruction& in = code_[flow_.last(branch)];
    const std::size_t meet =
        in.reconvergence == isa::kNoReconvergence ? flow_.vertices() : flow_.vertex_of(in.reconvergence);
    std::vector<std::size_t> both;  // what the branch leads to, without a way on from where its threads meet
    const Vertices jumps = reached(flow_.vertex_of(in.target), meet, both), falls = reached(branch + 1, meet, both);
    const auto inside = [&](std::size_t v) { return jumps[v] || falls[v]; };
    Places written;
    for (const std::size_t v : both) written |= written_[v];
    if (meet != flow_.vertices()) differs(meet, written);
    for (const std::size_t v : both) {
      std::size_t ways = 0;
      for (const std::size_t from : flow_.before(v)) ways += inside(from) || from == branch ? 1 : 0;
      if (jumps[v] && falls[v] && ways > 1) differs(v, written);
    }
    if (inside(branch)) mix_loop(branch, inside);
  }

  // The branch is in a loop, and leaves it: some threads go round while others have left.
  template <class Inside>
  void mix_loop(std::size_t branch, const Inside& inside) {
    Vertices loop(flow_.vertices());
    std::vector<std::size_t> all{branch};
    loop[branch] = true;
    Places written;
    for (std::size_t i = 0; i < all.size(); ++i) {
      written |= written_[all[i]];
      for (const std::size_t from : flow_.before(all[i])) {
        if (loop[from] || !inside(from)) continue;
        loop[from] = true;
        all.push_back(from);
      }
    }
    for (const std::size_t v : all) {
      bool entered = v == 0;
      for (const std::size_t from : flow_.before(v)) entered = entered || !loop[from];
      if (entered) differs(v, written);
    }
  }

  // Also appended to `all`, in some order.
  [[nodiscard]] Vertices reached(std::size_t first, std::size_t but, std::vector<std::size_t>& all) const {
    Vertices seen(flow_.vertices());
    std::size_t next_of = all.size();
    const auto come_to = [&](std::size_t v) {
      if (v == but || seen[v]) return;
      seen[v] = true;
      all.push_back(v);
    };
    for (come_to(first); next_of < all.size(); ++next_of) {
      for (const std::size_t next : flow_.next(all[next_of])) come_to(next);
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
  std::vector<std::size_t> work_;            // vertices of which something has changed
};

}  // namespace

std::vector<bool> parting_branches(const std::vector<isa::Instruction>& code, const CodeFlow& flow) {
  return Parting(code, flow).run();
}

}  // namespace heddle::ptx::backend
