// Where threads that a branch parts meet again: its immediate post-dominator (LWM report 2.3; thesis 2.1.3.3), by
// Boost.Graph's Lengauer-Tarjan on the reversed control-flow graph.
//
// It is the branch's own, not that of the block which register allocation sees: threads that a guarded exit further up
// has taken away do not come to the branch, and a jump behind it is an instruction that threads can meet at.
#include "ptx/backend/re_convergence.hpp"

#include <cstddef>

#include "base/error.hpp"
#include "ptx/backend/dominator_tree.hpp"

namespace heddle::ptx::backend {

using isa::Op;

namespace {

bool ends_line(const isa::Instruction& in) {
  return in.op == Op::BRA || in.op == Op::EXIT || in.op == Op::TRAP;
}

// The control-flow graph of finished code. A vertex is a line of instructions that are entered at the first one and
// left at the last one only.
class Flow {
 public:
  explicit Flow(const std::vector<isa::Instruction>& code) {
    std::vector<bool> starts(code.size() + 1);
    for (std::size_t pc = 0; pc < code.size(); ++pc) {
      if (code[pc].op == Op::BRA) starts[code[pc].target] = true;
      if (ends_line(code[pc])) starts[pc + 1] = true;
    }
    vertex_.reserve(code.size());
    for (std::size_t pc = 0; pc < code.size(); ++pc) {
      if (pc == 0 || starts[pc]) starts_.push_back(static_cast<std::uint32_t>(pc));
      vertex_.push_back(starts_.size() - 1);
    }
    next_.resize(vertices());
    before_.resize(vertices());
    for (std::size_t v = 0; v < vertices(); ++v) {
      const isa::Instruction& in = code[(v + 1 < vertices() ? starts_[v + 1] : code.size()) - 1];
      if (in.op == Op::BRA) connect(v, vertex_[in.target]);
      if (!ends_line(in) || !in.guard.always()) connect(v, v + 1);
      exits_.push_back(in.op == Op::EXIT);
      traps_.push_back(in.op == Op::TRAP && in.guard.always());
    }
  }

  [[nodiscard]] std::size_t vertices() const { return starts_.size(); }
  [[nodiscard]] std::size_t vertex_of(std::size_t pc) const { return vertex_[pc]; }
  [[nodiscard]] std::uint32_t start(std::size_t vertex) const { return starts_[vertex]; }
  [[nodiscard]] const std::vector<std::size_t>& next(std::size_t vertex) const { return next_[vertex]; }
  [[nodiscard]] bool exits(std::size_t vertex) const { return exits_[vertex]; }  // guarded or not
  [[nodiscard]] bool traps(std::size_t vertex) const { return traps_[vertex]; }  // without a guard

  // Marks the vertex and all from which it can be reached.
  void mark_reaching(std::size_t vertex, std::vector<bool>& marked) const {
    marked[vertex] = true;
    std::vector<std::size_t> work{vertex};
    while (!work.empty()) {
      const std::size_t at = work.back();
      work.pop_back();
      for (const std::size_t from : before_[at]) {
        if (marked[from]) continue;
        marked[from] = true;
        work.push_back(from);
      }
    }
  }

 private:
  void connect(std::size_t from, std::size_t to) {
    if (to >= vertices()) throw InternalError("machine code runs off its end");
    next_[from].push_back(to);
    before_[to].push_back(from);
  }

  std::vector<std::size_t> vertex_;    // by PC
  std::vector<std::uint32_t> starts_;  // PC, by vertex
  std::vector<std::vector<std::size_t>> next_, before_;
  std::vector<bool> exits_, traps_;
};

// From which vertices an exit can be reached, and which lead to the virtual exit directly.
struct Ends {
  std::vector<bool> leaves, last;
};

// A launch that traps is over, so that no thread waits for the threads that do: a way to a trap, as one into an endless
// loop, says nothing about where the others meet. Code that leads to nothing else has traps for its exits; where there
// is none either, the last line of the endless loop.
Ends find_ends(const Flow& flow) {
  const std::size_t count = flow.vertices();
  Ends ends{std::vector<bool>(count), std::vector<bool>(count)};
  for (std::size_t v = 0; v < count; ++v) {
    ends.last[v] = flow.exits(v);
    if (ends.last[v] && !ends.leaves[v]) flow.mark_reaching(v, ends.leaves);
  }
  std::vector<bool> reaches = ends.leaves;
  for (std::size_t v = 0; v < count; ++v) {
    if (!flow.traps(v) || ends.leaves[v]) continue;
    ends.last[v] = true;
    flow.mark_reaching(v, reaches);
  }
  for (std::size_t v = count; v-- > 0;) {
    if (reaches[v]) continue;
    ends.last[v] = true;
    flow.mark_reaching(v, reaches);
  }
  return ends;
}

}  // namespace

void set_re_convergence(std::vector<isa::Instruction>& code) {
  const Flow flow(code);
  const Ends ends = find_ends(flow);
  const std::size_t leave = flow.vertices();  // the virtual exit
  Graph reversed(leave + 1);
  for (std::size_t v = 0; v < leave; ++v) {
    for (const std::size_t to : flow.next(v)) {
      if (ends.leaves[to] || !ends.leaves[v]) boost::add_edge(to, v, reversed);
    }
    if (ends.last[v]) boost::add_edge(leave, v, reversed);
  }
  const std::vector<Vertex> meets = dominator_tree(reversed, leave);
  for (std::size_t pc = 0; pc < code.size(); ++pc) {
    if (code[pc].op != Op::BRA || code[pc].guard.always()) continue;
    const Vertex at = meets[flow.vertex_of(pc)];
    if (at > leave) throw InternalError("a branch without post-dominator");
    code[pc].reconvergence = at == leave ? isa::kNoReconvergence : flow.start(at);
  }
}

}  // namespace heddle::ptx::backend
