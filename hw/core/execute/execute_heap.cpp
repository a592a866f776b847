// malloc and free of a sub-warp's threads: isa/device_heap.hpp.
#include <utility>

#include "base/set_bits.hpp"
#include "hw/core/execute/execute.hpp"
#include "isa/device_heap.hpp"

namespace heddle::hw {

void ExecuteStage::heap_lanes(link::SubWarp& sub_warp) {
  isa::LaneValues& values = sub_warp.values;
  const isa::Op op = sub_warp.decoded->instruction.op;
  const bool frees = op == isa::Op::HEAP_FREE || op == isa::Op::HEAP_FREE_E;
  const bool wide = op == isa::Op::HEAP_ALLOC_E || op == isa::Op::HEAP_FREE_E;
  values.result[0].fill(0);
  values.result[1].fill(0);
  isa::DeviceHeap* const heap = state_.launch->heap;
  if (heap == nullptr) {
    return;
  }
  CoreStatistics& statistics = state_.statistics;
  for (const unsigned lane : set_bits(sub_warp.executing)) {
    const std::uint64_t thread = state_.heap_thread(sub_warp, lane);
    const std::uint64_t operand = values.a[0][lane] | (wide ? std::uint64_t{values.a[1][lane]} << 32U : 0);
    if (frees) {
      if (std::string wrong = heap->free(thread, operand, sub_warp.pc); !wrong.empty()) {
        state_.raise(isa::Fault::Kind::bad_free, sub_warp, lane, 0, 0, std::move(wrong));
        return;
      }
      statistics.heap_frees += operand != 0 ? 1 : 0;
      continue;
    }
    isa::DeviceHeap::Given given = heap->allocate(thread, operand, wide);
    if (!given.wrong.empty()) {
      state_.raise(isa::Fault::Kind::heap_room, sub_warp, lane, 0, 0, std::move(given.wrong));
      return;
    }
    ++(given.address != 0 ? statistics.heap_allocations : statistics.heap_refusals);
    statistics.heap_bytes += given.address != 0 ? operand : 0;
    values.result[0][lane] = static_cast<std::uint32_t>(given.address);
    values.result[1][lane] = static_cast<std::uint32_t>(given.address >> 32U);
  }
}

}  // namespace heddle::hw
