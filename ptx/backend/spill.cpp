#include "ptx/backend/spill.hpp"

#include <algorithm>

#include "ptx/backend/interference.hpp"

namespace heddle::ptx::backend {

using isa::Op;
using isa::Special;

namespace {

constexpr double kLoadCost = 4;  // a local access goes through the memory pipeline
constexpr double kStoreCost = 4;
constexpr double kBankCost = 3;    // ld.param, ld.const
constexpr double kRepeatCost = 1;  // one ALU instruction

bool is_bank_load(const MachineInstruction& instruction) {
  return instruction.in.op == Op::LD_PARAM || instruction.in.op == Op::LD_CONST;
}

bool is_repeatable(const MachineInstruction& instruction) {
  const IrInstruction& in = instruction.in;
  if (instruction.copy || guarded(instruction)) return false;
  if (is_bank_load(instruction)) return in.a == kNone;
  if (in.op == Op::MOV || in.op == Op::MOV64) return in.immediate;
  return (in.op == Op::S2R || in.op == Op::S2R64) && is_fixed_special(in.imm);
}

double repeat_cost(const MachineInstruction& instruction) {
  return is_bank_load(instruction) ? kBankCost : kRepeatCost;
}

MachineInstruction slot_access(bool load, VReg reg, unsigned words, std::uint32_t offset, VPred guard,
                               const Position& at) {
  MachineInstruction access;
  access.inserted = true;
  access.in.op = load ? Op::LD_LOCAL : Op::ST_LOCAL;
  access.in.guard = guard;
  access.in.dst = reg;
  access.in.immediate = true;
  access.in.imm = offset;
  access.in.at = at;
  const auto width = words == 1 ? isa::Width::b32 : isa::Width::b64;
  access.in.sub = isa::memory_sub(width, words <= 2 ? 1 : words / 2);
  return access;
}

// Where a spilled register's value is: repeated, in a slot, or (predicates) in a word.
struct Home {
  const MachineInstruction* repeat = nullptr;
  std::uint32_t slot = 0;
  VReg word = kNone;
};

class Rewriter {
 public:
  Rewriter(MachineFunction& function, std::map<VReg, Home> homes) : function_(function), homes_(std::move(homes)) {}

  void run() {
    for (Block& block : function_.blocks) {
      std::vector<MachineInstruction> code = std::move(block.code);
      block.code.clear();
      still_here_.clear();
      for (MachineInstruction& instruction : code) rewrite(instruction, block.code);
    }
  }

 private:
  const Home* home_of(VReg reg) const {
    const auto found = reg == kNone ? homes_.end() : homes_.find(reg);
    return found == homes_.end() ? nullptr : &found->second;
  }

  void rewrite(MachineInstruction& instruction, std::vector<MachineInstruction>& out) {
    // What the instruction before left in a temporary need not be loaded again; longer ranges would defeat the spill.
    std::map<VReg, VReg> fetched = std::move(still_here_);
    still_here_.clear();
    if (instruction.copy && copies_itself(instruction)) return;
    if (const Home* home = home_of(instruction.in.dst);
        home != nullptr && home->repeat != nullptr && !isa::is_store(instruction.in.op)) {
      return;  // the only definition: repeated at every use instead
    }
    if (instruction.copy && !fetched.contains(instruction.in.b)) fetch_part(instruction, out);
    for_each_use_field(instruction, [&](VReg& field) {
      const Home* home = home_of(field);
      if (home == nullptr) return;
      auto [at, fresh] = fetched.try_emplace(field, kNone);
      if (fresh) at->second = fetch(field, *home, instruction.in.at, out);
      field = at->second;
    });
    std::vector<MachineInstruction> stores;
    if (!isa::is_store(instruction.in.op) || instruction.copy) {
      keep(instruction.in.dst, instruction, stores);
    }
    keep(instruction.in.p, instruction, stores);
    keep(instruction.in.q, instruction, stores);
    out.push_back(std::move(instruction));
    for (MachineInstruction& store : stores) out.push_back(std::move(store));
  }

  // A copy between two registers that share a slot.
  bool copies_itself(const MachineInstruction& copy) const {
    const Home *to = home_of(copy.in.dst), *from = home_of(copy.in.b);
    if (to == nullptr || from == nullptr || to->repeat != nullptr || from->repeat != nullptr) return false;
    return to->slot + 4U * copy.dst_word == from->slot + 4U * copy.src_word;
  }

  // A copy loads only the words that it moves.
  void fetch_part(MachineInstruction& copy, std::vector<MachineInstruction>& out) {
    const Home* home = home_of(copy.in.b);
    if (home == nullptr || home->repeat != nullptr) return;
    copy.in.b = function_.make(copy.words, false, true);
    out.push_back(slot_access(true, copy.in.b, copy.words, home->slot + 4U * copy.src_word, {}, copy.in.at));
    copy.src_word = 0;
  }

  VReg fetch(VReg reg, const Home& home, const Position& at, std::vector<MachineInstruction>& out) {
    const VReg temporary = function_.make(function_.words(reg), function_.is_predicate(reg), true);
    MachineInstruction load;
    if (home.repeat != nullptr) {
      load = *home.repeat;
      load.in.dst = temporary;
      load.inserted = true;
    } else if (home.word != kNone) {
      load.in.op = Op::SETP_U32;
      load.in.a = home.word;
      load.in.sub = static_cast<std::uint8_t>(isa::Comparison::ne);
      load.in.p = temporary;
      load.inserted = true;
    } else {
      load = slot_access(true, temporary, function_.words(reg), home.slot, {}, at);
    }
    load.in.at = at;
    out.push_back(std::move(load));
    return temporary;
  }

  // A part of a spilled register goes to its part of the slot. The store has the guard of the definition: other threads
  // keep their old value.
  void keep(VReg& field, MachineInstruction& instruction, std::vector<MachineInstruction>& stores) {
    const Home* home = home_of(field);
    if (home == nullptr) return;
    if (home->word != kNone) {
      field = function_.make(1, true, true);
      MachineInstruction select;
      select.inserted = true;
      select.in.op = Op::SEL;
      select.in.guard = instruction.in.guard;
      select.in.dst = home->word;
      select.in.immediate = true;
      select.in.imm = 1;
      select.in.pa = {field, true};
      select.in.at = instruction.in.at;
      stores.push_back(std::move(select));
      return;
    }
    const VReg spilled = field;
    unsigned words = function_.words(field), first = 0;
    if (instruction.copy) {
      words = instruction.words;
      first = instruction.dst_word;
      instruction.dst_word = 0;
    }
    field = function_.make(words, false, true);
    if (!guarded(instruction) && words == function_.words(spilled)) still_here_[spilled] = field;
    stores.push_back(slot_access(false, field, words, home->slot + 4 * first, instruction.in.guard, instruction.in.at));
  }

  MachineFunction& function_;
  std::map<VReg, Home> homes_;
  std::map<VReg, VReg> still_here_;  // spilled registers written by the last instruction, and the temporaries used
};

}  // namespace

bool is_fixed_special(std::uint32_t special) {
  switch (static_cast<Special>(special)) {
    case Special::clock:
    case Special::clock_hi:
    case Special::clock64:
    case Special::smid:
    case Special::warpid:
      return false;
    default:
      return true;
  }
}

std::vector<std::optional<MachineInstruction>> repeatable_definitions(const MachineFunction& function) {
  std::vector<std::optional<MachineInstruction>> result(function.registers.size());
  std::vector<unsigned> definitions(function.registers.size());
  for (const Block& block : function.blocks) {
    for (const MachineInstruction& instruction : block.code) {
      for_each_definition(function, instruction, [&](VReg reg, unsigned, unsigned, unsigned) {
        const auto index = static_cast<std::size_t>(reg);
        if (++definitions[index] > 1) {
          result[index].reset();
        } else if (is_repeatable(instruction) && !function.is_predicate(reg)) {
          result[index] = instruction;
        }
      });
    }
  }
  return result;
}

std::vector<double> spill_costs(const MachineFunction& function) {
  const auto repeatable = repeatable_definitions(function);
  std::vector<double> cost(function.registers.size());
  for (const Block& block : function.blocks) {
    const auto weight = static_cast<double>(weight_of(block));
    for (const MachineInstruction& instruction : block.code) {
      for_each_use(function, instruction, [&](VReg reg, unsigned, unsigned) {
        const auto& repeat = repeatable[static_cast<std::size_t>(reg)];
        cost[static_cast<std::size_t>(reg)] += weight * (repeat ? repeat_cost(*repeat) : kLoadCost);
      });
      for_each_definition(function, instruction, [&](VReg reg, unsigned, unsigned, unsigned) {
        const auto& repeat = repeatable[static_cast<std::size_t>(reg)];
        cost[static_cast<std::size_t>(reg)] += weight * (repeat ? -repeat_cost(*repeat) : kStoreCost);
      });
    }
  }
  for (std::size_t i = 0; i < cost.size(); ++i) {
    if (function.registers[i].temporary) cost[i] = kNeverSpill;
  }
  return cost;
}

void spill_registers(MachineFunction& function, const std::vector<std::vector<VReg>>& groups) {
  const auto repeatable = repeatable_definitions(function);
  std::map<VReg, Home> homes;
  for (const std::vector<VReg>& group : groups) {
    unsigned words = 0;
    for (const VReg reg : group) {
      const auto& repeat = repeatable[static_cast<std::size_t>(reg)];
      if (repeat) {
        homes[reg].repeat = &*repeat;
      } else {
        words = std::max(words, function.words(reg));
      }
    }
    if (words == 0) continue;
    const std::uint32_t size = 4 * words;
    function.local_bytes = (function.local_bytes + size - 1) / size * size;
    for (const VReg reg : group) {
      if (repeatable[static_cast<std::size_t>(reg)]) continue;
      homes[reg].slot = function.local_bytes;
      ++function.spilled;
    }
    function.local_bytes += size;
  }
  Rewriter(function, std::move(homes)).run();
}

void spill_predicates(MachineFunction& function, const std::vector<std::vector<VReg>>& groups) {
  std::map<VReg, Home> homes;
  for (const std::vector<VReg>& group : groups) {
    for (const VReg reg : group) homes[reg].word = function.make(1);
  }
  Rewriter(function, std::move(homes)).run();
}

}  // namespace heddle::ptx::backend
