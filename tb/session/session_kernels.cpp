// A program's kernels and variables: tb/session/session.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/error.hpp"
#include "hw/gpu/dispatcher.hpp"
#include "isa/device_heap.hpp"
#include "isa/launch_check.hpp"
#include "isa/memory_map.hpp"
#include "isa/trap.hpp"
#include "tb/device/launch_limits.hpp"
#include "tb/session/refusal.hpp"
#include "tb/session/session.hpp"

namespace heddle::tb::session {
namespace {

constexpr std::size_t kMostPutOff = 1000;  // kernels, events

// Adds what passes while it lives, on every way out.
class Stopwatch {
 public:
  explicit Stopwatch(SimulationTime& sum) : sum_(sum) {}
  ~Stopwatch() {
    sum_.wall_seconds += seconds(CLOCK_MONOTONIC) - wall_;
    sum_.cpu_seconds += seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_;
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  static double seconds(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  }
  SimulationTime& sum_;
  double wall_ = seconds(CLOCK_MONOTONIC);
  double cpu_ = seconds(CLOCK_PROCESS_CPUTIME_ID);
};

std::uint32_t low(std::uint64_t pair) {
  return static_cast<std::uint32_t>(pair);
}
std::uint32_t high(std::uint64_t pair) {
  return static_cast<std::uint32_t>(pair >> 32U);
}

}  // namespace

std::string Session::named(std::uint64_t unit) const {
  std::string name = text_of(bytes_);
  if (unit < changed_names_.size()) {
    const auto found = changed_names_[unit].find(name);
    if (found != changed_names_[unit].end()) return found->second;
  }
  return name;
}

const isa::Kernel& Session::kernel(std::uint64_t id) const {
  return device_->module().kernels.at(id);
}

const isa::Kernel* Session::roomier(std::uint64_t id) const {
  const std::vector<isa::Kernel>& kernels = device_->module().kernels;
  return id + 1 < kernels.size() && kernels[id + 1].more_registers ? &kernels[id + 1] : nullptr;
}

void Session::take_roomier(std::uint64_t id, isa::LaunchRequest& request) const {
  if (roomier(id) == nullptr) return;
  request.more_registers = true;
  request.more_registers = hw::residency(machine_, device_->shape_of(request)).blocks != 0;
}

// Registers, local memory and the largest block of the kernel are those of the code with more registers, which blocks
// up to that size run; larger ones run all the same.
void Session::function() {
  const std::string name = named(question_.words[0]);
  const std::vector<isa::Kernel>& kernels = device_->module().kernels;
  const auto found =
      std::find_if(kernels.begin(), kernels.end(), [&](const auto& kernel) { return kernel.name == name; });
  if (found == kernels.end()) {
    for (const ptx::RefusedKernel& refused : refused_) {
      if (refused.name == name) throw Refusal{cudaErrorInvalidPtx, refused.reason.what()};
    }
    throw Refusal{cudaErrorInvalidDeviceFunction, fmt::format("the device code has no kernel '{}'", name)};
  }
  std::uint64_t most = std::min(found->max_threads.value_or(~0U), most_block(machine_.core.threads).x);
  const auto id = static_cast<std::uint64_t>(found - kernels.begin());
  const isa::Kernel* const version = roomier(id);
  if (version != nullptr) {
    isa::LaunchRequest request;
    request.kernel = version->name;
    request.more_registers = true;
    request.block = {static_cast<std::uint32_t>(most), 1, 1};
    while (request.block.x > isa::kLanes && hw::residency(machine_, device_->shape_of(request)).blocks == 0) {
      request.block.x -= isa::kLanes;
    }
    most = request.block.x;
  }
  const isa::Kernel& code = version != nullptr ? *version : *found;
  const std::uint64_t facts[] = {id,   code.registers,        found->shared_bytes, code.local_bytes,
                                 most, found->parameter_bytes};
  std::copy(std::begin(facts), std::end(facts), answer_.words);
  for (const isa::Parameter& parameter : found->parameters) {
    const std::uint32_t pair[] = {parameter.offset, parameter.size};
    const auto bytes = std::as_bytes(std::span(pair));
    answer_bytes_.insert(answer_bytes_.end(), bytes.begin(), bytes.end());
  }
}

void Session::symbol() {
  const std::string name = named(question_.words[0]);
  for (const isa::Variable& variable : device_->module().variables) {
    if (variable.name != name) continue;
    answer_.words[0] = variable.address + (variable.space == isa::Space::constant ? isa::kConstantWindow : 0);
    answer_.words[1] = variable.size;
    return;
  }
  throw Refusal{cudaErrorInvalidSymbol, fmt::format("the device code has no variable '{}'", name)};
}

namespace {

// What a program prefers, of which the library sends one more. -1: nothing.
int carve_out_of(std::uint64_t word) {
  return static_cast<int>(std::min<std::uint64_t>(word, 101)) - 1;
}

}  // namespace

void Session::launch() {
  const std::uint64_t* const words = question_.words;
  const isa::Kernel& kernel = this->kernel(words[0]);
  isa::LaunchRequest request;
  request.kernel = kernel.name;
  request.grid = {low(words[1]), high(words[1]), low(words[2])};
  request.block = {high(words[2]), low(words[3]), high(words[3])};
  request.dynamic_shared = static_cast<std::uint32_t>(words[4]);
  request.carve_out = carve_out_of(words[6]);
  const std::uint64_t stream = stream_of(words[5]);
  request.parameters.resize(bytes_.size());
  std::memcpy(request.parameters.data(), bytes_.data(), bytes_.size());
  request.cooperative = (question_.flags & cudart::kCooperative) != 0;
  require_shape(kernel, request);
  require_shared(kernel, request);
  take_roomier(words[0], request);
  if (request.cooperative) require_cooperation(kernel, request);
  try {
    device_->check(request);
  } catch (const InputError& error) {
    throw Refusal{cudaErrorLaunchOutOfResources, error.what()};
  }
  if ((question_.flags & cudart::kOnlyAsked) != 0) return;
  reply();
  launches_.push_back({kernel.name, request.grid, request.block, request.dynamic_shared, stream});
  if (stream != 0 && device_->launches_at_once() > 1) {
    const bool in_turn = device_->uses_heap(request);
    put_off_.emplace(launches_.size() - 1, std::move(request));
    work_.launch(stream, launches_.size() - 1, in_turn);
    if (work_.size() >= kMostPutOff) settle();
    return;
  }
  settle();
  run_alone(request, launches_.back());
}

void Session::require_shape(const isa::Kernel& kernel, const isa::LaunchRequest& request) const {
  const isa::Dim3 most = most_block(machine_.core.threads);
  const isa::Dim3& grid = request.grid;
  const isa::Dim3& block = request.block;
  if (within(grid, kMostGrid) && within(block, most) && block.count() <= most.x) return;
  throw Refusal{
      cudaErrorInvalidConfiguration,
      fmt::format("kernel '{}' with a grid of {} x {} x {} blocks of {} x {} x {} threads: each is at least 1, "
                  "a grid has {} x {} x {} blocks at most, a block {} x {} x {} threads and {} in all",
                  kernel.name, grid.x, grid.y, grid.z, block.x, block.y, block.z, kMostGrid.x, kMostGrid.y, kMostGrid.z,
                  most.x, most.y, most.z, most.x)};
}

// What the kernel itself has too much of is another matter.
void Session::require_shared(const isa::Kernel& kernel, const isa::LaunchRequest& request) const {
  const std::uint64_t asked = question_.words[4];
  const std::uint64_t room = machine_.scratchpad.bytes;
  if (asked == 0 || (asked <= room && isa::total_shared_bytes(kernel, request) <= room)) return;
  throw Refusal{
      request.cooperative ? cudaErrorCooperativeLaunchTooLarge : cudaErrorInvalidValue,
      fmt::format("kernel '{}' with {} bytes of dynamic shared memory and {} of its own: a core of the machine "
                  "has {}",
                  kernel.name, asked, kernel.shared_bytes, room)};
}

// What cooperative launches have error codes of their own for.
void Session::require_cooperation(const isa::Kernel& kernel, const isa::LaunchRequest& request) const {
  if (const std::string reason = hw::why_no_cooperation(machine_); !reason.empty()) {
    throw Refusal{cudaErrorNotSupported, fmt::format("cooperative launch of kernel '{}': {}", kernel.name, reason)};
  }
  const hw::Launch launch = device_->shape_of(request);
  if (hw::residency(machine_, launch).blocks == 0) return;  // another matter
  if (const std::string reason = hw::why_not_resident(machine_, launch); !reason.empty()) {
    throw Refusal{cudaErrorCooperativeLaunchTooLarge, fmt::format("kernel '{}': {}", kernel.name, reason)};
  }
}

void Session::run_alone(const isa::LaunchRequest& request, LaunchSummary& summary) {
  const hw::Totals before = device_->totals();
  const auto finish = [&] {
    const hw::Totals after = device_->totals();
    summary.cycles = after.cycles - before.cycles;
    summary.warp_instructions = after.core.warp_instructions - before.core.warp_instructions;
    summary.thread_instructions = after.core.thread_instructions - before.core.thread_instructions;
    const StreamClock::Span span = clock_.run(summary.stream, Engine::kernels, summary.cycles);
    summary.begin = span.begin;
    summary.end = span.end;
  };
  try {
    const Stopwatch stopwatch(simulated_);
    device_->launch(request);
  } catch (const InputError& error) {
    launches_.pop_back();
    throw Refusal{cudaErrorLaunchOutOfResources, error.what()};
  } catch (...) {
    finish();
    throw;
  }
  summary.complete = true;
  finish();
}

// The device, for kernels that were put off.
class Session::Kernels final : public KernelEngine {
 public:
  explicit Kernels(Session& session) : session_(session), device_(*session.device_) {}
  [[nodiscard]] Time now() const override { return device_.now() + 1; }
  [[nodiscard]] bool running() const override { return device_.running(); }
  [[nodiscard]] bool can_begin() const override { return device_.can_begin(); }
  void begin(std::size_t work) override { begun_[device_.begin(session_.put_off_.at(work))] = work; }
  std::vector<Ended> proceed(Time until) override {
    std::vector<Ended> out;
    for (const Device::Ended& one : device_.proceed(until - 1)) {
      const std::size_t work = begun_.at(one.launch);
      LaunchSummary& summary = session_.launches_.at(work);
      summary.cycles = one.end - one.begin;
      summary.warp_instructions = one.warp_instructions;
      summary.thread_instructions = one.thread_instructions;
      out.push_back({work, one.begin, one.end});
    }
    return out;
  }

 private:
  Session& session_;
  Device& device_;
  std::map<std::uint64_t, std::size_t> begun_;
};

void Session::settle() {
  if (work_.empty()) return;
  const Stopwatch stopwatch(simulated_);
  Kernels kernels(*this);
  try {
    work_.settle(kernels, [this](std::size_t work, const StreamClock::Span& span) {
      LaunchSummary& summary = launches_.at(work);
      summary.begin = span.begin;
      summary.end = span.end;
      summary.complete = true;
    });
  } catch (const InputError& error) {  // one kernel cannot run; kernels that do come to their end
    work_.forget();
    put_off_.clear();
    while (device_->running()) device_->proceed(link::kNever);
    throw Refusal{cudaErrorLaunchOutOfResources, error.what()};
  } catch (...) {
    work_.forget();
    put_off_.clear();
    throw;
  }
  put_off_.clear();
}

// What is asked for has nothing to do with kernels that were put off, or is put off likewise.
bool Session::can_wait() const {
  const auto& words = question_.words;
  const auto own = [this](std::uint64_t stream) { return stream != 0 && clock_.knows_stream(stream); };
  switch (question_.call) {
    case cudart::Call::launch:
    case cudart::Call::function:
    case cudart::Call::symbol:
    case cudart::Call::occupancy:
    case cudart::Call::memory:
    case cudart::Call::allocate:
    case cudart::Call::stream_create:
    case cudart::Call::event_create:
    case cudart::Call::share:
      return true;
    case cudart::Call::event_record:
      return own(words[1]);
    case cudart::Call::stream_wait:
      return own(words[0]);
    case cudart::Call::write:
      return (question_.flags & cudart::kAsynchronous) != 0 && own(words[4]) && !work_.waits(words[4]);
    default:
      return false;
  }
}

// Once kernels have used it, it stays as it is, as CUDA has it.
void Session::heap() {
  isa::DeviceHeap& heap = device_->memory().heap();
  const std::uint64_t limit = question_.words[0];
  if (limit != cudart::kAsIs) {
    if (limit > isa::DeviceHeap::kMostLimit) {
      throw Refusal{cudaErrorInvalidValue,
                    fmt::format("a device heap of {} bytes: {} is the most", limit, isa::DeviceHeap::kMostLimit)};
    }
    if (heap.used() && limit != heap.limit()) {
      throw Refusal{cudaErrorInvalidValue,
                    "the size of the device heap is set before the first kernel is launched that calls malloc or free"};
    }
    heap.set_limit(limit);
  }
  answer_.words[0] = heap.limit();
}

// The code of kernels with recursion has the size in it. Of more than there can be a thread gets the most, as CUDA has
// it.
void Session::stack() {
  if (const std::uint64_t wanted = question_.words[0]; wanted != cudart::kAsIs) {
    ptx::CompileOptions options = options_;
    options.stack_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, isa::kMostStackBytes));
    if (options.stack_bytes != options_.stack_bytes) {
      std::vector<std::map<std::string, std::string>> changed;
      grow(compiled(texts_, options, changed), false);
      options_.stack_bytes = options.stack_bytes;
    }
  }
  answer_.words[0] = options_.stack_bytes;
}

void Session::occupancy() {
  const isa::Kernel& kernel = this->kernel(question_.words[0]);
  isa::LaunchRequest request;
  request.kernel = kernel.name;
  request.block = {low(question_.words[1]), 1, 1};
  request.dynamic_shared = low(question_.words[2]);
  request.carve_out = carve_out_of(question_.words[3]);
  take_roomier(question_.words[0], request);
  answer_.words[0] = hw::residency(machine_, device_->shape_of(request)).blocks;
}

}  // namespace heddle::tb::session
