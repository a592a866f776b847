#include "hw/waves/gpu_waves.hpp"

#include <algorithm>
#include <utility>

#include "hw/core/memory/memory_access.hpp"
#include "hw/divergence/divergence.hpp"
#include "hw/gpu/gpu.hpp"

namespace heddle::hw {

namespace {

CacheParameters store_of(const L2Parameters& l2) {
  CacheParameters store;
  store.ports = l2.banks;
  store.mshrs = l2.mshrs;
  return store;
}

}  // namespace

GpuWaves::GpuWaves(const Machine& machine, const std::string& name) : machine_(machine) {
  const unsigned parts = machine_.core.sub_cores;
  for (unsigned core = 0; core < machine_.gpu.cores; ++core) {
    const std::string of_core = name + ".core" + std::to_string(core);
    for (unsigned part = 0; part != parts; ++part) {
      cores_.push_back(std::make_unique<CoreWaves>(machine_of_sub_core(machine_)));
      cores_.back()->describe(catalogue_, parts == 1 ? of_core : of_core + ".sub" + std::to_string(part));
    }
    cores_[std::size_t{core} * parts]->describe_caches(catalogue_, of_core);
  }
  if (about<Divergence>(machine_.core.divergence).traits.global_pool != nullptr) {
    pool_ = std::make_unique<PoolWaves>();
    catalogue_.add(name + ".global_scheduler", *pool_);
  }
  noc_ = std::make_unique<NocWaves>(machine_);
  catalogue_.add(name + ".noc", *noc_);
  // The slices of a channel before the channel.
  const unsigned slices = machine_.l2.enabled ? machine_.l2.slices : 0;
  for (unsigned channel = 0; channel < machine_.dram.channels; ++channel) {
    for (unsigned i = 0; i < slices; ++i) {
      const std::string slice = name + ".l2_" + std::to_string(l2_.size());
      l2_.push_back(std::make_unique<L2Waves>(machine_.l2, store_of(machine_.l2)));
      catalogue_.add(slice, *l2_.back());
      catalogue_.add(slice + ".store", l2_.back()->store);
      if (home_table_of(machine_.gpu.coherence)) {
        homes_.push_back(std::make_unique<HomeWaves>(machine_.gpu.cores));
        catalogue_.add(slice + ".home", *homes_.back());
      }
    }
    dram_.push_back(std::make_unique<DramWaves>(machine_.dram));
    catalogue_.add(name + ".dram" + std::to_string(channel), *dram_.back());
  }
}

void GpuWaves::watch_caches() {
  if (gpu_ == nullptr || std::exchange(watches_caches_, true)) {
    return;
  }
  for (unsigned core = 0; core < machine_.gpu.cores; ++core) {
    cores_[std::size_t{core} * machine_.core.sub_cores]->attach_caches(gpu_->core(core));
  }
  gpu_->noc().observe(noc_->traced() ? noc_.get() : nullptr);
}

void GpuWaves::attach(Gpu& gpu, bool later) {
  gpu_ = &gpu;
  shows_cores_ = std::any_of(catalogue_.signals().begin(), catalogue_.signals().end(), [](const link::Signal& signal) {
    using enum link::SignalGroup;
    return signal.wave->traced() && signal.group != l2 && signal.group != dram;
  });
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    cores_[i]->attach(*gpu.sub_cores()[i]);
  }
  if (pool_) {
    pool_->start();
    gpu.global_scheduler()->observe(pool_->traced() ? pool_.get() : nullptr);
  }
  noc_->start();
  for (unsigned slice = 0; slice < l2_.size() && l2_[slice]->waiting.traced(); ++slice) {
    gpu.l2(slice).store().observe(&l2_[slice]->store);
    gpu.l2(slice).observe(l2_[slice].get());
    if (!homes_.empty()) {
      homes_[slice]->valid.set(0);
      gpu.l2(slice).home()->observe(homes_[slice].get());
    }
  }
  for (unsigned channel = 0; channel < dram_.size(); ++channel) {
    dram_[channel]->attach(gpu.dram(channel));
  }
  if (!later) {
    watch_caches();
  }
}

void GpuWaves::silence() {
  silent_ = true;
  Gpu* const gpu = std::exchange(gpu_, nullptr);
  if (gpu == nullptr) {
    return;
  }
  for (unsigned core = 0; core < machine_.gpu.cores; ++core) {
    CoreWaves::leave_caches(gpu->core(core));
  }
  if (pool_) {
    gpu->global_scheduler()->observe(nullptr);
  }
  gpu->noc().observe(nullptr);
  for (unsigned slice = 0; slice < l2_.size(); ++slice) {
    gpu->l2(slice).store().observe(nullptr);
    gpu->l2(slice).observe(nullptr);
    if (!homes_.empty()) {
      gpu->l2(slice).home()->observe(nullptr);
    }
  }
}

void GpuWaves::joined(const CoreState& core) {
  watch_caches();
  cores_[core.index]->joined(core);
}
void GpuWaves::launch_ended(const CoreState& core, Cycle /*end*/) {
  if (CoreWaves* const waves = shown(core)) {
    waves->launch_ended();
  }
}
void GpuWaves::block_started(const CoreState& core, unsigned /*block_slot*/) {
  if (CoreWaves* const waves = shown(core)) {
    waves->block_started();
  }
}
void GpuWaves::block_finished(const CoreState& core, unsigned /*block_slot*/) {
  if (CoreWaves* const waves = shown(core)) {
    waves->block_finished();
  }
}
void GpuWaves::group_changed(const CoreState& core, const Group& group, GroupState before) {
  if (CoreWaves* const waves = shown(core)) {
    waves->group_changed(core, group, before);
    if (group.state == GroupState::fetching) {
      waves->fetch_missed();
    }
  }
}
void GpuWaves::group_grown(const CoreState& core, const Group& group) {
  if (CoreWaves* const waves = shown(core)) {
    waves->changed(group);
  }
}
void GpuWaves::split_made(const CoreState& core, const Group& /*made*/, const Group& /*rest*/, SplitCause cause) {
  if (CoreWaves* const waves = shown(core)) {
    waves->split_made(cause);
  }
}
void GpuWaves::split_ended(const CoreState& core, const Group& /*split*/, const Group& /*into*/, SplitEnd end) {
  if (CoreWaves* const waves = shown(core)) {
    waves->split_ended(end);
  }
}
void GpuWaves::fetched(const CoreState& core, const link::SubWarp& sub_warp) {
  if (CoreWaves* const waves = shown(core)) {
    waves->fetched(core, sub_warp);
  }
}
void GpuWaves::entered(const CoreState& core, const link::SubWarp& sub_warp, CoreStage stage) {
  if (stage == CoreStage::returns) {
    if (CoreWaves* const waves = shown(core)) {
      waves->returning(sub_warp);
    }
  }
}
void GpuWaves::formed(const CoreState& core, const link::SubWarp& sub_warp, const link::SubWarp& /*instruction*/) {
  if (CoreWaves* const waves = shown(core)) {
    waves->formed(core, sub_warp);
  }
}
void GpuWaves::former_worked(const CoreState& core, const link::SubWarp& instruction, const FormerWork& work) {
  if (CoreWaves* const waves = shown(core)) {
    waves->former_worked(core, instruction, work);
  }
}
void GpuWaves::held(const CoreState& core, const link::SubWarp& /*sub_warp*/, CoreStage stage, IdleCause cause,
                    Cycle /*first*/, Cycle /*cycles*/) {
  if (CoreWaves* const waves = shown(core)) {
    waves->held(core, stage, cause);
  }
}
bool GpuWaves::knows_rests() const {
  return machine_.core.sub_cores == 1 ||
         std::none_of(cores_.begin(), cores_.end(), [](const auto& core) { return core->shows_caches(); });
}
void GpuWaves::rests(const CoreState& core) {
  if (CoreWaves* const waves = shown(core)) {
    waves->rests(core);
  }
}
void GpuWaves::rested(const CoreState& core, Cycle /*now*/) {
  if (CoreWaves* const waves = shown(core)) {
    waves->rested();
  }
}
void GpuWaves::read(const CoreState& core, const link::SubWarp& sub_warp) {
  if (CoreWaves* const waves = shown(core)) {
    waves->read(sub_warp);
  }
}
void GpuWaves::issued(const CoreState& core, const link::SubWarp& sub_warp, Cycle last) {
  if (CoreWaves* const waves = shown(core)) {
    waves->issued(sub_warp, last);
  }
}

void GpuWaves::began(const CoreState& core, const link::SubWarp& /*sub_warp*/, Cycle /*last*/) {
  if (CoreWaves* const waves = shown(core)) {
    waves->complex_began();
  }
}
void GpuWaves::in_memory(const CoreState& core, const link::SubWarp& sub_warp) {
  if (CoreWaves* const waves = shown(core)) {
    waves->in_memory(sub_warp);
  }
}
void GpuWaves::accessed(const CoreState& core, const MemoryAccess& access, Cycle /*scratchpad_last*/) {
  if ((access.global | access.local) != 0) {
    if (CoreWaves* const waves = shown(core)) {
      waves->accessed(access.count);
    }
  }
}
void GpuWaves::retired(const CoreState& core, const link::SubWarp& sub_warp) {
  if (CoreWaves* const waves = shown(core)) {
    waves->retired(core, sub_warp);
  }
}
void GpuWaves::completed(const CoreState& core, const Group& group, const Completion& completion) {
  if (CoreWaves* const waves = shown(core)) {
    waves->completed(group, completion.conditional);
  }
}
void GpuWaves::cycle_ended(const CoreState& core, const CycleEnd& end) {
  if (CoreWaves* const waves = shown(core)) {
    waves->cycle_ended(core, end);
  }
}
void GpuWaves::sleeps(const CoreState& core, Cycle from, std::span<const IdleCause> first, IdleCause cause) {
  if (CoreWaves* const waves = shown(core)) {
    waves->sleeps(from, first, cause);
  }
}
// Cycles that the core has slept through have been announced.
void GpuWaves::idle(const CoreState& core, Cycle first, Cycle /*cycles*/, IdleCause cause) {
  if (first == core.now) {
    if (CoreWaves* const waves = shown(core)) {
      waves->idle(cause);
    }
  }
}

}  // namespace heddle::hw
