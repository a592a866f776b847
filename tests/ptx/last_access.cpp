#include "tests/ptx/last_access.hpp"

#include <set>
#include <stack>
#include <string_view>

namespace heddle::test {

namespace {

bool mentions(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool accesses_scratchpad(const isa::Instruction& in) {
  const std::string text = isa::disassemble(in);
  const bool memory =
      mentions(text, "ld") || mentions(text, "st.") || mentions(text, "atom") || mentions(text, "cond_acc");
  return memory && (mentions(text, ".shared") || mentions(text, ".generic"));
}

// Whether a path from `start` on comes to an access.
bool comes_to_access(const std::vector<isa::Instruction>& code, const std::vector<bool>& accesses, std::size_t start) {
  std::set<std::size_t> seen;
  std::stack<std::size_t> work;
  work.push(start);
  while (!work.empty()) {
    const std::size_t pc = work.top();
    work.pop();
    if (pc >= code.size() || !seen.insert(pc).second) continue;
    if (accesses[pc]) return true;
    const isa::Instruction& in = code[pc];
    switch (in.op) {
      case isa::Op::BRA:
        work.push(in.target);
        if (!in.guard.always()) work.push(pc + 1);
        break;
      case isa::Op::EXIT:
      case isa::Op::TRAP:
        if (!in.guard.always()) work.push(pc + 1);
        break;
      default:
        work.push(pc + 1);
    }
  }
  return false;
}

}  // namespace

LastAccess check_last_access(const isa::Kernel& kernel) {
  std::vector<isa::Instruction> code;
  std::vector<bool> accesses;
  for (const isa::InstructionWord& word : kernel.words) {
    code.push_back(isa::decode(word).value());
    accesses.push_back(accesses_scratchpad(code.back()));
  }
  LastAccess result;
  for (std::size_t pc = 0; pc < code.size(); ++pc) {
    const isa::Instruction& in = code[pc];
    const bool marked = in.op == isa::Op::BRA || isa::info(in.op).mnemonic.starts_with("bar.");
    const bool past = marked && !comes_to_access(code, accesses, pc);
    result.past += past ? 1 : 0;
    result.before += marked && !past ? 1 : 0;
    result.past_branches += past && in.op == isa::Op::BRA && !in.guard.always() ? 1 : 0;
    if (in.past_scratchpad != past && result.wrong.empty()) {
      result.wrong = "kernel " + kernel.name + ", PC " + std::to_string(pc) + ", " + isa::disassemble(in) +
                     (past ? ": no access follows" : ": an access may follow");
    }
  }
  return result;
}

}  // namespace heddle::test
