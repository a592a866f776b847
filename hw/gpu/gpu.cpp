// Long: the machine is put together in one place, where it can be seen whole.
#include "hw/gpu/gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <type_traits>

#include "base/set_bits.hpp"
#include "hw/check/sound_machine.hpp"

namespace heddle::hw {

namespace {

// For the first member initialiser: what comes after it relies on the machine.
const sc_core::sc_module_name& checked_name(const sc_core::sc_module_name& name, const Machine& machine) {
  require_sound(machine, static_cast<const char*>(name));
  return name;
}

// From the slices of a channel to its controller, one cycle each way.
const NocParameters kWayToChannel{};
const DramParameters kOneChannel{};

sc_core::sc_time period_of(const Machine& machine) {
  return sc_core::sc_time(1.0 / machine.gpu.clock_ghz, sc_core::SC_NS);
}

}  // namespace

Gpu::Gpu(const sc_core::sc_module_name& name, const Machine& machine, const isa::DeviceMemory* bounds,
         const MakeTap& make_tap, const CoreExtension& extension)
    : sc_core::sc_module(checked_name(name, machine)),
      control("control"),
      memory("memory", machine.dram.channels),
      interrupt("interrupt"),
      machine_(machine),
      calendar_(period_of(machine)),
      clock_(calendar_.clock()),
      extended_(!extension.empty()),
      registers_(kRegisterBytes / 8),
      parameters_(kParameterWindowBytes),
      constants_(kConstantWindowBytes) {
  control.bind(*this);
  spawn("drive_interrupt", interrupt_changed_, [this] { drive_interrupt(); });
  spawn("tell_end", ended_, [this] {
    if (on_end_) {
      on_end_();
    }
  });
  for (unsigned i = 0; i < machine_.gpu.cores; ++i) {
    cores_.push_back(
        std::make_unique<Core>(("core" + std::to_string(i)).c_str(), machine_, i, clock_, bounds, extension));
    sub_cores_.insert(sub_cores_.end(), cores_.back()->sub_cores().begin(), cores_.back()->sub_cores().end());
  }
  if (machine_.gpu.perfect_memory || machine_.icache.ideal) {
    perfect_ = std::make_unique<MemoryBehind>(machine_, memory);
    for (const auto& core : cores_) {
      core->icache().answer_from(*perfect_);
      if (machine_.gpu.perfect_memory) {
        core->l1d().answer_from(*perfect_);
        core->texture_cache().answer_from(*perfect_);
        if (core->constant_cache() != nullptr) {
          core->constant_cache()->answer_from(*perfect_);
        }
      }
    }
  }
  if (about<Divergence>(machine_.core.divergence).traits.global_pool != nullptr) {
    global_ = std::make_unique<GlobalScheduler>("global_scheduler", machine_, clock_);
    global_->raise = [this](isa::Fault fault) {
      fault.launch = launches_.back().id;  // which is alone
      dispatcher_->raise(std::move(fault));
    };
    for (unsigned i = 0; i < machine_.gpu.cores; ++i) {
      cores_[i]->others->bind(global_->core[i]);
    }
  } else if (cores_.front()->others) {
    threads_ = std::make_unique<ThreadNetwork>("threads", machine_.gpu.cores);
    for (unsigned i = 0; i < machine_.gpu.cores; ++i) {
      cores_[i]->others->bind(threads_->core[i]);
    }
  }
  dispatcher_ = std::make_unique<Dispatcher>("dispatcher", machine_, clock_, cores_, global_.get());
  dispatcher_->ended = [this] {
    set_interrupt(true);
    for (const auto& channel : dram_) {
      channel->storage_port().rest();
    }
    if (noc_->partitions() != nullptr && !machine_.l2.kept) {
      noc_->partitions()->forget();
    }
    ended_.notify(clock_.ahead());
  };
  dispatcher_->launch_ended = [this](const Dispatcher::Ended& of) {
    just_ended_.push_back({of.launch->id, of.begin, of.end, of.warp_instructions, of.thread_instructions, of.complete,
                           take_stray_loads(of.launch->id)});
    ended_.notify(clock_.ahead());
  };
  if (cores_.front()->state().launch_bytes != nullptr) {
    dispatcher_->wrong_at_end = [this](const Launch& launch) { return shared_between_cores(launch); };
  }
  dispatcher_->core_left = [this](unsigned index, const Launch& launch) { keep_stray_loads(index, launch); };
  noc_ = std::make_unique<Interconnect>(
      "noc", machine_.noc,
      SliceOfAddress(machine_.dram, memory_line_bytes(machine_), memory_slices(machine_) / machine_.dram.channels,
                     machine_.l2.slice_hash),
      machine_.gpu.cores, clock_, noc_edges(machine_), machine_.l1d.sector_bytes,
      machine_.l2.enabled && machine_.l2.partitions > 1 ? &machine_.l2 : nullptr, machine_.constant_cache.bytes != 0);
  if (home_table_of(machine_.gpu.coherence)) {
    probes_ = std::make_unique<Interconnect>("probes", machine_.noc, memory_slices(machine_), machine_.gpu.cores,
                                             clock_, noc_edges(machine_));
  }
  const auto join = [&](TapPlace::Link link, unsigned index, auto& from, auto& to) {
    taps_.push_back(connect(make_tap, {link, index}, clock_, from, to));
  };
  for (unsigned i = 0; i < machine_.gpu.cores; ++i) {
    join(TapPlace::Link::data, i, cores_[i]->data, noc_->data[i]);
    join(TapPlace::Link::instruction, i, cores_[i]->instruction, noc_->instruction[i]);
    join(TapPlace::Link::texture, i, cores_[i]->texture, noc_->texture[i]);
    if (cores_[i]->constants) {
      join(TapPlace::Link::constants, i, *cores_[i]->constants, noc_->constants[i]);
    }
    if (probes_) {
      join(TapPlace::Link::probes, i, probes_->channel[i], cores_[i]->probes);
    }
  }
  for (unsigned channel = 0; channel < machine_.dram.channels; ++channel) {
    make_channel(channel, make_tap);
  }
  let_cores_run_on();
}

void Gpu::spawn(const char* name, const sc_core::sc_event& event, std::function<void()> process) {
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.set_sensitivity(&event);
  options.dont_initialize();
  sc_core::sc_spawn(std::move(process), name, &options);
}

void Gpu::make_channel(unsigned channel, const MakeTap& make_tap) {
  const auto join = [&](TapPlace::Link link, auto& from, auto& to) {
    taps_.push_back(connect(make_tap, {link, channel}, clock_, from, to));
  };
  dram_.push_back(std::make_unique<DramController>(("dram" + std::to_string(channel)).c_str(), machine_.dram,
                                                   memory_line_bytes(machine_), clock_, memory_sector_bytes(machine_)));
  DramController& dram = *dram_.back();
  dram.storage_port().watch(machine_.watchdog.deadlock_cycles,
                            [this, channel](const auto& transfer) { memory_overdue(channel, transfer); });
  join(TapPlace::Link::memory, dram.storage, memory[channel]);
  if (!machine_.l2.enabled) {
    join(TapPlace::Link::channel, noc_->channel[channel], dram.target);
    return;
  }
  if (machine_.l2.slices == 1) {
    join(TapPlace::Link::channel, make_slice(channel, make_tap).memory(), dram.target);
    return;
  }
  // Several slices take turns at their channel.
  ways_.push_back(std::make_unique<Interconnect>(("channel" + std::to_string(channel)).c_str(), kWayToChannel,
                                                 SliceOfAddress(kOneChannel, memory_line_bytes(machine_)),
                                                 machine_.l2.slices, clock_));
  Interconnect& way = *ways_.back();
  for (unsigned slice = 0; slice < machine_.l2.slices; ++slice) {
    make_slice(channel * machine_.l2.slices + slice, make_tap).memory().bind(way.data[slice]);
  }
  join(TapPlace::Link::channel, way.channel[0], dram.target);
}

L2Slice& Gpu::make_slice(unsigned index, const MakeTap& make_tap) {
  const auto join = [&](TapPlace::Link link, auto& from, auto& to) {
    taps_.push_back(connect(make_tap, {link, index}, clock_, from, to));
  };
  l2_.push_back(std::make_unique<L2Slice>(("l2_" + std::to_string(index)).c_str(), machine_, index, clock_));
  L2Slice& slice = *l2_.back();
  join(TapPlace::Link::l2, noc_->channel[index], slice.target);
  if (slice.home() != nullptr) {
    join(TapPlace::Link::home, slice.home()->probes, probes_->data[index]);
  }
  for (unsigned i = 0; i < slice.copies.size(); ++i) {
    slice.copies[i].bind(cores_[i]->copies);
  }
  dispatcher_->l2[index].bind(slice.flushes);
  slice.write_failed = [this](const Cache::FailedWrite& write) {
    clock_.at_cycle_end([this, address = write.address] { write_failed(address); });
  };
  return slice;
}

bool Gpu::tapped() const {
  return extended_ || std::any_of(taps_.begin(), taps_.end(), [](const auto& tap) { return tap != nullptr; });
}

// Taps see the cycles of all cores in their order.
void Gpu::let_cores_run_on() {
  if (tapped() || !CoreForesight::knows(machine_)) {
    return;
  }
  foresight_ = std::make_unique<CoreForesight>(
      machine_, CoreForesight::Modules{cores_, *dispatcher_, *noc_, probes_.get(), l2_, dram_, ways_});
  std::vector<link::ClockedModule*> runners;
  for (const auto& core : cores_) {
    runners.push_back(core.get());
  }
  calendar_.let_run_on(runners, *foresight_);
}

void Gpu::write_failed(std::uint64_t address) {
  isa::Fault fault =
      launch_fault(isa::Fault::Kind::bus_error,
                   fmt::format("the memory refused a write to the line at {:#x} from the L2, which comes after the "
                               "store that caused it: the thread given need not be the one",
                               address));
  fault.address = address;
  fault.size = machine_.l2.line_bytes;
  dispatcher_->raise(std::move(fault));
}

Gpu::~Gpu() = default;

bool Gpu::may_share(bool takes_concurrent_calls) {
  for (const auto& channel : dram_) {
    channel->stay(!takes_concurrent_calls || machine_.dram.blocking_calls != 0);
  }
  // Perfect caches call the memory in their turns.
  return !tapped() && (perfect_ == nullptr || takes_concurrent_calls);
}

void Gpu::share_among(unsigned threads, bool takes_concurrent_calls) {
  calendar_.share_among(may_share(takes_concurrent_calls) ? threads : 1);
}

void Gpu::try_threads(unsigned most, bool takes_concurrent_calls) {
  calendar_.try_threads(may_share(takes_concurrent_calls) ? most : 1);
}

void Gpu::memory_overdue(unsigned channel, const StoragePort::Unanswered& transfer) {
  std::string text = fmt::format(
      "what {} is bound to has not answered a {} of {} bytes at {:#x} since cycle {} ({}), for {} cycles "
      "(watchdog.deadlock_cycles)",
      memory[channel].name(), transfer.write ? "write" : "read", transfer.bytes, transfer.address, transfer.since,
      clock_.cycles(transfer.since).to_string(), machine_.watchdog.deadlock_cycles);
  SC_REPORT_WARNING("heddle/gpu", text.c_str());
  isa::Fault fault = launch_fault(isa::Fault::Kind::deadlock, std::move(text));
  fault.address = transfer.address;
  fault.size = transfer.bytes;
  stop(std::move(fault));
}

// A signal has one writing process, whoever starts and ends launches.
void Gpu::set_interrupt(bool level) {
  interrupt_level_ = level;
  interrupt_changed_.notify(clock_.ahead());
}

void Gpu::drive_interrupt() {
  if (interrupt.size() != 0) {
    interrupt->write(interrupt_level_);
  }
}

bool Gpu::quiet() const {
  return status() != LaunchStatus::running &&
         std::all_of(cores_.begin(), cores_.end(), [](const auto& core) { return core->quiet(); }) &&
         std::all_of(l2_.begin(), l2_.end(), [](const auto& slice) { return slice->quiet(); });
}

std::uint64_t Gpu::warp_instructions() const {
  std::uint64_t sum = 0;
  for (const auto& core : cores_) {
    sum += core->warp_instructions();
  }
  return sum;
}

link::Cycle Gpu::last_retirement() const {
  link::Cycle latest = 0;
  for (const auto& core : cores_) {
    latest = std::max(latest, core->last_retirement());
  }
  return latest;
}

void Gpu::keep_stray_loads(unsigned core, const Launch& launch) {
  std::vector<CoreState::StrayLoads> own = cores_[core]->take_stray_loads();
  if (!own.empty()) {
    std::vector<CoreState::StrayLoads>& all = strays_[launch.id];
    all.insert(all.end(), own.begin(), own.end());
  }
}

std::vector<isa::StrayLoads> Gpu::take_stray_loads(std::uint64_t launch) {
  for (unsigned i = 0; i < cores_.size(); ++i) {
    if (const Launch* const of = cores_[i]->state().launch; of != nullptr && of->id == launch) {
      keep_stray_loads(i, *of);
    }
  }
  std::vector<CoreState::StrayLoads> all = std::move(strays_[launch]);
  strays_.erase(launch);
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.cycle < b.cycle; });
  std::vector<isa::StrayLoads> out;
  for (const CoreState::StrayLoads& one : all) {
    isa::add(out, {one.first, {}, one.count});
  }
  return out;
}

std::optional<isa::Fault> Gpu::shared_between_cores(const Launch& launch) const {
  const auto shared = LaunchBytes::shared_byte(
      machine_.gpu.cores, [this](unsigned core) -> const LaunchBytes& { return *cores_[core]->state().launch_bytes; });
  if (!shared) {
    return std::nullopt;
  }
  constexpr std::array kWords = {"loads", "stores", "updates by an atomic"};
  isa::Fault fault;
  fault.kind = isa::Fault::Kind::shared_bytes;
  fault.launch = launch.id;
  fault.address = shared->address;
  fault.size = 1;
  fault.detail = fmt::format(
      "core {} {} it and core {} {} it in one launch; with gpu.coherence = \"{}\" cores see each other's stores when "
      "the launch has ended: use l1d.write_policy = \"write-through\"",
      shared->writer, kWords[static_cast<std::size_t>(shared->write)], shared->other,
      kWords[static_cast<std::size_t>(shared->access)], machine_.gpu.coherence);
  return fault;
}

std::string Gpu::describe_waiting() const {
  std::string text;
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    const std::string of_core = cores_[i]->describe_waiting();
    if (!of_core.empty()) {
      text += (text.empty() ? "" : "; ") + (cores_.size() > 1 ? "core " + std::to_string(i) + ": " : "") + of_core;
    }
  }
  if (const std::string waiting = global_ ? global_->describe_waiting() : ""; !waiting.empty()) {
    text += (text.empty() ? "" : "; ") + ("global scheduler: " + waiting);
  }
  return text;
}

bool Gpu::livelocked() const {
  if (dispatcher_->releases_grid()) {
    return false;
  }
  bool any = false;
  for (const auto& core : cores_) {
    if (!core->busy()) {
      continue;
    }
    const WarpUnit::Progress progress = core->progress();
    if (progress == WarpUnit::Progress::some) {
      return false;
    }
    any = any || progress == WarpUnit::Progress::spins;
  }
  return any;
}

isa::Fault Gpu::launch_fault(isa::Fault::Kind kind, std::string detail) const {
  isa::Fault fault;
  fault.kind = kind;
  fault.launch = launches_.front().id;
  fault.detail = std::move(detail);
  for (const auto& core : cores_) {
    for (const SubCore* const sub_core : core->sub_cores()) {
      const CoreState& state = sub_core->state();
      const Group* const group = state.launch != nullptr ? sub_core->first_live_group() : nullptr;
      if (group == nullptr) {
        continue;  // nothing there, or what is left of an earlier launch
      }
      fault.launch = state.launch->id;
      fault.pc = group->pc;
      fault.block = state.block(group->block_slot).index;
      for (unsigned row = 0; row < group->rows(); ++row) {
        if (group->active[row] != 0) {
          const auto lane = static_cast<unsigned>(std::countr_zero(group->active[row]));
          fault.thread = state.thread_of(group->row_of(row, lane), group->home_of(lane));
          return fault;
        }
      }
    }
  }
  return fault;
}

std::optional<std::uint32_t> Gpu::register_of(const isa::Fault& fault, unsigned reg) const {
  for (const SubCore* const sub_core : sub_cores_) {
    const CoreState& state = sub_core->state();
    if (state.launch == nullptr || state.launch->id != fault.launch || reg >= state.launch->registers) {
      continue;
    }
    for (unsigned row = 0; row < state.rows.size(); ++row) {
      for (const unsigned lane : set_bits(state.rows[row].present())) {
        const HomeThread thread = state.thread_at(row, lane);
        if (thread.home->block->index == fault.block && thread.index() == fault.thread) {
          return sub_core->registers().banks()[lane]->column().word(row, reg);
        }
      }
    }
  }
  return std::nullopt;
}

template <class Visitor>
void Gpu::each_unit(Visitor&& visit) {
  visit(dispatcher_->name(), dispatcher_->statistics(), &Totals::dispatcher);
  if (global_) {
    visit(global_->name(), global_->statistics(), &Totals::global_scheduler);
  }
  for (const auto& core : cores_) {
    for (SubCore* const sub_core : core->sub_cores()) {
      visit(sub_core->name(), sub_core->state().statistics, &Totals::core);
    }
    if (about<Divergence>(machine_.core.divergence).traits.independent_threads) {
      for (SubCore* const sub_core : core->sub_cores()) {
        visit((std::string(sub_core->name()) + ".convergence").c_str(), sub_core->state().statistics.convergence,
              &Totals::convergence);
      }
    }
    for (SubCore* const sub_core : core->sub_cores()) {
      if (sub_core->l0() != nullptr) {
        visit(sub_core->l0()->name(), sub_core->l0()->statistics(), &Totals::l0i);
      }
      if (sub_core->l0_constants() != nullptr) {
        visit(sub_core->l0_constants()->name(), sub_core->l0_constants()->statistics(), &Totals::l0c);
      }
    }
    visit(core->icache().name(), core->icache().statistics(), &Totals::icache);
    visit(core->l1d().name(), core->l1d().statistics(), &Totals::l1d);
    if (core->l1d().has_sectors()) {
      visit((std::string(core->l1d().name()) + ".sectors").c_str(), core->l1d().sector_statistics(),
            &Totals::l1d_sectors);
    }
    visit(core->texture_cache().name(), core->texture_cache().statistics(), &Totals::texture);
    if (core->constant_cache() != nullptr) {
      visit(core->constant_cache()->name(), core->constant_cache()->statistics(), &Totals::constant_cache);
    }
    if (probes_) {
      visit((std::string(core->l1d().name()) + ".coherence").c_str(), core->l1d().coherence_statistics(),
            &Totals::coherence);
    }
    visit(core->scratchpad().name(), core->scratchpad().statistics, &Totals::scratchpad);
    if (core->private_memory() != nullptr) {
      visit(core->private_memory()->name(), core->private_memory()->statistics, &Totals::private_memory);
    }
    if (core->bulk_copies() != nullptr) {
      visit(core->bulk_copies()->name(), core->bulk_copies()->statistics(), &Totals::bulk_copies);
    }
    for (SubCore* const sub_core : core->sub_cores()) {
      for (const auto& bank : sub_core->registers().banks()) {
        visit(bank->name(), *bank, &Totals::registers);
      }
    }
  }
  visit(noc_->name(), noc_->statistics(), &Totals::noc);
  if (noc_->partitions() != nullptr) {
    visit((std::string(noc_->name()) + ".partitions").c_str(), noc_->partitions()->statistics(), &Totals::partitions);
  }
  if (probes_) {
    visit(probes_->name(), probes_->statistics(), &Totals::probes);
  }
  for (const auto& slice : l2_) {
    visit(slice->name(), slice->statistics(), &Totals::l2_slice);
    visit(slice->store().name(), slice->store().statistics(), &Totals::l2);
    if (slice->store().has_sectors()) {
      visit((std::string(slice->store().name()) + ".sectors").c_str(), slice->store().sector_statistics(),
            &Totals::l2_sectors);
    }
    if (slice->home() != nullptr) {
      visit(slice->home()->name(), slice->home()->statistics(), &Totals::home);
    }
  }
  for (const auto& channel : dram_) {
    visit(channel->name(), channel->statistics(), &Totals::dram);
  }
}

void Gpu::collect(StatisticsRegistry& registry) {
  each_unit([&](const char* name, auto& statistics, auto) { registry.add(name, statistics); });
}

std::vector<CountedUnit> Gpu::units() {
  std::vector<CountedUnit> units;
  each_unit([&]<class Kind>(const char* module, auto&, Kind kind) {
    Totals::each_kind([&]<class Member>(const char* name, Member member) {
      if constexpr (std::is_same_v<Kind, Member>) {
        if (kind == member) {
          units.push_back({module, name});
        }
      }
    });
  });
  return units;
}

void Gpu::settle() {
  for (const auto& core : cores_) {
    core->settle(clock_.now());
  }
  for (const SubCore* const sub_core : sub_cores_) {
    // Asked for one bank's counts, the register file brings those of all up (hw/registers/bank_counters.hpp).
    const auto read = [](const auto&...) {};
    sub_core->registers().banks().front()->describe(read);
  }
}

Totals Gpu::totals() {
  Totals totals;
  totals.cycles = cycles();
  totals.sub_cores = sub_cores_.size();
  totals.channels = machine_.dram.channels;
  settle();
  CounterSums sums;
  each_unit([&](const char*, auto& statistics, auto kind) { sums.add(totals.*kind, statistics); });
  return totals;
}

}  // namespace heddle::hw
