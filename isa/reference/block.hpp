// One block of the reference interpreter: its warps, their registers, and the loop that runs them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isa/block_observer.hpp"
#include "isa/interpreter.hpp"
#include "isa/reference/barrier.hpp"
#include "isa/reference/decoded.hpp"
#include "isa/reference/memory.hpp"
#include "isa/reference/stack.hpp"
#include "isa/special.hpp"

namespace heddle::isa::reference {

// Registers from RZ on read zero: one row for RZ, one for the high half of a 64-bit RZ, two for a vector of four.
inline constexpr unsigned kRegisterRows = kRZ + 4;

struct Warp {
  std::vector<LaneWord> registers{kRegisterRows};
  std::array<LaneMask, kPredicates + 1> predicates{};  // [kPT]: all ones
  Stack stack;
  LaneWord hash{};
  ThreadContext context;
  ThreadPlace place;  // its clocks
  std::uint32_t first_thread = 0;
  unsigned threads = 0;
  std::optional<unsigned> waits_at;  // barrier, or kGridBarrier
  LaneMask waiting = 0;              // the lanes that arrived there

  [[nodiscard]] bool done() const { return stack.active() == 0; }
};

class Block {
 public:
  // `code`: decode_kernel of the kernel; like the others it outlives the block. `observer`: null: none.
  Block(const Module& module, const Kernel& kernel, const std::vector<Decoded>& code, const LaunchRequest& launch,
        DeviceMemory& memory, const InterpreterOptions& options, std::uint64_t grid_id,
        BlockObserver* observer = nullptr);

  // Runs the block with this index to its end, or until the observer wants no more; its threads' hashes go to `hashes`,
  // counts are added to `result`. A fault ends it early.
  void run(const Dim3& block_index, std::span<std::uint32_t> hashes, InterpreterResult& result);

  // Runs the block in steps, for blocks of a cooperative launch, which take turns.
  void start(const Dim3& block_index);
  enum class Turn : std::uint8_t {
    goes_on,
    at_grid,  // all its live threads wait at the grid's barrier
    done
  };
  // A turn of each warp that can go on. A fault goes to `result`, and ends it.
  [[nodiscard]] Turn turn(InterpreterResult& result);
  void leave_grid();  // every block has come to the grid's barrier
  void take_hashes(std::span<std::uint32_t> hashes) const;
  [[nodiscard]] Fault grid_fault(std::string detail) const;  // of a block at the grid's barrier

 private:
  using MaybeFault = std::optional<Fault>;

  // A turn: this many instructions before another warp gets one, so that a warp which spins on a flag lets others set
  // it.
  static constexpr std::uint64_t kSlice = 512;

  [[nodiscard]] std::uint64_t linear(const Dim3& block_index) const {
    return block_index.x + launch_.grid.x * (block_index.y + std::uint64_t{launch_.grid.y} * block_index.z);
  }
  // Until the slice is over or the warp waits or is done.
  [[nodiscard]] MaybeFault run_slice(Warp& warp, InterpreterResult& result);
  [[nodiscard]] MaybeFault step(Warp& warp, InterpreterResult& result);
  void print(const Warp& warp, LaneMask executed);
  [[nodiscard]] MaybeFault execute_heap(const Warp& warp, const Decoded& decoded, LaneMask executed);
  [[nodiscard]] MaybeFault execute_memory(Warp& warp, const Decoded& decoded, LaneMask executed,
                                          InterpreterResult& result);
  [[nodiscard]] MaybeFault execute_load(Warp& warp, const Decoded& decoded, LaneMask executed,
                                        InterpreterResult& result);
  [[nodiscard]] MaybeFault arrive(Warp& warp, const Decoded& decoded, LaneMask executed);
  void release_barriers();
  void release(Warp& warp, std::uint32_t value);

  void gather(const Warp& warp, const Decoded& decoded);
  void retire(Warp& warp, const Decoded& decoded, LaneMask executed);  // writes results back and folds the hash
  [[nodiscard]] Fault fault(Fault::Kind kind, const Warp& warp, LaneMask lanes, std::string detail = {}) const;
  [[nodiscard]] Fault fault(AccessFault access, const Warp& warp) const;
  [[nodiscard]] Fault stuck() const;

  const Module& module_;
  const Kernel& kernel_;
  const LaunchRequest& launch_;
  const InterpreterOptions& options_;
  BlockObserver* const observer_;
  const std::vector<Decoded>& code_;
  unsigned registers_ = 0;  // that the code names
  bool uses_heap_;
  DeviceHeap& heap_;
  BlockMemory memory_;
  Barriers barriers_;
  std::vector<Warp> warps_;
  std::uint32_t live_threads_ = 0;
  LaneValues values_{};  // operands and results of the instruction being executed
  alignas(64) LaneWord address_low_{};
};

}  // namespace heddle::isa::reference
