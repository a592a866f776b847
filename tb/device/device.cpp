// Long: one class; what a launch is and how its warps are sized have files of their own.
#include "tb/device/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <span>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "hw/gpu/dispatcher.hpp"
#include "hw/scalar/scalarisation.hpp"
#include "isa/device_heap.hpp"
#include "isa/launch_check.hpp"
#include "isa/launch_image.hpp"
#include "isa/memory_map.hpp"
#include "isa/trap.hpp"
#include "ptx/control_bits.hpp"
#include "ptx/last_access.hpp"
#include "ptx/subdivision.hpp"
#include "ptx/uniformity.hpp"
#include "ptx/yields.hpp"
#include "tb/device/device_state.hpp"
#include "tb/device/launch_warps.hpp"
#include "tb/device/placement.hpp"
#include "traces/memory_trace.hpp"

namespace heddle::tb {

namespace {

hw::MakeTap tap_maker(const DeviceOptions& options) {
  if (options.memory_trace == nullptr) {
    return options.make_tap;
  }
  return [out = options.memory_trace, other = options.make_tap](const hw::TapPlace& place,
                                                                link::Clock clock) -> std::unique_ptr<link::Tap> {
    if (place.link == hw::TapPlace::Link::channel) {
      return std::make_unique<traces::MemoryTrace>(fmt::format("trace{}", place.index).c_str(), clock, *out);
    }
    return other ? other(place, clock) : nullptr;
  };
}

}  // namespace

Device::State::State(const hw::Machine& machine, DeviceOptions options)
    : options(std::move(options)),
      gpu("gpu", machine, this->options.replay == nullptr ? &memory : nullptr, tap_maker(this->options),
          this->options.extension),
      target("memory", memory, machine.dram.channels),
      host("host") {
  control_tap =
      hw::connect(this->options.make_tap, {hw::TapPlace::Link::control, 0}, gpu.clock(), host.socket, gpu.control);
  for (unsigned channel = 0; channel < machine.dram.channels; ++channel) {
    gpu.memory[channel].bind(target.channel[channel]);
  }
  memory.set_placement(placement_of(machine.allocation));
  gpu.on_end([] { sc_core::sc_pause(); });
  gpu.collect(statistics);
  if (this->options.sampler != nullptr) {
    this->options.sampler->attached(machine, statistics, gpu.units());
  }
  if (this->options.shuffle != 0) {
    gpu.calendar().shuffle(this->options.shuffle);
  }
  watch();
  gpu.replay(this->options.replay);
  share();
}

void Device::State::share() {
  const bool apart =
      std::all_of(options.observers.begin(), options.observers.end(),
                  [this](const RunObserver* observer) { return observer->watches_apart(gpu.machine()); });
  if (options.try_threads && apart) {
    gpu.try_threads(options.threads, true);
  } else {
    gpu.share_among(apart ? options.threads : 1, true);
  }
  if (options.host_time) {
    gpu.calendar().time_trials_by(options.host_time);
  }
  if (options.share_every_cycle) {
    gpu.calendar().share_every_cycle();
  }
}

void Device::State::watch() {
  if (options.observers.empty()) {
    return;
  }
  for (RunObserver* const observer : options.observers) {
    observer->attached(gpu);
    watching.push_back(observer);
    if (observer->watches_cores() && observer->watches_cores_from() > gpu.clock().now()) {
      joining.emplace(observer->watches_cores_from(), observer);
    }
  }
  gather_observers();
  gpu.observe(observers.get());
  dram_observers.resize(gpu.machine().dram.channels);
  for (unsigned channel = 0; channel < dram_observers.size(); ++channel) {
    for (RunObserver* const observer : options.observers) {
      if (hw::DramObserver* const of_channel = observer->dram(channel)) {
        dram_observers[channel].add(*of_channel);
      }
    }
    gpu.dram(channel).observe(dram_observers[channel].get());
  }
}

void Device::State::gather_observers() {
  observers = hw::CoreObservers();
  for (RunObserver* const observer : watching) {
    const bool joins =
        std::any_of(joining.begin(), joining.end(), [&](auto& later) { return later.second == observer; });
    if (observer->watches_cores() && !joins) {
      observers.add(observer->cores());
    }
  }
}

void Device::State::watch_more(link::Cycle now) {
  while (!joining.empty() && joining.begin()->first <= now) {
    RunObserver& joined = *joining.begin()->second;
    joining.erase(joining.begin());
    const hw::CoreObservers before = std::move(observers);  // whom the cores tell until the others are attached
    gather_observers();
    gpu.observe(*observers.get(), joined.cores());
  }
}

void Device::State::watch_less() {
  const bool any = std::any_of(watching.begin(), watching.end(), [](RunObserver* one) { return one->over(); });
  if (!any) {
    return;
  }
  std::erase_if(watching, [](RunObserver* one) { return one->over(); });
  gather_observers();
  gpu.observe(observers.get());
  for (unsigned channel = 0; channel < dram_observers.size() && watching.empty(); ++channel) {
    gpu.dram(channel).observe(nullptr);
  }
}

std::optional<double> DeviceOptions::Progress::share() const {
  if (!plan || plan->blocks == 0) {
    return std::nullopt;
  }
  const double done = plan->thread_instructions != 0
                          ? static_cast<double>(thread_instructions) / static_cast<double>(plan->thread_instructions)
                          : static_cast<double>(all_blocks_finished) / static_cast<double>(plan->blocks);
  return std::min(done, 1.0);
}

namespace {

// Records say what threads did, not which values they had.
const DeviceOptions& without_scalars(const hw::Machine& machine, const DeviceOptions& options) {
  if (options.replay != nullptr && hw::about<hw::Scalarisation>(machine.core.scalar).traits.finds) {
    throw InputError({},
                     fmt::format("'{}' has core.scalar = \"{}\", and recorded threads have no operands to compare",
                                 machine.name, machine.core.scalar),
                     "replay with core.scalar = \"none\", or run the program itself");
  }
  return options;
}

}  // namespace

Device::Device(const hw::Machine& machine, DeviceOptions options)
    : state_(std::make_unique<State>(machine, DeviceOptions(without_scalars(machine, options)))) {}
Device::~Device() = default;

isa::DeviceMemory& Device::memory() {
  return state_->memory;
}
const isa::Module& Device::module() const {
  return state_->module;
}
const isa::RetirementHash& Device::retirement() const {
  return state_->hash;
}
const hw::Machine& Device::machine() const {
  return state_->gpu.machine();
}
void Device::plan(const Plan& plan) {
  state_->plan = plan;
}
void Device::show(const Picture& picture) {
  for (RunObserver* const observer : state_->options.observers) {
    observer->shown(picture);
  }
}
const isa::Fault* Device::fault() const {
  return state_->fault ? &*state_->fault : nullptr;
}
link::Cycle Device::now() const {
  return state_->gpu.clock().now();
}
hw::Totals Device::totals() const {
  return state_->gpu.totals();
}
const WarpSizes& Device::warp_sizes() const {
  return state_->warp_sizes;
}
const std::vector<isa::StrayLoads>& Device::stray_loads() const {
  return state_->stray_loads;
}
unsigned Device::threads() const {
  return state_->gpu.calendar().threads();
}
std::uint64_t Device::cycles_shared() const {
  return state_->gpu.calendar().cycles_shared();
}
std::vector<hw::CountedUnit> Device::units() const {
  return state_->gpu.units();
}
const LaunchSelection& Device::selection() const {
  return state_->selection;
}
const StatisticsRegistry& Device::statistics() const {
  return state_->statistics;
}

void Device::load(isa::Module module) {
  state_->module = std::move(module);
  if (hw::about<hw::Scalarisation>(machine().core.scalar).traits.needs_marks) {
    ptx::mark_uniform(state_->module);
  }
  const hw::CoreParameters& core = machine().core;
  if (const auto short_block = hw::about<hw::Divergence>(core.divergence).traits.short_block) {
    const auto loop_branches = hw::about<hw::Divergence>(core.divergence).traits.loop_branches;
    ptx::mark_subdivision(state_->module, short_block(core), loop_branches == nullptr || loop_branches(core));
  }
  if (hw::schedules_threads(core)) {
    ptx::mark_yields(state_->module);
  }
  if (hw::moves_after_last_access(core)) {
    ptx::mark_past_scratchpad(state_->module);
  }
  if (const auto time = hw::about<hw::IssueDiscipline>(core.issue).traits.result_time) {
    ptx::write_control_bits(state_->module, [&](const isa::Instruction& in) { return time(core, in); });
  }
  state_->selection.check(state_->module);
  isa::load_module(state_->module, state_->memory, machine().icache.instruction_bytes);
  ++state_->loads;
  state_->heap_kernels.clear();
  for (const isa::Kernel& kernel : state_->module.kernels) {
    state_->heap_kernels.push_back(isa::uses_heap(kernel));
  }
  for (RunObserver* const observer : state_->options.observers) {
    observer->loaded(state_->module);
  }
}

void Device::set_constants(std::uint64_t offset, std::span<const std::byte> bytes) {
  replace_constants(state_->module, offset, bytes);
}

void Device::check(const isa::LaunchRequest& request) const {
  const isa::Module& module = state_->module;
  check_launch(module, request);
  const isa::Kernel& kernel = isa::kernel_of(module, request);
  const hw::Launch launch = state_->shape_of(request, kernel);
  if (const hw::Residency room = hw::residency(machine(), launch); room.blocks == 0) {
    throw InputError(
        {}, fmt::format("kernel '{}' cannot be launched on '{}': {}", kernel.name, machine().name, room.reason),
        "use a smaller block, or a machine with more of it");
  }
  if (request.cooperative) {
    std::string reason = hw::why_no_cooperation(machine());
    std::string hint = "run it on another machine";
    if (reason.empty()) {
      reason = hw::why_not_resident(machine(), launch);
      hint = "launch fewer blocks, or smaller ones";
    }
    if (!reason.empty()) {
      throw InputError(
          {},
          fmt::format("kernel '{}' cannot be launched cooperatively on '{}': {}", kernel.name, machine().name, reason),
          hint);
    }
  }
}

hw::Launch Device::shape_of(const isa::LaunchRequest& request) const {
  return state_->shape_of(request, isa::kernel_of(state_->module, request));
}

bool Device::uses_heap(const isa::LaunchRequest& request) const {
  return state_->calls_heap(isa::kernel_of(state_->module, request));
}

unsigned Device::launches_at_once() const {
  const DeviceOptions& options = state_->options;
  return options.replay != nullptr || options.fast_forward.any() ? 1 : hw::kernels_at_once(machine());
}

bool Device::running() const {
  return !state_->running.empty();
}

bool Device::can_begin() const {
  return !running() || (state_->running.size() < launches_at_once() && state_->gpu.may_join() &&
                        state_->next_bank < isa::kBankBacking + isa::kBankBackingBytes);
}

void Device::launch(const isa::LaunchRequest& request) {
  State& state = *state_;
  const isa::Kernel& kernel = state.prepare(request);
  if (!state.selection.simulates(kernel.name)) {
    state.interpret(request, launch_warp_size(state.module, kernel, machine().core));
    return;
  }
  if (state.selection.what().blocks > 1 && state.launch_some(request, kernel)) {
    return;
  }
  state.begin(request, kernel);
  while (running()) {
    proceed(link::kNever);
  }
}

std::uint64_t Device::begin(const isa::LaunchRequest& request) {
  return state_->begin(request, state_->prepare(request));
}

std::vector<Device::Ended> Device::proceed(link::Cycle until) {
  return state_->proceed(until);
}

std::vector<Device::Ended> Device::State::proceed(link::Cycle until) {
  try {
    simulate(until);
  } catch (...) {
    give_up();
    throw;
  }
  std::vector<Ended> ended;
  std::list<Running> faulted;
  for (const hw::Gpu::Ended& one : gpu.take_ended()) {
    std::list<Running> over = end(one);
    if (one.complete && !over.front().heap_fault) {
      ended.push_back({one.launch, one.begin, one.end, one.warp_instructions, one.thread_instructions});
    } else {
      faulted.splice(faulted.end(), over);
    }
  }
  if (!faulted.empty()) {
    const std::optional<isa::Fault>& of_heap = faulted.front().heap_fault;
    isa::Fault why = of_heap ? *of_heap : *gpu.fault();
    give_up();  // what runs beside it
    const auto found =
        std::find_if(faulted.begin(), faulted.end(), [&](const auto& launch) { return launch.id == why.launch; });
    const Running& launch = found != faulted.end() ? *found : faulted.front();
    why.kernel = launch.kernel.name;
    if (why.kind == isa::Fault::Kind::trap) {
      why.detail = isa::describe_trap(launch.kernel, why.pc, [&](unsigned reg) { return gpu.register_of(why, reg); });
    }
    launch.prints.explain(why);
    fault = why;
    throw SimulatedFault(isa::describe(why, module));
  }
  return ended;
}

// What can be said of a launch before it runs.
const isa::Kernel& Device::State::prepare(const isa::LaunchRequest& request) {
  fault.reset();
  const isa::Kernel& kernel = isa::kernel_of(module, request);
  isa::check_request(kernel, request);
  if (module.constant_bank.size() > hw::kConstantWindowBytes) {
    throw InputError({},
                     fmt::format("the module's constants take {} bytes, the constant bank has {}",
                                 module.constant_bank.size(), hw::kConstantWindowBytes),
                     "move the larger ones to .global");
  }
  if (std::optional<isa::Fault> impossible = isa::check_resources(kernel, request)) {
    impossible->kernel = kernel.name;
    throw SimulatedFault(isa::describe(*impossible, module));
  }
  if (calls_heap(kernel) && memory.heap().in_launch()) {
    throw InputError({},
                     fmt::format("kernel '{}' allocates on the device heap, as one does that is running: such launches "
                                 "follow each other",
                                 kernel.name),
                     "begin it when that has ended");
  }
  if (running.empty()) {
    if (!gpu.quiet()) {
      throw InputError({},
                       fmt::format("kernel '{}' cannot be launched: an earlier launch was stopped before the memory "
                                   "had answered it",
                                   kernel.name),
                       "start a new process");
    }
    next_bank = isa::kBankBacking;
    watch_less();
    // The host may have released buffers since the last launch, and their pages with them.
    target.invalidate_direct_memory();
  }
  return kernel;
}

std::uint64_t Device::State::begin(const isa::LaunchRequest& request, const isa::Kernel& kernel) {
  const unsigned warp_size = launch_warp_size(module, kernel, gpu.machine().core);
  if (warp_size != gpu.machine().core.warp_size) {
    warp_sizes[kernel.name] = warp_size;
  }
  const bool wants_workspace = request.cooperative && kernel.reads_grid_workspace && request.grid_workspace == 0;
  if (wants_workspace && free_workspaces.empty()) {
    free_workspaces.push_back(memory.allocate("grid workspace", isa::kGridWorkspaceBytes));
  }
  Running& launch = running.emplace_back(gpu.next_launch(), request, kernel, warp_size, gpu.clock().now());
  if (wants_workspace) {
    launch.request.grid_workspace = launch.workspace = free_workspaces.back();
    free_workspaces.pop_back();
  }
  launch.hashes.resize(request.grid.count() * request.block.count());
  hashes.emplace(launch.id, std::nullopt);
  launch.prints.begin_launch(launch.request);
  launch.uses_heap = calls_heap(kernel) && options.replay == nullptr;
  if (launch.uses_heap) {
    memory.heap().begin_launch(launch.request);
  }
  gpu.set_heap(launch.uses_heap ? &memory.heap() : nullptr);
  // A replay has no values to take hashes of.
  gpu.set_hashes(options.replay == nullptr ? launch.hashes.data() : nullptr);
  gpu.set_prints(&launch.prints);
  gpu.set_code(kernel.words);
  try {
    for (RunObserver* const observer : options.observers) {
      observer->launching(info_of(launch));
    }
  } catch (const InputError&) {  // who watches cannot take it
    hashes.erase(launch.id);
    end_heap(launch, false);
    running.pop_back();
    throw;
  }
  if (options.sampler != nullptr) {
    gpu.settle();
    options.sampler->launching(launch.id, kernel.name, cycles());
  }
  // Summing up every module's counters takes longer than a short launch: only for who estimates by them.
  if (options.fast_forward.any()) {
    launch.before = gpu.totals();
  }
  write_launch(launch.request, kernel, static_cast<std::size_t>(&kernel - module.kernels.data()), warp_size);
  return launch.id;
}

// Takes a launch that has ended out of the launches that run, as a list of one.
std::list<Device::State::Running> Device::State::end(const hw::Gpu::Ended& ended) {
  const auto found =
      std::find_if(running.begin(), running.end(), [&](const Running& launch) { return launch.id == ended.launch; });
  std::list<Running> over;
  over.splice(over.end(), running, found);
  Running& launch = over.front();
  ++launches_ended;
  if (launch.workspace != 0 && ended.complete) {  // a stop leaves it in the middle of a barrier
    free_workspaces.push_back(launch.workspace);
  }
  blocks_of_ended += launch.request.grid.count();
  if (launch.some) {  // the rest is known from the interpreter
    tell_end(launch, ended.complete);
    some_hashes = std::move(launch.hashes);
    hashes.erase(launch.id);
    return over;
  }
  if (launch.before) {
    const hw::Totals after = gpu.totals();
    selection.simulated(launch.kernel.name, after.cycles - launch.before->cycles,
                        after.core.thread_instructions - launch.before->core.thread_instructions);
  }
  add_stray_loads(launch, ended.stray_loads);
  end_heap(launch, ended.complete);
  tell_end(launch, ended.complete && !launch.heap_fault);
  // Launches chain in the order in which they began.
  hashes.at(launch.id) = std::move(launch.hashes);
  while (!hashes.empty() && hashes.begin()->second) {
    hash.add_launch(std::move(*hashes.begin()->second));
    hashes.erase(hashes.begin());
  }
  return over;
}

void Device::State::end_heap(Running& launch, bool complete) {
  if (launch.uses_heap && complete) {
    launch.heap_fault = memory.heap().end_launch();
    if (launch.heap_fault) {
      launch.heap_fault->launch = launch.id;
    }
  } else if (launch.uses_heap) {
    memory.heap().abandon_launch();
  }
}

// What runs stops in the middle. Observers hear of the cycles that cores rest in before they hear of the end.
void Device::State::give_up() {
  gpu.settle();
  for (Running& launch : running) {
    end_heap(launch, false);
    add_stray_loads(launch, gpu.take_stray_loads(launch.id));
    tell_end(launch, false);
  }
  running.clear();
}

void Device::State::tell_end(const Running& launch, bool complete) {
  if (const std::string text = launch.prints.text(); options.print && !launch.some && !text.empty()) {
    options.print(text);
  }
  if (options.sampler != nullptr) {
    gpu.settle();
    options.sampler->launched(launch.id, cycles());
  }
  for (RunObserver* const observer : options.observers) {
    observer->launched(info_of(launch), complete);
  }
}

void Device::State::add_stray_loads(const Running& launch, std::vector<isa::StrayLoads> loads) {
  for (isa::StrayLoads& one : loads) {
    one.first.kernel = launch.kernel.name;
    one.source = isa::describe_pc(module, launch.kernel, one.first.pc);
    isa::add(stray_loads, one);
  }
}

// Copies of the launch's parameters and of the constants into memory, where nothing was since a launch last began
// alone: no L2 has used an old line of it since.
void Device::State::place_banks(std::span<const std::uint8_t> parameters) {
  const isa::BankPlaces places = isa::place_banks(next_bank, parameters.size(), module.constant_bank.size());
  next_bank = places.end;
  memory.write(places.parameters, std::as_bytes(parameters));
  memory.write(places.constants, std::as_bytes(std::span(module.constant_bank)));
  host.write(hw::RegisterOffset::parameter_base, places.parameters);
  host.write(hw::RegisterOffset::constant_base, places.constants);
}

void Device::State::write_launch(const isa::LaunchRequest& request, const isa::Kernel& kernel, std::size_t index,
                                 unsigned warp_size) {
  using Offset = hw::RegisterOffset;
  host.write(Offset::code_address, isa::code_address(module, index, gpu.machine().icache.instruction_bytes));
  host.write(Offset::code_words, kernel.words.size());
  host.write(Offset::code_version, loads);
  host.write(Offset::grid_x, request.grid.x);
  host.write(Offset::grid_y, request.grid.y);
  host.write(Offset::grid_z, request.grid.z);
  host.write(Offset::block_x, request.block.x);
  host.write(Offset::block_y, request.block.y);
  host.write(Offset::block_z, request.block.z);
  host.write(Offset::registers, std::max(kernel.registers, 1U));
  host.write(Offset::shared_bytes, isa::total_shared_bytes(kernel, request));
  host.write(Offset::dynamic_shared, request.dynamic_shared);
  host.write(Offset::carve_out, static_cast<std::uint64_t>(request.carve_out + 1));
  host.write(Offset::local_bytes, kernel.local_bytes);
  host.write(Offset::local_base, isa::kLocalBacking);
  host.write(Offset::warp_size, warp_size);
  host.write(Offset::cooperative, request.cooperative ? 1 : 0);
  host.write(Offset::grid_workspace, request.grid_workspace);
  if (gpu.machine().constant_cache.bytes != 0) {
    place_banks(request.parameters);
  }
  host.write(Offset::parameter_bytes, request.parameters.size());
  host.write(Offset::constant_bytes, module.constant_bank.size());
  host.write(hw::kParameterWindow, request.parameters);
  host.write(hw::kConstantWindow, module.constant_bank);
  host.write(Offset::control, 1);
}

}  // namespace heddle::tb
