// Where threads that a branch parts meet again: its immediate post-dominator (LWM report 2.3; thesis 2.1.3.3), by
// Boost.Graph's Lengauer-Tarjan on the reversed control-flow graph.
//
// It is the branch's own, not that of the block which register allocation sees: threads that a guarded exit further up
// has taken away do not come to the branch, and a jump behind it is an instruction that threads can meet at.
#include "ptx/backend/re_convergence.hpp"

#include <cstddef>

#include "base/error.hpp"
#include "ptx/backend/code_flow.hpp"
#include "ptx/backend/dominator_tree.hpp"

namespace heddle::ptx::backend {

using isa::Op;

namespace {

// From which vertices an exit can be reached, and which lead to the virtual exit directly.
struct Ends {
  std::vector<bool> leaves, last;
};

// A launch that traps is over, so that no thread waits for the threads that do: a way to a trap, as one into an endless
// loop, says nothing about where the others meet. Code that leads to nothing else has traps for its exits; where there
// is none either, the last line of the endless loop.
Ends find_ends(const CodeFlow& flow) {
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
  const CodeFlow flow(code);
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
