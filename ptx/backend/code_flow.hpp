// The control-flow graph of finished code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/error.hpp"
#include "isa/instruction.hpp"

namespace heddle::ptx::backend {

// Only branches, exits and traps lead elsewhere than to the next instruction.
inline bool ends_line(const isa::Instruction& in) {
  return in.op == isa::Op::BRA || in.op == isa::Op::EXIT || in.op == isa::Op::TRAP;
}

// A vertex is a line of instructions that are entered at the first one and left at the last one only.
class CodeFlow {
 public:
  explicit CodeFlow(const std::vector<isa::Instruction>& code) {
    std::vector<bool> starts(code.size() + 1);
    for (std::size_t pc = 0; pc < code.size(); ++pc) {
      if (code[pc].op == isa::Op::BRA) starts[code[pc].target] = true;
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
      const isa::Instruction& in = code[last(v)];
      if (in.op == isa::Op::BRA) connect(v, vertex_[in.target]);
      if (!ends_line(in) || !in.guard.always()) connect(v, v + 1);
      exits_.push_back(in.op == isa::Op::EXIT);
      traps_.push_back(in.op == isa::Op::TRAP && in.guard.always());
    }
  }

  [[nodiscard]] std::size_t vertices() const { return starts_.size(); }
  [[nodiscard]] std::size_t vertex_of(std::size_t pc) const { return vertex_[pc]; }
  [[nodiscard]] std::uint32_t start(std::size_t vertex) const { return starts_[vertex]; }
  [[nodiscard]] std::uint32_t last(std::size_t vertex) const {
    return (vertex + 1 < vertices() ? starts_[vertex + 1] : static_cast<std::uint32_t>(vertex_.size())) - 1;
  }
  [[nodiscard]] const std::vector<std::size_t>& next(std::size_t vertex) const { return next_[vertex]; }
  [[nodiscard]] const std::vector<std::size_t>& before(std::size_t vertex) const { return before_[vertex]; }
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

}  // namespace heddle::ptx::backend
