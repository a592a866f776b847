// Launches that the reference interpreter computes, and launches of which the model simulates some blocks.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "isa/interpreter.hpp"
#include "isa/launch_check.hpp"
#include "tb/device/block_sample.hpp"
#include "tb/device/block_talk.hpp"
#include "tb/device/device_state.hpp"
#include "tb/device/kept_buffers.hpp"
#include "tb/device/launch_warps.hpp"

namespace heddle::tb {

namespace {

// Of a thread, while it is not known whether blocks wait for each other: one more, and they may.
constexpr std::uint64_t kMostInstructions = std::uint64_t{1} << 22U;

// A kernel whose threads learn when and where they are executed does other things in another sample.
bool looks_around(const isa::Kernel& kernel) {
  return std::any_of(kernel.words.begin(), kernel.words.end(), [](const isa::InstructionWord& word) {
    const std::optional<isa::Instruction> instruction = isa::decode(word);
    if (!instruction || instruction->op != isa::Op::S2R) {
      return false;
    }
    switch (static_cast<isa::Special>(instruction->imm)) {
      case isa::Special::clock:
      case isa::Special::clock_hi:
      case isa::Special::clock64:
      case isa::Special::smid:
      case isa::Special::nsmid:
        return true;
      default:
        return false;
    }
  });
}

std::string text_of_talk(const BlockTalk::Talk& talk, const isa::DeviceMemory& memory) {
  return fmt::format("block {} {} what {} {}, {}", talk.block, talk.writes ? "writes" : "reads",
                     talk.before ? fmt::format("block {} has", *talk.before) : "other blocks have",
                     talk.before_writes ? "written" : "read", memory.describe(talk.address, 1));
}

// Keeps what is written to be there again.
class TalkOfBlocks final : public BlockTalk {
 public:
  explicit TalkOfBlocks(KeptBuffers& buffers) : buffers_(buffers) {}
  void stores(std::uint64_t address, std::uint32_t bytes, bool changes) override {
    buffers_.about_to_write(address);
    BlockTalk::stores(address, bytes, changes);
  }
  void updates(std::uint64_t address, isa::AtomicOp op, isa::Type type, bool returns) override {
    buffers_.about_to_write(address);
    BlockTalk::updates(address, op, type, returns);
  }

 private:
  KeptBuffers& buffers_;
};

}  // namespace

isa::InterpreterOptions Device::State::how_to_interpret(unsigned warp_size) {
  const hw::CoreParameters& core = gpu.machine().core;
  isa::InterpreterOptions how;
  how.warp_size = std::min(warp_size, isa::kLanes);
  how.trap_on_division_by_zero = core.division_trap;
  how.trap_on_stray_load = core.load_trap;
  how.prints = &interpreted_prints;
  return how;
}

// What an interpreted launch leaves beside memory and hashes.
void Device::State::take_over(const isa::InterpreterResult& result) {
  if (const std::string text = interpreted_prints.text(); options.print && !text.empty()) {
    options.print(text);
  }
  for (const isa::StrayLoads& loads : result.stray_loads) {
    isa::add(stray_loads, loads);
  }
}

// As the model would leave memory, hashes and prints, in no time.
void Device::State::interpret(const isa::LaunchRequest& request, unsigned warp_size) {
  if (options.interrupted != nullptr && options.interrupted->load()) {
    throw RunStopped(fmt::format("interrupted after {} cycles", cycles()));
  }
  interpreted_prints.begin_launch(request);
  isa::InterpreterResult result = isa::interpret(module, request, memory, hash, how_to_interpret(warp_size));
  take_over(result);
  if (result.fault) {
    interpreted_prints.explain(*result.fault);
    fault = *result.fault;
    throw SimulatedFault(isa::describe(*result.fault, module));
  }
  ++launches_ended;
  blocks_of_ended += request.grid.count();
  selection.interpreted(request.kernel, result.executed_instructions);
}

hw::Launch Device::State::shape_of(const isa::LaunchRequest& request, const isa::Kernel& kernel) const {
  hw::Launch launch;
  launch.grid = request.grid;
  launch.block = request.block;
  launch.registers = std::max(kernel.registers, 1U);
  launch.shared_bytes = static_cast<std::uint32_t>(isa::total_shared_bytes(kernel, request));
  launch.warp_size = launch_warp_size(module, kernel, gpu.machine().core);
  launch.carve_out = request.carve_out;
  return launch;
}

// Memory, hashes, prints and counts of the whole launch come from the interpreter, which also shows whether its blocks
// could have run in another order. Then memory is again what the launch has found, some of the blocks run on the model
// for their time's sake, and what they leave is forgotten. False: nothing has happened, all blocks are to be simulated.
bool Device::State::launch_some(const isa::LaunchRequest& request, const isa::Kernel& kernel) {
  const auto whole = [&](const std::string& why) {
    selection.simulates_whole(kernel.name, why);
    return false;
  };
  if (selection.blocks_talk(kernel.name)) {
    return false;
  }
  const std::uint64_t wave =
      std::uint64_t{hw::residency(gpu.machine(), shape_of(request, kernel)).blocks} * gpu.machine().gpu.cores;
  const BlockSample sample(request.grid.count(), wave, selection.what().blocks);
  if (!sample.any()) {
    return whole(fmt::format("a grid of {} is too small for a machine that holds {}",
                             counted(request.grid.count(), "block"), wave));
  }
  if (request.cooperative) {
    return whole("its blocks wait for each other (a cooperative launch)");
  }
  if (calls_heap(kernel)) {
    return whole("its threads allocate on the device heap, which could not be as it was before");
  }
  if (looks_around(kernel)) {
    return whole("its threads ask for the clock or the core that they are in");
  }
  KeptBuffers buffers(memory);
  TalkOfBlocks talk(buffers);
  isa::InterpreterOptions how = how_to_interpret(launch_warp_size(module, kernel, gpu.machine().core));
  how.max_instructions_per_thread = kMostInstructions;
  interpreted_prints.begin_launch(request);
  const std::optional<isa::InterpreterResult> result =
      isa::interpret_observed(module, request, memory, hash, how, talk);
  if (!result || result->fault) {
    buffers.exchange();
  }
  if (talk.talk()) {
    selection.found_talk(kernel.name);
    return whole(text_of_talk(*talk.talk(), memory));
  }
  if (!result || result->fault) {
    const bool waits = result && result->fault->kind == isa::Fault::Kind::livelock;
    return whole(waits ? fmt::format("a thread takes more than {} instructions, perhaps waiting for another block",
                                     grouped(kMostInstructions))
                       : "it ends in a fault");
  }
  hw::SomeBlocks some{sample.blocks(), {}};
  const hw::Totals before = gpu.totals();
  buffers.exchange();
  const std::uint64_t differing = simulate_some(request, kernel, some);
  buffers.exchange();
  take_over(*result);
  const hw::Totals after = gpu.totals();
  const std::uint64_t taken = after.cycles - before.cycles;
  selection.simulated_in_part(kernel.name,
                              {taken, after.core.thread_instructions - before.core.thread_instructions,
                               result->executed_instructions, request.grid.count(), some.blocks.size(), differing,
                               sample.cycles_of_all(taken, some.finished, talk.instructions())});
  return true;
}

// Returns in how many of the blocks a thread has done other things than in the interpreter: what the threads of a block
// do may depend on their order.
std::uint64_t Device::State::simulate_some(const isa::LaunchRequest& request, const isa::Kernel& kernel,
                                           hw::SomeBlocks& some) {
  gpu.set_blocks(&some);
  begin(request, kernel);
  running.back().some = true;
  try {
    while (!running.empty()) {
      static_cast<void>(proceed(link::kNever));
    }
  } catch (...) {
    gpu.set_blocks(nullptr);
    throw;
  }
  gpu.set_blocks(nullptr);
  const std::size_t threads = request.block.count();
  const auto differs = [&](std::uint64_t block) {
    const auto ours = some_hashes.begin() + static_cast<std::ptrdiff_t>(block * threads);
    return !std::equal(ours, ours + static_cast<std::ptrdiff_t>(threads),
                       hash.threads().begin() + static_cast<std::ptrdiff_t>(block * threads));
  };
  return static_cast<std::uint64_t>(std::count_if(some.blocks.begin(), some.blocks.end(), differs));
}

}  // namespace heddle::tb
