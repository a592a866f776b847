#include "cuda/compiler/lock_loops.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "cuda/compiler/ptx_parts.hpp"

namespace heddle::cuda {
namespace {

// One instruction: "@%p1 bra LBB0_1", "atom.global.cas.b32 %r1, [%rd2], 0, 1".
struct Instruction {
  bool guarded = false;
  std::string_view opcode;
  std::vector<std::string_view> operands;

  [[nodiscard]] std::string_view address() const {
    for (const std::string_view operand : operands) {
      if (operand.starts_with('[')) return operand.substr(1, operand.size() - 2);
    }
    return {};
  }
};

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\n") + 1 - begin);
}

Instruction instruction_of(std::string_view statement) {
  Instruction instruction;
  std::string_view rest = statement;
  if (rest.starts_with('@')) {
    instruction.guarded = true;
    rest = trimmed(rest.substr(std::min(rest.find_first_of(" \t"), rest.size())));
  }
  instruction.opcode = rest.substr(0, rest.find_first_of(" \t"));
  rest.remove_prefix(instruction.opcode.size());
  std::size_t depth = 0, begin = 0;
  for (std::size_t i = 0; i <= rest.size(); ++i) {
    if (i < rest.size() && (rest[i] == '[' || rest[i] == '{' || rest[i] == '(')) ++depth;
    if (i < rest.size() && (rest[i] == ']' || rest[i] == '}' || rest[i] == ')')) --depth;
    if (i != rest.size() && (rest[i] != ',' || depth != 0)) continue;
    if (const std::string_view operand = trimmed(rest.substr(begin, i - begin)); !operand.empty()) {
      instruction.operands.push_back(operand);
    }
    begin = i + 1;
  }
  return instruction;
}

struct Block {
  std::vector<Instruction> instructions;
  std::vector<std::size_t> next, before;
};

// The control flow of a function's body.
class Flow {
 public:
  explicit Flow(std::string_view body) {
    blocks_.emplace_back();
    std::map<std::string_view, std::size_t> labels;
    std::string_view rest = body.substr(body.find("\n{\n") + 3);
    while (!rest.empty()) {
      std::string_view line = first_line(rest);
      rest.remove_prefix(line.size());
      line = trimmed(line.substr(0, line.find("//")));
      if (line.ends_with(':') && line.find(' ') == std::string_view::npos) {
        if (!blocks_.back().instructions.empty()) blocks_.emplace_back();
        labels[line.substr(0, line.size() - 1)] = blocks_.size() - 1;
        continue;
      }
      while (!line.empty()) {  // inline assembly has several on a line
        const std::size_t end = std::min(line.find(';'), line.size());
        if (const std::string_view statement = trimmed(line.substr(0, end)); !statement.empty()) {
          blocks_.back().instructions.push_back(instruction_of(statement));
          const std::string_view opcode = blocks_.back().instructions.back().opcode;
          if (opcode.starts_with("bra") || opcode.starts_with("brx") || opcode == "ret" || opcode == "exit" ||
              opcode == "trap") {
            blocks_.emplace_back();
          }
        }
        line.remove_prefix(std::min(end + 1, line.size()));
      }
    }
    for (std::size_t i = 0; i < blocks_.size(); ++i) connect(i, labels);
    find_loops();
  }

  [[nodiscard]] const std::vector<Block>& blocks() const { return blocks_; }

  // The blocks of the innermost loop around one, by the edges that lead back to its beginning: a set for each. None if
  // there is no loop around it.
  [[nodiscard]] std::vector<const std::set<std::size_t>*> loops_around(std::size_t block) const {
    std::vector<const std::set<std::size_t>*> innermost;
    std::size_t head = 0;
    for (const Loop& loop : loops_) {
      if (!loop.blocks.contains(block)) continue;
      if (innermost.empty() || loop.head < head) {  // of two beginnings, the outer one has the higher number
        innermost.clear();
        head = loop.head;
      }
      if (loop.head == head) innermost.push_back(&loop.blocks);
    }
    return innermost;
  }

  // What can be reached from the blocks, themselves included.
  [[nodiscard]] std::set<std::size_t> reached_from(const std::set<std::size_t>& blocks) const {
    std::set<std::size_t> reached;
    std::vector<std::size_t> open(blocks.begin(), blocks.end());
    while (!open.empty()) {
      const std::size_t at = open.back();
      open.pop_back();
      if (!reached.insert(at).second) continue;
      open.insert(open.end(), blocks_[at].next.begin(), blocks_[at].next.end());
    }
    return reached;
  }

 private:
  void connect(std::size_t from, const std::map<std::string_view, std::size_t>& labels) {
    const auto edge = [&](std::size_t to) {
      blocks_[from].next.push_back(to);
      blocks_[to].before.push_back(from);
    };
    bool falls = from + 1 < blocks_.size();
    if (!blocks_[from].instructions.empty()) {
      const Instruction& last = blocks_[from].instructions.back();
      if (last.opcode.starts_with("bra") && !last.operands.empty()) {
        if (const auto label = labels.find(last.operands[0]); label != labels.end()) edge(label->second);
        falls = falls && last.guarded;
      } else if (last.opcode == "ret" || last.opcode == "exit" || last.opcode == "trap") {
        falls = falls && last.guarded;
      }
    }
    if (falls) edge(from + 1);
  }

  // Blocks that the entry reaches, successors first.
  [[nodiscard]] std::vector<std::size_t> post_order() const {
    std::vector<std::size_t> order;
    std::vector<bool> seen(blocks_.size());
    std::vector<std::pair<std::size_t, std::size_t>> open{{0, 0}};  // a block, and how many of its edges have been gone
    seen[0] = true;
    while (!open.empty()) {
      auto& [at, gone] = open.back();
      if (gone == blocks_[at].next.size()) {
        order.push_back(at);
        open.pop_back();
        continue;
      }
      const std::size_t to = blocks_[at].next[gone++];
      if (!seen[to]) {
        seen[to] = true;
        open.emplace_back(to, 0);
      }
    }
    return order;
  }

  // Natural loops, one for each edge to a block that dominates where the edge comes from. Immediate dominators after
  // Cooper, Harvey and Kennedy (A Simple, Fast Dominance Algorithm, 2001).
  void find_loops() {
    const std::vector<std::size_t> order = post_order();
    constexpr std::size_t kNone = ~std::size_t{0};
    std::vector<std::size_t> number(blocks_.size(), kNone), dominator(blocks_.size(), kNone);
    for (std::size_t i = 0; i < order.size(); ++i) number[order[i]] = i;
    dominator[0] = 0;
    const auto common = [&](std::size_t a, std::size_t b) {
      while (a != b) {
        while (number[a] < number[b]) a = dominator[a];
        while (number[b] < number[a]) b = dominator[b];
      }
      return a;
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (auto at = order.rbegin(); at != order.rend(); ++at) {
        if (*at == 0) continue;
        std::size_t found = kNone;
        for (const std::size_t from : blocks_[*at].before) {
          if (dominator[from] != kNone) found = found == kNone ? from : common(found, from);
        }
        changed |= dominator[*at] != found;
        dominator[*at] = found;
      }
    }
    for (const std::size_t tail : order) {
      for (const std::size_t head : blocks_[tail].next) {
        if (common(head, tail) != head) continue;
        std::set<std::size_t>& loop = loops_.emplace_back(Loop{number[head], {head}}).blocks;
        std::vector<std::size_t> open{tail};
        while (!open.empty()) {
          const std::size_t at = open.back();
          open.pop_back();
          if (!loop.insert(at).second) continue;
          for (const std::size_t from : blocks_[at].before) {
            if (number[from] != kNone) open.push_back(from);
          }
        }
      }
    }
  }

  struct Loop {
    std::size_t head = 0;  // number of its first block in post-order
    std::set<std::size_t> blocks;
  };
  std::vector<Loop> loops_;
  std::vector<Block> blocks_;
};

bool writes_memory(const Instruction& instruction) {
  return instruction.opcode.starts_with("atom.") || instruction.opcode.starts_with("red.") ||
         instruction.opcode.starts_with("st.");
}

// What registers hold, by the instructions that write them.
class Definitions {
 public:
  explicit Definitions(const Flow& flow) {
    for (const Block& block : flow.blocks()) {
      for (const Instruction& instruction : block.instructions) {
        const bool none = instruction.operands.size() < 2 || instruction.opcode.starts_with("st.") ||
                          instruction.opcode.starts_with("red.");
        if (!none) writers_[instruction.operands[0]].push_back(&instruction);
      }
    }
    for (const Block& block : flow.blocks()) {
      for (const Instruction& instruction : block.instructions) {
        if (instruction.opcode.starts_with("setp.")) look_at(instruction);
      }
    }
  }

  // A comparison depends on the register.
  [[nodiscard]] bool looked_at(std::string_view reg) const { return looked_at_.contains(reg); }

  // An operand's value as text: equal for equal computations, also of addresses by loads of one place.
  [[nodiscard]] std::string value(std::string_view operand, unsigned depth = 0) const {
    constexpr unsigned kDeepest = 8;
    const auto found = writers_.find(operand);
    if (found == writers_.end() || found->second.size() != 1 || depth == kDeepest) return std::string(operand);
    const Instruction& writer = *found->second[0];
    if (writer.opcode.starts_with("atom.")) return std::string(operand);
    const bool same = writer.opcode.starts_with("cvta.") || writer.opcode.starts_with("mov.");
    std::string text = same ? "" : std::string(writer.opcode.substr(0, writer.opcode.find('.'))) + "(";
    for (std::size_t i = 1; i < writer.operands.size(); ++i) {
      text += (i == 1 ? "" : ",") +
              (writer.operands[i].starts_with('[') ? place(writer, depth + 1) : value(writer.operands[i], depth + 1));
    }
    return text + (same ? "" : ")");
  }

  // The address of an access, in the same way.
  [[nodiscard]] std::string place(const Instruction& access, unsigned depth = 0) const {
    const std::string_view text = access.address();
    const std::size_t end = std::min(text.find('+'), text.size());
    return "[" + value(text.substr(0, end), depth) + std::string(text.substr(end)) + "]";
  }

 private:
  void look_at(const Instruction& comparison) {
    std::vector<std::string_view> open(comparison.operands.begin() + 1, comparison.operands.end());
    while (!open.empty()) {
      const std::string_view reg = open.back();
      open.pop_back();
      const auto found = writers_.find(reg);
      if (found == writers_.end() || !looked_at_.insert(reg).second) continue;
      for (const Instruction* const writer : found->second) {
        const bool reads = writer->opcode.starts_with("ld.") || writer->opcode.starts_with("atom.");
        if (!reads) open.insert(open.end(), writer->operands.begin() + 1, writer->operands.end());
      }
    }
  }

  std::map<std::string_view, std::vector<const Instruction*>> writers_;
  std::set<std::string_view> looked_at_;
};

// An atomic whose old value decides about something.
bool takes(const Instruction& instruction, const Definitions& definitions) {
  return instruction.opcode.starts_with("atom.") && !instruction.operands.empty() &&
         definitions.looked_at(instruction.operands[0]);
}

bool leaves_with_a_lock(std::string_view body) {
  if (body.find("atom.") == std::string_view::npos) return false;
  const Flow flow(body);
  const Definitions definitions(flow);
  const auto releases = [&](std::size_t block, const std::string& lock) {
    return std::any_of(flow.blocks()[block].instructions.begin(), flow.blocks()[block].instructions.end(),
                       [&](const Instruction& instruction) {
                         return writes_memory(instruction) && !takes(instruction, definitions) &&
                                definitions.place(instruction) == lock;
                       });
  };
  for (std::size_t i = 0; i < flow.blocks().size(); ++i) {
    for (const Instruction& instruction : flow.blocks()[i].instructions) {
      if (!takes(instruction, definitions)) continue;
      const std::string lock = definitions.place(instruction);
      const auto released = [&](std::size_t block) { return releases(block, lock); };
      for (const std::set<std::size_t>* const loop : flow.loops_around(i)) {
        if (std::any_of(loop->begin(), loop->end(), released)) continue;
        const std::set<std::size_t> reached = flow.reached_from(*loop);
        if (std::any_of(reached.begin(), reached.end(), released)) return true;
      }
    }
  }
  return false;
}

}  // namespace

std::set<std::string> functions_that_leave_with_a_lock(std::string_view ptx) {
  std::set<std::string> names;
  for (const PtxPart& part : ptx_parts(ptx)) {
    if (!part.name.empty() && leaves_with_a_lock(part.text)) names.insert(part.name);
  }
  return names;
}

}  // namespace heddle::cuda
