#include "ptx/lower/recursion.hpp"

#include <algorithm>
#include <boost/dynamic_bitset.hpp>
#include <utility>

#include "ptx/lower/selector.hpp"

namespace heddle::ptx {
namespace {

using isa::Op;
using Set = boost::dynamic_bitset<std::uint64_t>;

// A member's registers by number, and what is live behind its calls.
class Frames {
 public:
  Frames(const IrFunction& function, const std::vector<std::size_t>& labels, CircleMember& member)
      : function_(function), labels_(labels), member_(member) {
    for (const auto& [first, last] : member.registers) {
      for (VReg reg = first; reg < last; ++reg) {
        index_.emplace(reg, registers_.size());
        registers_.push_back(reg);
      }
    }
  }

  // By call: the registers that are live behind it.
  std::vector<std::vector<VReg>> live() {
    std::map<std::size_t, LabelId> calls;
    std::map<std::size_t, const CircleCall*> saves;
    for (const CircleCall& call : member_.calls) {
      calls.emplace(call.leave, call.back);
      saves.emplace(call.save, &call);
    }
    at_end_.resize(registers_.size());
    add(member_.back, at_end_);
    for (const VReg reg : member_.results) add(reg, at_end_);
    before_.assign(member_.to - member_.from, Set(registers_.size()));
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t item = member_.to; item-- > member_.from;) {
        Set now = behind(item, calls);
        step_back(function_.items[item], now);
        // What is stored here is read here, whatever writes it on the way to the callee.
        if (const auto save = saves.find(item); save != saves.end()) {
          Set stored = before_[save->second->restore - member_.from];
          for (const VReg reg : save->second->results) remove(reg, stored);
          now |= stored;
        }
        if (now == before_[item - member_.from]) continue;
        before_[item - member_.from] = std::move(now);
        changed = true;
      }
    }
    std::vector<std::vector<VReg>> result;
    for (const CircleCall& call : member_.calls) {
      const Set& set = before_[call.restore - member_.from];
      std::vector<VReg>& registers = result.emplace_back();
      for (std::size_t at = set.find_first(); at != Set::npos; at = set.find_next(at)) {
        const bool read_already =
            std::find(call.results.begin(), call.results.end(), registers_[at]) != call.results.end();
        if (!read_already) registers.push_back(registers_[at]);
      }
    }
    return result;
  }

 private:
  void add(VReg reg, Set& set) const {
    if (const auto found = index_.find(reg); found != index_.end()) set.set(found->second);
  }
  void remove(VReg reg, Set& set) const {
    if (const auto found = index_.find(reg); found != index_.end()) set.reset(found->second);
  }

  const Set& at(LabelId label) const {
    const std::size_t item = labels_[label];
    return item >= member_.from && item < member_.to ? before_[item - member_.from] : at_end_;
  }

  Set behind(std::size_t item, const std::map<std::size_t, LabelId>& calls) const {
    const IrBlockItem& one = function_.items[item];
    const IrInstruction& in = one.instruction;
    const bool ends = !one.is_label && (in.op == Op::BRA || in.op == Op::EXIT || in.op == Op::TRAP);
    const bool always = in.guard.reg == kNone && !in.guard.negated;
    Set result(registers_.size());
    if (!ends || !always) result = item + 1 < member_.to ? before_[item + 1 - member_.from] : at_end_;
    if (!one.is_label && in.op == Op::BRA) {
      const auto call = calls.find(item);  // comes back
      result |= at(call == calls.end() ? in.target : call->second);
    }
    return result;
  }

  void step_back(const IrBlockItem& item, Set& set) const {
    if (item.is_label) return;
    const IrInstruction& in = item.instruction;
    const bool store = isa::is_store(in.op);
    const bool packs = in.op == Op::MOV64 && !in.elements.empty();
    const bool always = in.guard.reg == kNone && !in.guard.negated;
    if (always) {
      if (!store) remove(in.dst, set);
      remove(in.p, set);
      remove(in.q, set);
      if (!store && !packs) {
        for (std::size_t i = 0; i != written_elements(in); ++i) remove(in.elements[i], set);
      }
    }
    if (store) add(in.dst, set);
    if (store || packs) {
      for (const VReg reg : in.elements) add(reg, set);
    }
    for (std::size_t i = written_elements(in); i < in.elements.size() && in.op == Op::MMA; ++i) {
      add(in.elements[i], set);
    }
    for (const VReg reg : {in.a, in.b, in.c, in.d, in.guard.reg, in.pa.reg, in.pb.reg}) add(reg, set);
  }

  const IrFunction& function_;
  const std::vector<std::size_t>& labels_;  // where each is bound
  CircleMember& member_;
  std::vector<VReg> registers_;
  std::map<VReg, std::size_t> index_;
  Set at_end_;
  std::vector<Set> before_;  // by item, from the body's first on
};

IrInstruction access(bool load, VReg reg, bool wide, VReg stack, std::uint32_t offset, const Position& at) {
  IrInstruction out;
  out.op = load ? Op::LD_LOCAL : Op::ST_LOCAL;
  out.a = stack;
  out.immediate = true;
  out.imm = offset;
  out.sub = isa::memory_sub(wide ? isa::Width::b64 : isa::Width::b32, 1);
  out.elements = {reg};
  out.at = at;
  return out;
}

// A predicate goes through a word.
void move_register(IrFunction& function, bool load, VReg reg, VReg stack, std::uint32_t offset, const Position& at,
                   std::vector<IrBlockItem>& out) {
  const RegClass cls = function.registers[static_cast<std::size_t>(reg)];
  const auto push = [&](IrInstruction instruction) { out.push_back({false, 0, std::move(instruction)}); };
  if (cls != RegClass::predicate) return push(access(load, reg, cls == RegClass::pair, stack, offset, at));
  const VReg word = function.make(RegClass::word);
  IrInstruction convert;
  convert.at = at;
  convert.immediate = true;
  if (load) {
    push(access(true, word, false, stack, offset, at));
    convert.op = Op::SETP_U32;
    convert.sub = static_cast<std::uint8_t>(isa::Comparison::ne);
    convert.a = word;
    convert.p = reg;
    push(std::move(convert));
  } else {
    convert.op = Op::SEL;
    convert.dst = word;
    convert.imm = 1;
    convert.pa = {reg, true};
    push(std::move(convert));
    push(access(false, word, false, stack, offset, at));
  }
}

struct Saved {
  bool load = false;
  Position at;
  std::vector<std::pair<VReg, std::uint32_t>> places;
};

}  // namespace

void finish_circles(IrFunction& function, const std::vector<std::unique_ptr<CircleMember>>& members, VReg stack,
                    std::uint32_t end) {
  if (members.empty()) return;
  std::vector<std::size_t> labels(function.label_count);
  for (std::size_t i = 0; i < function.items.size(); ++i) {
    if (function.items[i].is_label) labels[function.items[i].label] = i;
  }
  std::map<std::size_t, Saved> saved;  // by item
  for (const auto& member : members) {
    const std::vector<std::vector<VReg>> live = Frames(function, labels, *member).live();
    std::map<VReg, std::uint32_t> places;
    std::uint32_t bytes = member->local_bytes;
    for (std::size_t i = 0; i < live.size(); ++i) {
      Saved one;
      one.at = function.items[member->calls[i].leave].instruction.at;
      for (const VReg reg : live[i]) {
        const auto [place, fresh] = places.try_emplace(reg, 0);
        if (fresh) {
          const bool wide = function.registers[static_cast<std::size_t>(reg)] == RegClass::pair;
          place->second = static_cast<std::uint32_t>(round_up(bytes, wide ? 8 : 4));
          bytes = place->second + (wide ? 8U : 4U);
        }
        one.places.emplace_back(reg, place->second);
      }
      saved[member->calls[i].save] = one;
      one.load = true;
      saved[member->calls[i].restore] = std::move(one);
    }
    const auto frame = static_cast<std::uint32_t>(round_up(bytes, kFrameAlignment));
    for (const std::size_t item : member->steps) function.items[item].instruction.imm *= frame;
    for (const std::size_t item : member->limits) {
      function.items[item].instruction.imm = frame > end ? 0 : end - frame + 1;
    }
  }
  std::vector<IrBlockItem> items;
  items.reserve(function.items.size());
  for (std::size_t i = 0; i < function.items.size(); ++i) {
    const auto found = saved.find(i);
    if (found == saved.end()) {
      items.push_back(std::move(function.items[i]));
      continue;
    }
    for (const auto& [reg, place] : found->second.places) {
      move_register(function, found->second.load, reg, stack, place, found->second.at, items);
    }
  }
  function.items = std::move(items);
}

}  // namespace heddle::ptx
