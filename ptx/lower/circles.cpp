// Lowering of functions that call each other in a circle: ptx/lower/recursion.hpp.
#include <utility>

#include "ptx/lower/selector.hpp"

namespace heddle::ptx {

using isa::Op;

namespace {

IrBlockItem marker() {
  return {};  // an operation that does nothing
}

}  // namespace

CircleMember* Selector::member(const Function& function) {
  if (frame_->member == nullptr || layout_.circle(function) != circles_.back().number) return nullptr;
  for (const auto& member : circles_.back().members) {
    if (member->frame->function == &function) return member.get();
  }
  return &add_member(function);
}

CircleMember& Selector::add_member(const Function& function) {
  circles_.back().members.push_back(std::make_unique<CircleMember>());
  CircleMember& member = *circles_.back().members.back();
  const auto first = static_cast<VReg>(out_.registers.size());
  member.begin = new_label();
  member.dispatch = new_label();
  member.frame = std::make_unique<Frame>(open_frame(function, &member));
  Frame& frame = *member.frame;
  member.back = out_.make(RegClass::word, frame.prefix + "return");
  const auto place = [&](const ParameterDecl& formal) {
    if (formal.is_register) return vreg(frame, formal.reg);
    if (!formal.is_array) return (frame.parameters[formal.name] = make_slot(frame, formal.type, formal.name)).reg;
    ParamSlot slot;  // the caller's array, by its address
    slot.in_memory = true;
    slot.type = formal.type;
    slot.size = formal.count * isa::size_of(formal.type);
    slot.base = out_.make(RegClass::word, frame.prefix + formal.name);
    frame.parameters[formal.name] = slot;
    return slot.base;
  };
  for (const ParameterDecl& formal : function.parameters) member.parameters.push_back(place(formal));
  for (const ParameterDecl& formal : function.returns) member.results.push_back(place(formal));
  member.registers.emplace_back(first, static_cast<VReg>(out_.registers.size()));
  return member;
}

CircleMember& Selector::open_circle(const Function& function) {
  if (stack_ == kNone) {
    stack_base_ = allocate_local(stack_bytes_, kFrameAlignment, function.at, "the stack");
    stack_end_ = stack_base_ + stack_bytes_;
    out_.kernel.stack_bytes = stack_bytes_;
    stack_ = out_.make(RegClass::word, "stack pointer");
  }
  Circle circle;
  circle.number = *layout_.circle(function);
  if (!circles_.empty()) circle.outside = circles_.back().lowering;
  circles_.push_back(std::move(circle));
  return add_member(function);
}

// The size of the frame takes the place of the 1 when it is known.
void Selector::step_stack(CircleMember& over, bool up) {
  over.steps.push_back(out_.items.size());
  emit(Op::ADD, stack_, Value::of(stack_, Type::u32), Value::imm(up ? 1U : ~0U, Type::u32));
}

void Selector::fail_without_room(CircleMember& callee) {
  const VReg full = temp(Type::pred);
  callee.limits.push_back(out_.items.size());
  setp({Op::SETP_U32, isa::Comparison::ge, isa::BoolOp::none, {}, false}, full, kNone, Value::of(stack_, Type::u32),
       Value::imm(1, Type::u32));
  IrInstruction trap;
  trap.op = Op::TRAP;
  trap.trap = isa::TrapCause::Kind::stack;
  trap.guard = {full, false};
  write(std::move(trap));
}

void Selector::close_circle() {
  const std::size_t at = circles_.size() - 1;  // circles_ grows and shrinks behind it
  CircleMember& root = *circles_[at].members.front();
  CircleMember* const outside = circles_[at].outside;
  if (outside != nullptr) {
    step_stack(*outside, true);
  } else {
    move(stack_, Value::imm(stack_base_, Type::u32));
  }
  fail_without_room(root);
  move(root.back, Value::imm(0, Type::u32));
  branch(root.begin, {});
  for (std::size_t i = 0; i < circles_[at].members.size(); ++i) {
    CircleMember& member = *circles_[at].members[i];
    circles_[at].lowering = &member;
    const auto first = static_cast<VReg>(out_.registers.size());
    member.from = out_.items.size();
    bind(member.begin);
    inline_body(*member.frame);
    branch(member.dispatch, {});
    member.to = out_.items.size();
    member.registers.emplace_back(first, static_cast<VReg>(out_.registers.size()));
  }
  const LabelId end = new_label();
  Circle circle = std::move(circles_.back());
  circles_.pop_back();
  for (const auto& member : circle.members) {
    bind(member->dispatch);
    const Circle::Return* last = nullptr;  // needs no comparison
    for (const Circle::Return& to : circle.returns) {
      if (to.callee != member.get()) continue;
      if (last != nullptr || member.get() == &root) {
        const Circle::Return& compared = member.get() == &root ? to : *last;
        const VReg same = temp(Type::pred);
        setp({Op::SETP_U32, isa::Comparison::eq, isa::BoolOp::none, {}, false}, same, kNone,
             Value::of(member->back, Type::u32), Value::imm(compared.number, Type::u32));
        branch(compared.back, {same, false});
      }
      last = &to;
    }
    branch(member.get() == &root ? end : last->back, {});
  }
  bind(end);
  if (outside != nullptr) step_stack(*outside, false);
  for (auto& member : circle.members) past_members_.push_back(std::move(member));
}

void Selector::begin_member_call() {
  CircleCall call;
  call.back = new_label();
  call.save = out_.items.size();
  together_.reset();
  out_.items.push_back(marker());
  frame_->member->calls.push_back(std::move(call));
}

void Selector::call_member(CircleMember& callee) {
  CircleMember& caller = *frame_->member;
  CircleCall& call = caller.calls.back();
  step_stack(caller, true);
  fail_without_room(callee);
  Circle& circle = circles_.back();
  const auto number = static_cast<std::uint32_t>(circle.returns.size() + 1);
  circle.returns.push_back({&callee, number, call.back});
  move(callee.back, Value::imm(number, Type::u32));
  call.leave = out_.items.size();
  branch(callee.begin, {});
  bind(call.back);
  step_stack(caller, false);
}

void Selector::end_member_call(std::vector<VReg> results) {
  CircleCall& call = frame_->member->calls.back();
  call.results = std::move(results);
  call.restore = out_.items.size();
  together_.reset();
  out_.items.push_back(marker());
}

}  // namespace heddle::ptx
