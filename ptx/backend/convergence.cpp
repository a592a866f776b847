#include "ptx/backend/convergence.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <unordered_map>
#include <utility>

#include "ptx/backend/code_flow.hpp"
#include "ptx/backend/dominator_spans.hpp"
#include "ptx/backend/dominator_tree.hpp"
#include "ptx/backend/parting.hpp"
#include "ptx/backend/re_convergence.hpp"

namespace heddle::ptx::backend {

using isa::Op;

namespace {

using Vertices = std::vector<bool>;

// Where threads meet that branches have parted, with the code from BSSY to there.
struct Meeting {
  std::uint32_t at = 0;    // PC
  std::size_t begins = 0;  // the vertex with BSSY: in front of its last branch, or where its loop is entered
  bool enters_loop = false;
  Vertices inside;
  bool kept = true;
};

// Dominators of the code.
class Tree {
 public:
  explicit Tree(const CodeFlow& flow) : above_(up(flow)), spans_(above_) {}

  [[nodiscard]] bool reached(std::size_t v) const { return v == 0 || above_[v] < above_.size(); }
  [[nodiscard]] std::size_t above(std::size_t v) const { return above_[v]; }  // of any but the first vertex
  [[nodiscard]] std::size_t common(std::size_t a, std::size_t b) const {
    while (!spans_.dominates(a, b)) a = above_[a];
    return a;
  }

 private:
  static std::vector<Vertex> up(const CodeFlow& flow) {
    // Of what the begin leads to: the tree must know no other edges.
    Graph graph(flow.vertices());
    Vertices seen(flow.vertices());
    std::vector<std::size_t> work{0};
    seen[0] = true;
    while (!work.empty()) {
      const std::size_t v = work.back();
      work.pop_back();
      for (const std::size_t to : flow.next(v)) {
        boost::add_edge(v, to, graph);
        if (seen[to]) continue;
        seen[to] = true;
        work.push_back(to);
      }
    }
    return dominator_tree(graph, 0);
  }

  std::vector<Vertex> above_;
  DominatorSpans spans_;
};

class Marker {
 public:
  explicit Marker(const std::vector<isa::Instruction>& code) : code_(code), flow_(code), tree_(flow_) {}

  void find() {
    const std::vector<bool> parts = parting_branches(code_, flow_);
    std::map<std::uint32_t, std::vector<std::size_t>> branches;  // by the PC at which they meet
    for (std::size_t v = 0; v < flow_.vertices(); ++v) {
      const isa::Instruction& in = code_[flow_.last(v)];
      if (parts[flow_.last(v)] && in.reconvergence != isa::kNoReconvergence && tree_.reached(v)) {
        branches[in.reconvergence].push_back(v);
      }
    }
    for (const auto& [at, from] : branches) {
      Meeting meeting = begin(at, from);
      if (all_ways_pass_begin(meeting)) meetings_.push_back(std::move(meeting));
    }
    place_marks();
    settle();
  }

  std::vector<Origin> put_in(std::vector<isa::Instruction>& code) const {
    std::vector<Origin> origins;
    std::vector<isa::Instruction> made;
    std::vector<std::uint32_t> first(code_.size());   // by PC: the new one of the first mark in front of it
    std::vector<std::uint32_t> behind(code_.size());  // by PC: its own new one
    for (std::uint32_t pc = 0; pc < code_.size(); ++pc) {
      first[pc] = static_cast<std::uint32_t>(made.size());
      for (const Mark& mark : marks(pc)) {
        made.push_back(mark.instruction(static_cast<std::uint32_t>(mark.meeting)));
        origins.push_back({pc, true});
      }
      behind[pc] = static_cast<std::uint32_t>(made.size());
      made.push_back(code_[pc]);
      origins.push_back({pc, false});
    }
    for (std::size_t at = 0; at < made.size(); ++at) {
      isa::Instruction& in = made[at];
      if (origins[at].put_in) {
        // BSYNC is the first of what is put in there.
        if (in.op == Op::BSSY) in.imm = first[meetings_[in.imm].at] + 1;
      } else if (in.op == Op::BRA) {
        const std::size_t from = flow_.vertex_of(origins[at].pc);
        in.target = behind[in.target] - static_cast<std::uint32_t>(wanted(from, in.target));
      }
    }
    code = std::move(made);
    return origins;
  }

 private:
  struct Mark {
    std::size_t meeting = 0;
    bool ends = false;  // BSYNC
    bool loop = false;  // BSSY where a loop is entered
    [[nodiscard]] isa::Instruction instruction(std::uint32_t number) const {
      isa::Instruction in;
      in.op = ends ? Op::BSYNC : Op::BSSY;
      in.immediate = !ends;
      in.imm = ends ? 0 : number;
      return in;
    }
  };

  // BSSY is where all branches come by, out of the loops in which threads go round before they meet.
  Meeting begin(std::uint32_t at, const std::vector<std::size_t>& branches) const {
    Meeting meeting;
    meeting.at = at;
    std::size_t block = branches.front();
    for (const std::size_t branch : branches) block = tree_.common(block, branch);
    meeting.begins = block;
    const Vertices behind = behind_but(block, at);
    for (std::size_t header = block;; header = tree_.above(header)) {
      if (behind[header]) {
        meeting.begins = header;
        meeting.enters_loop = true;
      }
      if (header == 0) break;
    }
    meeting.inside = behind_but(meeting.begins, at);
    meeting.inside[meeting.begins] = true;
    return meeting;
  }

  // What the vertex leads to, without a way on from where threads meet.
  [[nodiscard]] Vertices behind_but(std::size_t vertex, std::uint32_t at) const {
    const std::size_t meet = flow_.vertex_of(at);
    Vertices behind(flow_.vertices());
    std::vector<std::size_t> work{vertex};
    while (!work.empty()) {
      const std::size_t v = work.back();
      work.pop_back();
      for (const std::size_t next : flow_.next(v)) {
        if (next == meet || behind[next]) continue;
        behind[next] = true;
        work.push_back(next);
      }
    }
    return behind;
  }

  [[nodiscard]] bool all_ways_pass_begin(const Meeting& meeting) const {
    for (std::size_t v = 0; v < flow_.vertices(); ++v) {
      if (!meeting.inside[v] || v == meeting.begins) continue;
      for (const std::size_t from : flow_.before(v)) {
        if (tree_.reached(from) && !meeting.inside[from]) return false;
      }
    }
    return true;
  }

  // In front of an instruction, in their order.
  [[nodiscard]] std::vector<Mark> marks(std::uint32_t pc) const {
    std::vector<Mark> kept;
    const auto found = marks_.find(pc);
    if (found == marks_.end()) return kept;
    std::copy_if(found->second.begin(), found->second.end(), std::back_inserter(kept),
                 [&](const Mark& mark) { return meetings_[mark.meeting].kept; });
    return kept;
  }
  void place_marks() {
    for (std::size_t i = 0; i < meetings_.size(); ++i) marks_[meetings_[i].at].push_back({i, true, false});
    for (const bool loops : {true, false}) {
      for (std::size_t i = 0; i < meetings_.size(); ++i) {
        const Meeting& meeting = meetings_[i];
        if (meeting.enters_loop != loops) continue;
        marks_[loops ? flow_.start(meeting.begins) : flow_.last(meeting.begins)].push_back({i, false, loops});
      }
    }
  }
  // Whether what comes from a vertex is to execute it.
  [[nodiscard]] bool wants(std::size_t from, const Mark& mark) const {
    const bool inside = meetings_[mark.meeting].inside[from];
    return mark.ends ? inside : !mark.loop || !inside;
  }
  // How many of the marks in front of `pc` a branch at the end of `from` does not pass by: the last ones.
  [[nodiscard]] std::size_t wanted(std::size_t from, std::uint32_t pc) const {
    const std::vector<Mark> all = marks(pc);
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [&](const Mark& mark) { return wants(from, mark); }));
  }

  // Drops what would need a jump around a mark.
  void settle() {
    for (std::size_t v = 0; v < flow_.vertices(); ++v) {
      while (drop_one(v)) {
      }
    }
  }
  bool drop_one(std::size_t v) {
    const std::uint32_t pc = flow_.start(v);
    const std::vector<Mark> all = marks(pc);
    const auto drop_unwanted = [&](std::size_t from, bool falls) {
      bool executes = falls;
      for (const Mark& mark : all) {
        const bool wanted = wants(from, mark);
        if (executes && !wanted) {
          meetings_[mark.meeting].kept = false;
          return true;
        }
        executes = executes || wanted;
      }
      return false;
    };
    if (all.empty()) return false;
    for (const std::size_t from : flow_.before(v)) {
      if (!tree_.reached(from)) continue;
      const isa::Instruction& last = code_[flow_.last(from)];
      const bool jumps = last.op == Op::BRA && last.target == pc;
      const bool falls = from + 1 == v && (!ends_line(last) || !last.guard.always());
      if ((falls && drop_unwanted(from, true)) || (jumps && drop_unwanted(from, false))) return true;
    }
    if (v != 0) return false;
    // Threads begin here: as what falls through from outside of all.
    const auto unwanted = std::find_if(all.begin(), all.end(), [](const Mark& mark) { return mark.ends; });
    if (unwanted == all.end()) return false;
    meetings_[unwanted->meeting].kept = false;
    return true;
  }

  const std::vector<isa::Instruction>& code_;
  const CodeFlow flow_;
  const Tree tree_;
  std::vector<Meeting> meetings_;                               // in the order of their PCs
  std::unordered_map<std::uint32_t, std::vector<Mark>> marks_;  // by PC, those that are not kept too
};

}  // namespace

std::vector<Origin> put_in_convergence(std::vector<isa::Instruction>& code) {
  if (code.empty()) return {};
  const std::vector<isa::Instruction> old = code;
  Marker marker(old);
  marker.find();
  std::vector<Origin> origins = marker.put_in(code);
  set_re_convergence(code);
  for (isa::Instruction& in : code) {
    const bool meets = in.op == Op::BRA && in.reconvergence != isa::kNoReconvergence;
    if (meets && code[in.reconvergence].op == Op::BSYNC) ++in.reconvergence;  // its threads execute it before
  }
  return origins;
}

}  // namespace heddle::ptx::backend
