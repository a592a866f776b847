#include "tb/measure/trace/recorder.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/set_bits.hpp"
#include "hw/divergence/divergence.hpp"
#include "hw/gpu/gpu.hpp"
#include "isa/memory_map.hpp"
#include "isa/recorded.hpp"

namespace heddle::tb {

namespace {

// A load from global memory that will read 0 for lying out of bounds is recorded as such.
std::uint64_t recorded_address(const hw::CoreState& core, const link::SubWarp& sub_warp, unsigned lane) {
  const isa::Instruction& instruction = sub_warp.decoded->instruction;
  const std::uint64_t address = sub_warp.address[lane];
  if (core.core.load_trap || core.bounds == nullptr || !isa::is_load(instruction.op)) {
    return address;
  }
  const isa::Space space = isa::space_of(instruction.op);
  const bool global =
      space == isa::Space::global || (space == isa::Space::generic && isa::window_of(address) == isa::Window::global);
  const std::uint32_t bytes = isa::bytes_of(instruction.width()) * instruction.vector();
  const bool stray = global && address % bytes == 0 && core.bounds->find(address, bytes) == nullptr;
  return stray ? hw::kStrayAddress : address;
}

}  // namespace

// What one core's threads do. A block that has finished goes to the recorder between cycles, and its storage comes back
// when it has been written.
class TraceRecorder::OfCore final : public hw::CoreObserver {
 public:
  OfCore(TraceRecorder& recorder, const hw::CoreState& core, const link::Clock& clock)
      : recorder_(recorder), clock_(clock), blocks_(core.homes.size()) {}
  void give_back(Threads threads) { spare_.push_back(std::move(threads)); }

  [[nodiscard]] bool knows_rests() const override { return true; }
  void block_started(const hw::CoreState& core, unsigned block_slot) override;
  void block_finished(const hw::CoreState& core, unsigned block_slot) override;
  void left_out(const hw::CoreState& core, const hw::Group& group, std::uint32_t pc, unsigned row,
                hw::LaneMask lanes) override;
  void issued(const hw::CoreState& core, const link::SubWarp& sub_warp, hw::Cycle last) override;

 private:
  struct Block {
    std::uint64_t launch = 0;  // its number
    std::uint64_t linear = 0;
    Threads threads;
  };
  // Of a thread that is a guest here: in the part of the core where its block has begun.
  [[nodiscard]] traces::ThreadEvents& thread(const hw::CoreState& core, unsigned row, unsigned lane) {
    const hw::HomeThread thread = core.thread_at(row, lane);
    const hw::BlockHome& block = *thread.home->block;
    return recorder_.cores_[block.core]->blocks_[block.slot].threads[thread.number()];
  }

  TraceRecorder& recorder_;
  const link::Clock clock_;
  std::vector<Block> blocks_;   // by slot
  std::vector<Threads> spare_;  // for blocks to come
};

TraceRecorder::TraceRecorder(std::ostream& out) : writer_(out) {}
TraceRecorder::~TraceRecorder() = default;

void TraceRecorder::attached(hw::Gpu& gpu) {
  cores_.clear();
  for (const hw::SubCore* const sub_core : gpu.sub_cores()) {
    cores_.push_back(std::make_unique<OfCore>(*this, sub_core->state(), gpu.clock()));
  }
}

hw::CoreObserver& TraceRecorder::of_core(unsigned core) {
  return *cores_[core];
}

bool TraceRecorder::watches_apart(const hw::Machine& machine) const {
  return !hw::about<hw::Divergence>(machine.core.divergence).traits.changes_cores;
}

void TraceRecorder::loaded(const isa::Module& module) {
  writer_.module(module);
}

void TraceRecorder::launching(const LaunchInfo& launch) {
  const std::vector<isa::InstructionWord>& words = launch.kernel.words;
  if (std::any_of(words.begin(), words.end(), [](const isa::InstructionWord& word) {
        const std::optional<isa::Instruction> instruction = isa::decode(word);
        return instruction && isa::is_texture(instruction->op);
      })) {
    throw InputError({}, "kernel '" + launch.kernel.name + "' fetches from textures, which a trace does not hold",
                     "run it without --record");
  }
  if (launch.request.cooperative) {
    throw InputError({},
                     "the launch of kernel '" + launch.kernel.name + "' is cooperative, which a trace does not hold",
                     "run it without --record");
  }
  open_[launch.id] = {&launch.module, &launch.kernel, launch.request, launch.warp_size, false, false, 0, {}};
  write_on();
}

void TraceRecorder::launched(const LaunchInfo& launch, bool complete) {
  open_.at(launch.id).complete = complete;
  write_on();
}

void TraceRecorder::finished(OfCore& core, std::uint64_t launch, std::uint64_t block, Threads threads) {
  open_.at(launch).early.emplace(block, Finished{&core, std::move(threads)});
  write_on();
}

void TraceRecorder::write_on() {
  while (!open_.empty()) {
    Open& open = open_.begin()->second;
    if (!std::exchange(open.begun, true)) {
      const auto kernel = static_cast<std::uint32_t>(open.kernel - open.module->kernels.data());
      writer_.begin_launch({kernel, open.request.grid, open.request.block, open.request.dynamic_shared, open.warp_size,
                            open.request.parameters},
                           *open.kernel);
    }
    for (auto it = open.early.begin(); it != open.early.end() && it->first == open.next_block;
         it = open.early.erase(it)) {
      writer_.block(it->second.threads);
      it->second.core->give_back(std::move(it->second.threads));
      ++open.next_block;
    }
    if (!open.complete) {
      return;
    }
    writer_.end_launch();
    open_.erase(open_.begin());
  }
}

// ------------------------------------------------------------------------------------------------- of one core

void TraceRecorder::OfCore::block_started(const hw::CoreState& core, unsigned block_slot) {
  Block& block = blocks_[block_slot];
  block.launch = core.launch->id;
  block.linear = core.block(block_slot).linear;
  if (block.threads.empty() && !spare_.empty()) {
    block.threads = std::move(spare_.back());
    spare_.pop_back();
  }
  block.threads.resize(core.launch->threads_per_block());
  for (traces::ThreadEvents& thread : block.threads) {
    thread.clear();
  }
}

// The slot is not used again in this cycle.
void TraceRecorder::OfCore::block_finished(const hw::CoreState& /*core*/, unsigned block_slot) {
  clock_.tell([this, block_slot] {
    Block& block = blocks_[block_slot];
    recorder_.finished(*this, block.launch, block.linear, std::move(block.threads));
    block.threads.clear();
  });
}

void TraceRecorder::OfCore::left_out(const hw::CoreState& core, const hw::Group& group, std::uint32_t /*pc*/,
                                     unsigned row, hw::LaneMask lanes) {
  for (const unsigned lane : set_bits(lanes)) {
    thread(core, group.row_of(row, lane), group.home_of(lane)).add_bit(false);
  }
}

void TraceRecorder::OfCore::issued(const hw::CoreState& core, const link::SubWarp& sub_warp, hw::Cycle /*last*/) {
  const isa::Instruction& instruction = sub_warp.decoded->instruction;
  const bool guarded = !instruction.guard.always();
  const bool value = isa::records_value(instruction);
  if (!guarded && !value) {
    return;
  }
  const bool accumulates = isa::is_accumulate(instruction.op);
  const bool memory = sub_warp.decoded->unit == isa::Unit::memory;
  for (const unsigned lane : set_bits(sub_warp.lanes)) {
    traces::ThreadEvents& events = thread(core, sub_warp.row_of(lane), sub_warp.home_of(lane));
    const bool on = ((sub_warp.executing >> lane) & 1U) != 0;
    if (guarded) {
      events.add_bit(on);
    }
    if (!on || !value) {
      continue;
    }
    if (accumulates) {
      const bool predicate = ((sub_warp.values.predicate_a >> lane) & 1U) != 0;
      events.add_bit(predicate);
      if (!predicate) {
        continue;
      }
    }
    if (isa::is_bulk_copy(instruction.op)) {
      events.values.push_back(isa::recorded_bulk_copy(sub_warp.address[lane], sub_warp.values.result[1][lane]));
      continue;
    }
    events.values.push_back(memory ? recorded_address(core, sub_warp, lane)
                                   : sub_warp.values.a[0][lane] | std::uint64_t{sub_warp.values.b[0][lane]} << 32U);
  }
}

}  // namespace heddle::tb
