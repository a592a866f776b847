#include "isa/reference/block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/set_bits.hpp"
#include "isa/device_heap.hpp"
#include "isa/launch_check.hpp"
#include "isa/retire.hpp"
#include "isa/trap.hpp"

namespace heddle::isa::reference {

namespace {

constexpr LaneMask first_lanes(unsigned count) {
  return count == 32 ? ~LaneMask{0} : (LaneMask{1} << count) - 1;
}

LaneMask predicate(const Warp& warp, Pred operand) {
  const LaneMask value = warp.predicates[operand.reg];
  return operand.negated ? ~value : value;
}

void set_predicate(Warp& warp, unsigned reg, LaneMask lanes, LaneMask value) {
  if (reg != kPT) {
    warp.predicates[reg] = (warp.predicates[reg] & ~lanes) | (value & lanes);
  }
}

}  // namespace

Block::Block(const Module& module, const Kernel& kernel, const std::vector<Decoded>& code, const LaunchRequest& launch,
             DeviceMemory& memory, const InterpreterOptions& options, std::uint64_t grid_id, BlockObserver* observer)
    : module_(module),
      kernel_(kernel),
      launch_(launch),
      options_(options),
      observer_(observer),
      code_(code),
      uses_heap_(std::any_of(code_.begin(), code_.end(),
                             [](const Decoded& decoded) { return decoded.action == Action::heap; })),
      heap_(memory.heap()),
      memory_(memory, module.constant_bank, launch.parameters, total_shared_bytes(kernel, launch), kernel.local_bytes,
              launch.block.count(), observer) {
  for (const Decoded& decoded : code) {
    const RegisterUse use = register_use(decoded.instruction);
    registers_ = std::max(registers_, (use.read | use.written).end());
  }
  const auto threads = static_cast<std::uint32_t>(launch.block.count());
  const std::uint32_t warps = (threads + options.warp_size - 1) / options.warp_size;
  warps_.resize(warps);
  for (std::uint32_t w = 0; w < warps; ++w) {
    Warp& warp = warps_[w];
    warp.first_thread = w * options.warp_size;
    warp.threads = std::min(options.warp_size, threads - warp.first_thread);
    ThreadContext& context = warp.context;
    context.block = launch.block;
    context.grid = launch.grid;
    context.grid_id = grid_id;
    context.dynamic_shared = launch.dynamic_shared;
    context.total_shared = static_cast<std::uint32_t>(total_shared_bytes(kernel, launch));
    context.cooperative = launch.cooperative;
    context.grid_workspace = launch.grid_workspace;
    context.set_threads(warp.first_thread, warp.threads);
  }
}

void Block::start(const Dim3& block_index) {
  memory_.clear();
  if (uses_heap_) {
    memory_.number_threads(linear(block_index) * launch_.block.count());
  }
  barriers_.clear();
  live_threads_ = static_cast<std::uint32_t>(launch_.block.count());
  for (Warp& warp : warps_) {
    for (unsigned reg = 0; reg != registers_; ++reg) {
      warp.registers[reg].fill(0);
    }
    warp.predicates.fill(0);
    warp.predicates[kPT] = ~LaneMask{0};
    warp.stack.start(first_lanes(warp.threads));
    warp.hash.fill(0);
    warp.context.block_index = block_index;
    warp.place.clock.fill(0);
    warp.waits_at.reset();
    warp.waiting = 0;
  }
}

void Block::run(const Dim3& block_index, std::span<std::uint32_t> hashes, InterpreterResult& result) {
  start(block_index);
  const std::uint64_t executed_before = result.executed_instructions;
  if (observer_ != nullptr) {
    observer_->begins(linear(block_index));
  }
  while (turn(result) == Turn::goes_on && !result.fault && (observer_ == nullptr || observer_->goes_on())) {
  }
  if (observer_ != nullptr) {
    observer_->ends(result.executed_instructions - executed_before);
  }
  take_hashes(hashes);
}

void Block::take_hashes(std::span<std::uint32_t> hashes) const {
  for (const Warp& warp : warps_) {
    std::copy_n(warp.hash.begin(), warp.threads, hashes.begin() + warp.first_thread);
  }
}

Block::Turn Block::turn(InterpreterResult& result) {
  bool ran = false;
  bool all_done = true;
  for (Warp& warp : warps_) {
    if (!warp.done() && !warp.waits_at) {
      ran = true;
      result.fault = run_slice(warp, result);
      if (result.fault || (observer_ != nullptr && !observer_->goes_on())) {
        return Turn::goes_on;
      }
    }
    all_done = all_done && warp.done();
  }
  if (all_done) {
    return Turn::done;
  }
  if (!ran) {
    if (barriers_.at_grid(live_threads_)) {
      return Turn::at_grid;
    }
    result.fault = stuck();
  }
  return Turn::goes_on;
}

void Block::leave_grid() {
  barriers_.leave_grid();
  for (Warp& warp : warps_) {
    if (warp.waits_at == kGridBarrier) {
      release(warp, 0);
    }
  }
}

Block::MaybeFault Block::run_slice(Warp& warp, InterpreterResult& result) {
  // One instruction more than a thread may still execute shows that it wants to.
  const std::uint64_t limit = options_.max_instructions_per_thread;
  const auto& clock = warp.place.clock;
  const std::uint64_t most = *std::max_element(clock.begin(), clock.begin() + warp.threads);
  const std::uint64_t slice = std::min(kSlice - 1, limit - most) + 1;
  for (std::uint64_t i = 0; i < slice && !warp.done() && !warp.waits_at; ++i) {
    if (MaybeFault fault = step(warp, result)) {
      return fault;
    }
  }
  for (unsigned lane = 0; lane < warp.threads; ++lane) {
    if (clock[lane] > limit) {
      return fault(Fault::Kind::livelock, warp, LaneMask{1} << lane,
                   fmt::format("the thread has not finished after {} instructions", limit));
    }
  }
  return std::nullopt;
}

void Block::gather(const Warp& warp, const Decoded& decoded) {
  const Instruction& in = decoded.instruction;
  const auto copy = [&](auto& to, unsigned reg, unsigned words) {
    for (unsigned word = 0; word < words; ++word) {
      to[word] = warp.registers[reg + word];
    }
  };
  copy(values_.a, in.a, decoded.a);
  copy(values_.b, in.b, decoded.b);
  copy(values_.c, in.c, decoded.c);
  if (decoded.d != 0) {
    values_.d = warp.registers[in.d];
  }
  if (in.immediate) {
    load_immediate(in, values_);
  }
  values_.predicate_a = predicate(warp, decoded.predicates.a);
  values_.predicate_b = predicate(warp, decoded.predicates.b);
}

void Block::retire(Warp& warp, const Decoded& decoded, LaneMask executed) {
  const ResultForm& form = decoded.result;
  for (unsigned word = 0; word < form.words; ++word) {
    LaneWord& row = warp.registers[form.dst + word];
    const LaneWord& from = values_.result[word];
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const std::uint32_t take = 0U - ((executed >> lane) & 1U);
      row[lane] = (from[lane] & take) | (row[lane] & ~take);
    }
  }
  set_predicate(warp, form.p, executed, values_.p);
  set_predicate(warp, form.q, executed, values_.q);
  isa::retire(form, warp.stack.pc(), executed, values_, address_low_, warp.hash);
}

Block::MaybeFault Block::step(Warp& warp, InterpreterResult& result) {
  const LaneMask active = warp.stack.active();
  if (warp.stack.pc() >= code_.size()) {
    return fault(Fault::Kind::invalid_instruction, warp, active,
                 fmt::format("the kernel has {} instructions; control ran past its end", code_.size()));
  }
  const Decoded& decoded = code_[warp.stack.pc()];
  const Instruction& in = decoded.instruction;
  if (decoded.action == Action::invalid) {
    return fault(Fault::Kind::invalid_instruction, warp, active,
                 fmt::format("the word 0x{} is no instruction", text_of(kernel_.words[warp.stack.pc()])));
  }
  ++result.warp_instructions;
  result.thread_instructions += static_cast<unsigned>(std::popcount(active));
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    warp.place.clock[lane] += (active >> lane) & 1U;
  }
  const LaneMask executed = active & predicate(warp, in.guard);
  result.executed_instructions += static_cast<unsigned>(std::popcount(executed));
  if (decoded.action == Action::branch) {
    retire(warp, decoded, executed);
    warp.stack.branch(executed, in.target, in.reconvergence);
    return std::nullopt;
  }
  if (executed == 0) {
    warp.stack.advance();
    return std::nullopt;
  }
  gather(warp, decoded);
  values_.active = executed;
  values_.fault = 0;
  switch (decoded.action) {
    case Action::lanes:
      decoded.function(in, values_);
      if ((values_.fault & executed) != 0 && options_.trap_on_division_by_zero) {
        return fault(Fault::Kind::division_by_zero, warp, values_.fault & executed, disassemble(in));
      }
      break;
    case Action::special:
      if (!read_special(in.imm, warp.context, warp.place, values_)) {
        return fault(Fault::Kind::invalid_instruction, warp, executed,
                     fmt::format("there is no special register {}", in.imm));
      }
      break;
    case Action::load:
    case Action::store:
    case Action::copy:
    case Action::bulk_copy:
    case Action::atomic:
    case Action::accumulate:
    case Action::texture:
      if (MaybeFault fault = execute_memory(warp, decoded, executed, result)) {
        return fault;
      }
      break;
    case Action::barrier:
      return arrive(warp, decoded, executed);
    case Action::print:
      print(warp, executed);
      break;
    case Action::heap:
      if (MaybeFault fault = execute_heap(warp, decoded, executed)) {
        return fault;
      }
      break;
    case Action::trap:
      return fault(Fault::Kind::trap, warp, executed,
                   describe_trap(kernel_, warp.stack.pc(), [&](unsigned reg) -> std::optional<std::uint32_t> {
                     return warp.registers[reg][static_cast<unsigned>(std::countr_zero(executed))];
                   }));
    case Action::exit:
      retire(warp, decoded, executed);
      warp.stack.exit(executed);
      live_threads_ -= static_cast<std::uint32_t>(std::popcount(executed));
      release_barriers();
      return std::nullopt;
    case Action::nothing:
    case Action::branch:
    case Action::invalid:
      break;
  }
  retire(warp, decoded, executed);
  warp.stack.advance();
  return std::nullopt;
}

Block::MaybeFault Block::execute_heap(const Warp& warp, const Decoded& decoded, LaneMask executed) {
  const bool wide = decoded.a == 2;
  const std::uint64_t first = linear(warp.context.block_index) * launch_.block.count() + warp.first_thread;
  for (const unsigned lane : set_bits(executed)) {
    const std::uint64_t operand = values_.a[0][lane] | (wide ? std::uint64_t{values_.a[1][lane]} << 32U : 0);
    if (decoded.instruction.op == Op::HEAP_FREE || decoded.instruction.op == Op::HEAP_FREE_E) {
      if (std::string wrong = heap_.free(first + lane, operand, warp.stack.pc()); !wrong.empty()) {
        return fault(Fault::Kind::bad_free, warp, LaneMask{1} << lane, std::move(wrong));
      }
      continue;
    }
    DeviceHeap::Given given = heap_.allocate(first + lane, operand, wide);
    if (!given.wrong.empty()) {
      return fault(Fault::Kind::heap_room, warp, LaneMask{1} << lane, std::move(given.wrong));
    }
    values_.result[0][lane] = static_cast<std::uint32_t>(given.address);
    values_.result[1][lane] = static_cast<std::uint32_t>(given.address >> 32U);
  }
  return std::nullopt;
}

void Block::print(const Warp& warp, LaneMask executed) {
  if (options_.prints == nullptr) {
    return;
  }
  const std::uint64_t block = linear(warp.context.block_index);
  for (const unsigned lane : set_bits(executed)) {
    options_.prints->put(block, warp.first_thread + lane, values_.a[0][lane], values_.b[0][lane]);
  }
}

Block::MaybeFault Block::execute_load(Warp& warp, const Decoded& decoded, LaneMask executed,
                                      InterpreterResult& result) {
  std::vector<AccessFault> strays;
  const auto move = decoded.action == Action::copy ? &BlockMemory::copy : &BlockMemory::load;
  std::optional<AccessFault> access = (memory_.*move)(decoded.instruction, executed, warp.first_thread, values_,
                                                      address_low_, options_.trap_on_stray_load ? nullptr : &strays);
  for (AccessFault& stray : strays) {
    const Fault first = fault(std::move(stray), warp);
    add(result.stray_loads, {first, describe_pc(module_, kernel_, first.pc), 1});
  }
  return access ? MaybeFault(fault(*std::move(access), warp)) : std::nullopt;
}

Block::MaybeFault Block::execute_memory(Warp& warp, const Decoded& decoded, LaneMask executed,
                                        InterpreterResult& result) {
  const Instruction& in = decoded.instruction;
  std::optional<AccessFault> access;
  switch (decoded.action) {
    case Action::load:
      return execute_load(warp, decoded, executed, result);
    case Action::copy:
      for (unsigned word = 0; word < decoded.result.stored; ++word) {
        values_.result[word] = warp.registers[in.dst + word];
      }
      return execute_load(warp, decoded, executed, result);
    case Action::bulk_copy:
      for (unsigned word = 0; word < decoded.result.stored; ++word) {
        values_.result[word] = warp.registers[in.dst + word];
      }
      access = memory_.bulk_copy(in, executed, warp.first_thread, values_, address_low_);
      break;
    case Action::store:
      for (unsigned word = 0; word < decoded.result.stored; ++word) {
        values_.result[word] = warp.registers[in.dst + word];
      }
      access = memory_.store(in, executed, warp.first_thread, values_, address_low_);
      break;
    case Action::accumulate:
      access = memory_.accumulate(in, executed, warp.first_thread, values_, address_low_);
      break;
    case Action::texture:
      access = memory_.fetch(in, executed, values_);
      break;
    default:
      access = memory_.atomic(in, executed, warp.first_thread, values_, address_low_);
      break;
  }
  return access ? MaybeFault(fault(*std::move(access), warp)) : std::nullopt;
}

Fault Block::fault(AccessFault access, const Warp& warp) const {
  Fault out = fault(access.kind, warp, LaneMask{1} << access.lane, std::move(access.detail));
  out.address = access.address;
  out.size = access.size;
  return out;
}

Block::MaybeFault Block::arrive(Warp& warp, const Decoded& decoded, LaneMask executed) {
  const Instruction& in = decoded.instruction;
  const auto lane = static_cast<unsigned>(std::countr_zero(executed));
  const bool grid = in.op == Op::BAR_GRID;
  const std::uint32_t id = grid ? kGridBarrier : values_.a[0][lane];
  const std::uint32_t count = grid ? 0 : values_.b[0][lane];
  if (grid && !launch_.cooperative) {
    return fault(Fault::Kind::barrier_mismatch, warp, executed, kNotCooperative);
  }
  for (const unsigned other : set_bits(grid ? 0 : executed)) {
    if (values_.a[0][other] != id || values_.b[0][other] != count) {
      return fault(Fault::Kind::barrier_mismatch, warp, LaneMask{1} << other,
                   fmt::format("threads of one warp name different barriers or counts: {} ({}) and {} ({})", id, count,
                               values_.a[0][other], values_.b[0][other]));
    }
  }
  const std::string wrong = barriers_.arrive(in.op, id, count, static_cast<std::uint32_t>(std::popcount(executed)),
                                             static_cast<std::uint32_t>(std::popcount(values_.predicate_a & executed)));
  if (!wrong.empty()) {
    return fault(Fault::Kind::barrier_mismatch, warp, executed, wrong);
  }
  if (in.op == Op::BAR_ARRIVE) {
    retire(warp, decoded, executed);
    warp.stack.advance();
  } else {
    warp.waits_at = id;
    warp.waiting = executed;
  }
  release_barriers();
  return std::nullopt;
}

void Block::release_barriers() {
  Barriers::State done;
  while (const std::optional<unsigned> id = barriers_.complete(live_threads_, done)) {
    for (Warp& warp : warps_) {
      if (warp.waits_at == *id) {
        release(warp, reduced(done));
      }
    }
  }
}

void Block::release(Warp& warp, std::uint32_t value) {
  values_.result[0].fill(value);
  values_.p = value != 0 ? ~LaneMask{0} : 0;
  values_.q = 0;
  retire(warp, code_[warp.stack.pc()], warp.waiting);
  warp.waits_at.reset();
  warp.waiting = 0;
  warp.stack.advance();
}

Fault Block::fault(Fault::Kind kind, const Warp& warp, LaneMask lanes, std::string detail) const {
  const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
  Fault out;
  out.kind = kind;
  out.kernel = kernel_.name;
  out.pc = warp.stack.pc();
  out.block = warp.context.block_index;
  out.thread = Dim3{warp.context.tid_x[lane], warp.context.tid_y[lane], warp.context.tid_z[lane]};
  out.detail = std::move(detail);
  return out;
}

Fault Block::grid_fault(std::string detail) const {
  const auto first =
      std::find_if(warps_.begin(), warps_.end(), [](const Warp& warp) { return warp.waits_at.has_value(); });
  return fault(Fault::Kind::barrier_mismatch, *first, first->waiting, std::move(detail));
}

// Every warp that is left waits at a barrier that cannot complete.
Fault Block::stuck() const {
  std::string detail = "the barrier can never complete:";
  const Warp* first = nullptr;
  for (const Warp& warp : warps_) {
    if (!warp.waits_at) {
      continue;
    }
    detail += fmt::format("{} warp {} ({} of its {} threads) waits at {}, PC {}", first == nullptr ? "" : ";",
                          warp.first_thread / options_.warp_size, std::popcount(warp.waiting), warp.threads,
                          barrier_name(*warp.waits_at), warp.stack.pc());
    first = first == nullptr ? &warp : first;
  }
  for (unsigned id = 0; id <= kGridBarrier; ++id) {
    const Barriers::State& state = barriers_.state(id);
    if (state.arrived != 0) {
      detail += fmt::format("; {} has {} of {} threads", barrier_name(id), state.arrived,
                            state.count != 0 ? state.count : live_threads_);
    }
  }
  const std::uint32_t exited = static_cast<std::uint32_t>(launch_.block.count()) - live_threads_;
  if (exited != 0) {
    detail += fmt::format("; {} threads have exited", exited);
  }
  return fault(Fault::Kind::barrier_mismatch, *first, first->waiting, std::move(detail));
}

}  // namespace heddle::isa::reference
