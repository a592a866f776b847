#include "hw/state/block_home.hpp"

#include <algorithm>
#include <iterator>

#include "hw/parameters/machine.hpp"

namespace heddle::hw {

void BlockHome::begin(const Launch& launch, const CoreParameters& shape, const isa::Dim3& block_index,
                      std::uint64_t block_linear, std::uint64_t first_local) {
  index = block_index;
  linear = block_linear;
  live_threads = launch.threads_per_block();
  barriers_.clear();
  at_grid_ = false;
  waiting_.clear();
  const unsigned width = shape.simd_width;
  const unsigned rows_per_warp = shape.warp_size / width;
  const std::uint32_t warps = (live_threads + shape.warp_size - 1) / shape.warp_size;
  threads.resize(std::size_t{warps} * rows_per_warp);
  for (std::uint32_t i = 0; i < threads.size(); ++i) {
    ThreadHome& home = threads[i];
    home.block = this;
    home.first = i * width;
    home.threads = home.first < live_threads ? std::min<std::uint32_t>(width, live_threads - home.first) : 0;
    home.hashes = launch.hashes == nullptr ? nullptr : launch.hashes + linear * live_threads + home.first;
    home.first_local = first_local + home.first;
    home.written.start(width, launch.local_bytes);
    isa::ThreadContext& context = home.context;
    context.block = launch.block;
    context.block_index = index;
    context.grid = launch.grid;
    context.grid_id = launch.id;
    context.dynamic_shared = launch.dynamic_shared;
    context.total_shared = launch.shared_bytes;
    context.cooperative = launch.cooperative;
    context.grid_workspace = launch.grid_workspace;
    context.set_threads(home.first, home.threads, i % rows_per_warp * width);
  }
}

std::string BlockHome::arrive(const BarrierArrival& arrival, Cycle now) {
  if (arrival.barrier < first_arrival_.size() && barriers_.state(arrival.barrier).arrived == 0) {
    first_arrival_[arrival.barrier] = now;
  }
  std::string wrong =
      barriers_.arrive(arrival.op, arrival.barrier, arrival.count, arrival.threads, arrival.true_threads);
  if (wrong.empty() && arrival.waits()) {
    waiting_.push_back({arrival.barrier, arrival.core, arrival.sub_warp});
  }
  return wrong;
}

bool BlockHome::complete(Release& release) {
  isa::reference::Barriers::State done;
  const std::optional<unsigned> id = barriers_.complete(live_threads, done);
  if (!id) {
    return false;
  }
  release.value = isa::reference::reduced(done);
  take_waiting(*id, release);
  return true;
}

bool BlockHome::comes_to_grid() {
  if (at_grid_ || !barriers_.at_grid(live_threads)) {
    return false;
  }
  at_grid_ = true;
  return true;
}

void BlockHome::leave_grid(Release& release) {
  at_grid_ = false;
  barriers_.leave_grid();
  release.value = 0;
  take_waiting(isa::reference::kGridBarrier, release);
}

void BlockHome::take_waiting(unsigned barrier, Release& release) {
  release.first_arrival = first_arrival_[barrier];
  release.waiting.clear();
  const auto waits_there = [&](const Waiter& waiter) { return waiter.barrier == barrier; };
  std::copy_if(waiting_.begin(), waiting_.end(), std::back_inserter(release.waiting), waits_there);
  std::erase_if(waiting_, waits_there);
}

}  // namespace heddle::hw
