// Statements, frames and kernels: everything around the single instruction.
#include "ptx/lower/selector.hpp"

#include <algorithm>
#include <charconv>

#include "base/nearest.hpp"
#include "ptx/lower/handlers.hpp"
#include "ptx/parse/types.hpp"

namespace heddle::ptx {
namespace {

constexpr std::size_t kMostLiveBits = std::size_t{1} << 32U;  // of what finish_circles() keeps: 512 MiB
constexpr std::size_t kMaxCallDepth = 64;  // without recursion; keeps hostile input off the host's stack

}  // namespace

Selector::Selector(const File& file, const ModuleLayout& layout, IrFunction& out, const Interruption& interruption,
                   std::uint32_t stack_bytes)
    : file_(file), layout_(layout), out_(out), interruption_(interruption), stack_bytes_(stack_bytes) {}

void Selector::refuse(const std::string& message, const std::string& hint) const {
  refuse(statement_ != nullptr ? statement_->at : frame_->function->at, message, hint);
}

void Selector::refuse(const Position& at, const std::string& message, const std::string& hint) const {
  throw InputError({file_.name, at.line, at.column}, message, hint);
}

void Selector::expect_operands(std::size_t least, std::size_t most) const {
  const std::size_t count = operand_count();
  if (count >= least && count <= most) return;
  std::string expected = std::to_string(least);
  if (most != least) expected += " to " + std::to_string(most);
  refuse("'" + statement_->opcode + "' with these modifiers takes " + expected + " operands and has " +
             std::to_string(count),
         "compare the operands with the PTX manual's");
}

void Selector::lower_entry(const Function& entry) {
  out_.name = entry.name;
  out_.kernel.name = entry.name;
  out_.kernel.address_bits = file_.address_size;
  lay_out_parameters(file_, entry, out_.kernel);
  shared_ = lay_out_shared(file_, layout_, entry);
  out_.kernel.shared_bytes = shared_.bytes;
  Frame frame;
  frame_ = &frame;
  calls_ = {&entry};
  declare(frame, entry);
  for (const auto& [text, at] : entry.pragmas) lower_pragma(text, at, false);
  lower_body();
  // The end of the body is an exit, unless nothing falls through to it.
  const auto ends = [&] {
    if (out_.items.empty() || out_.items.back().is_label) return false;
    const IrInstruction& last = out_.items.back().instruction;
    const bool leaves = last.op == isa::Op::EXIT || last.op == isa::Op::BRA;
    return leaves && last.guard.reg == kNone && !last.guard.negated;
  };
  if (!ends()) {
    IrInstruction exit;
    exit.op = isa::Op::EXIT;
    statement_ = nullptr;
    if (!entry.body.empty()) exit.at = entry.body.back().at;
    guard_ = {};
    write(std::move(exit));
  }
  for (const auto& member : past_members_) {
    std::size_t registers = 0;
    for (const auto& [first, last] : member->registers) registers += static_cast<std::size_t>(last - first);
    if (registers != 0 && member->to - member->from > kMostLiveBits / registers) {
      refuse(member->frame->function->at,
             "function '" + member->frame->function->name + "', which can come to call itself, is too large",
             "split it, or write the recursion as a loop");
    }
  }
  finish_circles(out_, past_members_, stack_, stack_end_);
  out_.kernel.local_bytes = out_.local_bytes;
}

void Selector::declare(Frame& frame, const Function& function) {
  frame.function = &function;
  frame.registers.assign(function.registers.size(), kUnmade);
  for (const VariableDecl& variable : function.variables) {
    if (variable.space != isa::Space::param) continue;
    ParamSlot slot;
    if (variable.is_array || variable.vector > 1) {
      // Where no function is active twice, all calls of it share its arrays.
      slot.in_memory = true;
      slot.type = variable.type;
      slot.size = variable.size();
      const LocalPlace place = local_place(frame, variable);
      slot.base = place.base;
      slot.offset = place.offset;
    } else {
      slot = make_slot(frame, variable.type, variable.name);
    }
    frame.parameters[variable.name] = slot;
  }
  for (const Statement& statement : function.body) {
    if (statement.kind == Statement::Kind::branch_targets) frame.branch_targets[statement.name] = &statement;
  }
}

ParamSlot Selector::make_slot(Frame& frame, Type type, const std::string& name) {
  ParamSlot slot;
  slot.type = type;
  slot.size = isa::size_of(type);
  slot.reg = out_.make(class_of(type), frame.prefix + name);
  return slot;
}

Frame Selector::open_frame(const Function& function, CircleMember* member) {
  Frame frame;
  frame.member = member;
  frame.prefix = frame_->prefix + function.name + "/";
  frame.exit = new_label();
  declare(frame, function);
  return frame;
}

void Selector::inline_body(Frame& callee) {
  if (calls_.size() >= kMaxCallDepth) {
    refuse("calls are nested deeper than " + std::to_string(kMaxCallDepth), "merge some of the functions");
  }
  Frame* const caller = frame_;
  const Statement* const statement = statement_;
  const VPred guard = guard_;
  const auto after = after_;
  const bool last = last_statement_;
  const auto library_call = library_call_;
  if (callee.function->is_library && !library_call_) library_call_ = statement_->at;
  frame_ = &callee;
  calls_.push_back(callee.function);
  const bool keeps_loops = keeps_loops_;
  for (const auto& [text, at] : callee.function->pragmas) lower_pragma(text, at, false);
  lower_body();
  keeps_loops_ = keeps_loops;
  bind(*callee.exit);
  calls_.pop_back();
  frame_ = caller;
  statement_ = statement;
  guard_ = guard;
  after_ = after;
  last_statement_ = last;
  library_call_ = library_call;
}

void Selector::lower_body() {
  interruption_.check();
  const Function& function = *frame_->function;
  for (const Statement& statement : function.body) {
    last_statement_ = &statement == &function.body.back();
    lower_statement(statement);
  }
  if (pending_hint_) {
    refuse(*pending_hint_, "pragma \"row_hint\" stands before no load", "put it directly before the load it is for");
  }
  for (const auto& [name, label] : frame_->labels) {
    if (!label.bound) {
      refuse(label.first_use, "label '" + name + "' is not defined in '" + function.name + "'", "define the label");
    }
  }
}

void Selector::lower_statement(const Statement& statement) {
  if (pending_hint_ && (statement.kind != Statement::Kind::instruction || statement.opcode != "ld")) {
    refuse(*pending_hint_, "pragma \"row_hint\" stands before no load", "put it directly before the load it is for");
  }
  switch (statement.kind) {
    case Statement::Kind::label: {
      const LabelId id = label(statement.name, statement.at);
      Frame::Label& entry = frame_->labels.at(statement.name);
      if (entry.bound) {
        refuse(statement.at, "label '" + statement.name + "' is defined twice", "rename one of them");
      }
      entry.bound = true;
      bind(id);
      return;
    }
    case Statement::Kind::pragma:
      lower_pragma(statement.name, statement.at, true);
      return;
    case Statement::Kind::branch_targets:
    case Statement::Kind::call_prototype:
      return;  // brx and call look them up
    case Statement::Kind::instruction:
      break;
  }
  statement_ = &statement;
  hinted_ = pending_hint_.has_value();
  pending_hint_.reset();
  guard_ = {};
  after_.reset();
  if (statement.guarded) {
    if (declared(statement.guard) != Type::pred) {
      refuse("the guard is not a predicate register", "use a register declared .pred");
    }
    guard_ = {vreg(statement.guard), statement.guard_negated};
  }
  const Handler* handler = find_handler(statement.opcode);
  if (handler == nullptr) {
    const std::string_view advice = advice_for(statement.opcode);
    if (!advice.empty()) {
      refuse("instruction '" + statement.opcode + "' is not supported", std::string(advice));
    }
    refuse("unknown instruction '" + statement.opcode + "'",
           suggest(statement.opcode, handled_opcodes(), "docs/ptx.md lists the instructions that there are"));
  }
  handler->lower(*this);
  if (after_) bind(*after_);
  after_.reset();
  statement_ = nullptr;
}

unsigned Selector::pragma_number(const std::string& text, std::size_t from, const Position& at, const char* wrong,
                                 unsigned most) const {
  unsigned number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data() + from, last, number);
  if (error != std::errc() || end != last || number < 1 || number > most) {
    refuse(at, "pragma \"" + text + "\" " + wrong, "write a number from 1 to " + std::to_string(most));
  }
  return number;
}

// PTX ISA: in front of the first instruction of a loop's first block it means that loop, in front of a function's body
// all of the function, and elsewhere nothing.
void Selector::keep_loops(bool statement_level) {
  if (!statement_level) {
    keeps_loops_ = true;
  } else if (!out_.items.empty() && out_.items.back().is_label) {
    out_.items.back().keep_loop = true;
  }
}

void Selector::lower_pragma(const std::string& text, const Position& at, bool statement_level) {
  if (text.starts_with("nounroll")) return keep_loops(statement_level);
  for (const std::string_view harmless : {"used_bytes_mask", "enable_smem_spilling", "frequency"}) {
    if (text.compare(0, harmless.size(), harmless) == 0) return;
  }
  if (text == "row_hint" && statement_level) {
    pending_hint_ = at;
    return;
  }
  constexpr std::string_view kWarpSize = "warp_size ";
  if (text.compare(0, kWarpSize.size(), kWarpSize) == 0) {
    const unsigned size = pragma_number(text, kWarpSize.size(), at, "names no warp size", 1024);
    if (out_.kernel.warp_size && *out_.kernel.warp_size != size) {
      refuse(at,
             "pragma \"" + text + "\" contradicts an earlier warp size of " + std::to_string(*out_.kernel.warp_size),
             "keep one of them");
    }
    if (!out_.kernel.warp_size) out_.kernel.warp_size_line = at.line;
    out_.kernel.warp_size = size;
    return;
  }
  constexpr std::string_view kLaneGroups = "lane_groups ";
  if (text.compare(0, kLaneGroups.size(), kLaneGroups) == 0) {
    const unsigned size = pragma_number(text, kLaneGroups.size(), at, "names no size of groups", 32);
    if ((size & (size - 1)) != 0) {
      refuse(at, "pragma \"" + text + "\" names no power of two", "write 1, 2, 4, 8, 16 or 32");
    }
    if (size > out_.kernel.lane_groups) {
      out_.kernel.lane_groups = size;
      out_.kernel.lane_groups_line = at.line;
    }
    return;
  }
  refuse(at, "unknown pragma \"" + text + "\"",
         "known ones: \"row_hint\" before a load, \"warp_size N\", \"lane_groups N\", \"nounroll\", \"used_bytes_mask "
         "...\", "
         "\"enable_smem_spilling\", \"frequency ...\"");
}

void Selector::note_warp_operation() {
  if (!out_.kernel.uses_warp_operations) out_.kernel.warp_operation_line = statement_->at.line;
  out_.kernel.uses_warp_operations = true;
}

void Selector::wait_for_lanes(const Value& members) {
  if (!out_.code.warp_syncs) {
    out_.kernel.needs_lockstep = true;
    return;
  }
  const bool always = guard_.reg == kNone && !guard_.negated;
  IrInstruction wait;
  wait.op = isa::Op::WARP_SYNC;
  if (!members.constant) {
    wait.b = in_register(members);
    write(std::move(wait));
    return;
  }
  const auto lanes = static_cast<std::uint32_t>(members.bits);
  if (together_ && *together_ == lanes) return;
  wait.immediate = true;
  wait.imm = lanes;
  write(std::move(wait));
  if (always) together_ = lanes;
}

LabelId Selector::label(const std::string& name, const Position& use) {
  const auto found = frame_->labels.find(name);
  if (found != frame_->labels.end()) return found->second.id;
  const LabelId id = new_label();
  frame_->labels.emplace(name, Frame::Label{id, false, use});
  return id;
}

}  // namespace heddle::ptx
