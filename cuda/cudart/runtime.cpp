#include "cuda/cudart/runtime.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "cuda/cudart/environment.hpp"
#include "cuda/cudart/host_memory.hpp"

namespace heddle::cudart {
namespace {

constexpr std::uint64_t kWorthReaching = 1U << 15U;  // bytes: less goes through the socket as fast
constexpr std::uint64_t kWorthSharing = 1U << 14U;   // likewise
constexpr std::size_t kMostTaken = 4096;             // shapes of launches that are remembered

// Memory of the program's at an address of the device's.
void map_here(std::uint64_t address, std::size_t bytes) {
  void* const place = reinterpret_cast<void*>(address);
  if (::mmap(place, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != place) {
    throw Failure{cudaErrorMemoryAllocation, "the program itself uses the addresses of managed memory"};
  }
}

}  // namespace

Runtime& Runtime::instance() {
  static Runtime* const runtime = new Runtime;  // outlives what runs at the program's end
  return *runtime;
}

std::size_t Runtime::add_unit(DeviceCode code) {
  // A library that is opened when the program runs already brings names of its own, as a module does.
  if (begun_ && code.refusal.empty()) return load_module(code.ptx_for(machine().architecture));
  units_.push_back({std::move(code)});
  return units_.size() - 1;
}

void Runtime::tell_units() {
  while (told_ < units_.size()) {
    Unit& unit = units_[told_++];
    const std::string& ptx = unit.code.ptx_for(machine().architecture);
    unit.target = target_of(ptx);
    Question question{Call::unit, 0, {unit.code.relocatable ? 1U : 0U}, ptx.size()};
    ask(question, ptx.data());
  }
}

void Runtime::begin() {
  for (const Unit& unit : units_) {
    if (!unit.code.refusal.empty()) throw Failure{cudaErrorNoKernelImageForDevice, unit.code.refusal};
  }
  begun_ = true;
  tell_units();
  ask({Call::begin, 0, {}, 0});
  for (ManagedVariable& variable : managed_) share(variable);
  if (!managed_.empty()) from_device();  // what they begin as
}

void Runtime::add_managed(ManagedVariable variable) {
  managed_.push_back(std::move(variable));
  if (!begun_) return;
  share(managed_.back());
  from_device();
}

// The host has the variable at the same address, in pages that others may lie in too.
void Runtime::share(ManagedVariable& variable) {
  find(variable.symbol);
  const std::uint64_t end = variable.symbol.address + variable.symbol.size;
  for (std::uint64_t page = variable.symbol.address / kPage * kPage; page < end; page += kPage) {
    if (!shared_pages_.insert(page).second) continue;
    map_here(page, kPage);
  }
  regions_[variable.symbol.address] = {variable.symbol.size, true, nullptr, true};
  *variable.pointer = reinterpret_cast<void*>(variable.symbol.address);
}

void* Runtime::managed_variable(const void* shadow) {
  const Symbol known = symbol(shadow);
  void* pointer = reinterpret_cast<void*>(known.address);
  if (const Region* const there = region(pointer); there == nullptr || !there->managed) {
    ManagedVariable variable{known, &pointer};
    share(variable);
    from_device(known.address, pointer, known.size);  // what it begins as; others may have been written since
    add_symbol(pointer, known);
  }
  return pointer;
}

std::size_t Runtime::load_module(const std::string& ptx) {
  tell_units();
  ask({Call::module, 0, {}, ptx.size()}, ptx.data());
  units_.push_back({{}, target_of(ptx)});
  return told_++;
}

Answer Runtime::ask(const Question& question, const void* bytes, void* into, std::size_t capacity) {
  connect();
  const bool brings_code = question.call == Call::hello || question.call == Call::unit || question.call == Call::module;
  if (!begun_ && !brings_code) begin();
  if (question.call == Call::stream_destroy) taken_.clear();  // of that stream
  const Answer answer = exchange(question, bytes, into, capacity);
  if (question.call == Call::stream_create) {
    streams_[answer.words[0]] = {static_cast<unsigned>(question.words[0]), false};
  }
  if (question.call == Call::stream_destroy) streams_.erase(question.words[0]);
  return answer;
}

void Runtime::launch(Question question, const void* arguments) {
  connect();
  LaunchShape shape{};
  std::copy_n(question.words, shape.size() - 1, shape.begin());
  shape.back() = question.flags;
  if (taken_.count(shape) != 0) {
    question.flags |= cudart::kUnanswered;
    send(question, arguments, false);
    exchanging_ = false;
  } else {
    ask(question, arguments);
    if (taken_.size() == kMostTaken) taken_.clear();
    taken_.insert(shape);
  }
  owed_ = true;
  if (blocking_) ask({Call::stream_synchronize, 0, {question.words[5]}, 0});
}

// What has become of all launches, without waiting for them in simulated time.
void Runtime::settle() {
  if (owed_) exchange({Call::heap, 0, {cudart::kAsIs}, 0}, nullptr, nullptr, 0);
}

// The file that device memory lies in, asked for when it is first worth it.
bool Runtime::shares() {
  if (asked_to_share_) return shares_;
  asked_to_share_ = true;
  if (environment(cudart::kShareVariable) == "no") return false;
  int descriptor = -1;
  const Answer answer = ask_for_file(descriptor);
  if (descriptor >= 0) shares_ = answer.words[0] != 0 && shared_.open(descriptor, answer.words[0]);
  return shares_;
}

bool Runtime::moves_itself(const Question& question, void* rows, std::size_t pitch) {
  if (!shares()) return false;
  Question asked = question;
  asked.flags |= cudart::kShared;
  asked.bytes = 0;
  if (exchange(asked, nullptr, nullptr, 0).words[0] != 0) return false;
  const std::size_t count = bytes_.size() / sizeof(cudart::Place);
  const SharedMemory::Rows device{{reinterpret_cast<const cudart::Place*>(bytes_.data()), count},
                                  question.words[1],
                                  question.words[2],
                                  question.words[3]};
  const std::size_t size = (device.height - 1) * pitch + device.width;
  if (question.call == Call::write) {
    if (!shared_.write(device, static_cast<const std::byte*>(rows), pitch)) {
      throw Failure{cudaErrorInvalidValue, no_memory_to_read(rows, size)};
    }
  } else if (!shared_.read(device, static_cast<std::byte*>(rows), pitch)) {
    throw Failure{cudaErrorInvalidValue, no_memory_to_write(rows, size)};
  }
  return true;
}

void Runtime::move_rows(Question question, void* rows, std::size_t pitch) {
  const std::size_t width = question.words[2];
  const std::size_t height = question.words[3];
  const std::size_t size = width * height;
  const bool writes = question.call == Call::write;
  question.bytes = writes ? size : 0;
  connect();
  if (!begun_) begin();
  if (size >= kWorthSharing && moves_itself(question, rows, pitch)) return;
  const HostRows shape{pitch, width, height};
  const std::size_t span = (height - 1) * pitch + width;
  std::vector<std::byte> packed;  // without gaps, as they travel
  const bool dense = height == 1 || pitch == width;
  auto* at = static_cast<std::byte*>(rows);
  if (!dense) {
    packed.resize(size);
    at = packed.data();
    if (writes && !read_host(at, rows, shape)) throw Failure{cudaErrorInvalidValue, no_memory_to_read(rows, span)};
  }
  if (size < kWorthReaching || !lets_reach(question, at)) {
    // What goes out in several pieces must not end in the middle.
    if (dense && writes && size >= kWorthReaching && !can_read(rows, span)) {
      throw Failure{cudaErrorInvalidValue, no_memory_to_read(rows, span)};
    }
    ask(question, writes ? at : nullptr, writes ? nullptr : at, writes ? 0 : size);
  }
  if (!dense && !writes && !write_host(rows, at, shape)) {
    throw Failure{cudaErrorInvalidValue, no_memory_to_write(rows, span)};
  }
}

// The simulator copies rows without gaps itself, as far as the system lets it.
bool Runtime::lets_reach(const Question& question, void* rows) {
  if (!reaches_) return false;
  Question direct = question;
  direct.flags |= cudart::kByAddress;
  direct.words[5] = number_of(rows);
  direct.bytes = 0;
  const bool reached = exchange(direct, nullptr, nullptr, 0).words[0] == 0;
  const std::size_t size = question.words[2] * question.words[3];
  reaches_ = reached || !can_read(rows, size) || (question.call == Call::read && !can_write(rows, size));
  return reached;
}

const cudart::MachineFacts& Runtime::machine() {
  connect();
  return machine_;
}

void Runtime::require_function(const void* stub) const {
  require(functions_.count(stub) != 0, cudaErrorInvalidDeviceFunction, "this is no kernel of the program");
}

Function& Runtime::function(const void* stub) {
  require_function(stub);
  Function& found = functions_.at(stub);
  find(found);
  return found;
}

void Runtime::find(Function& function) {
  if (function.known) return;
  const Answer answer = ask({Call::function, 0, {function.unit}, function.name.size()}, function.name.data());
  function.id = answer.words[0];
  function.attributes.numRegs = static_cast<int>(answer.words[1]);
  function.attributes.sharedSizeBytes = answer.words[2];
  function.attributes.localSizeBytes = answer.words[3];
  function.attributes.maxThreadsPerBlock = static_cast<int>(answer.words[4]);
  function.attributes.preferredShmemCarveout = -1;
  function.attributes.ptxVersion = static_cast<int>(units_[function.unit].target);
  function.attributes.binaryVersion = static_cast<int>(machine().architecture);
  function.attributes.maxDynamicSharedSizeBytes =
      static_cast<int>(machine().shared_bytes - std::min<std::uint64_t>(machine().shared_bytes, answer.words[2]));
  function.parameter_bytes = answer.words[5];
  function.parameters.resize(bytes_.size() / sizeof(Parameter));
  std::memcpy(function.parameters.data(), bytes_.data(), function.parameters.size() * sizeof(Parameter));
  function.known = true;
}

Symbol& Runtime::symbol(const void* variable) {
  const auto found = symbols_.find(variable);
  Symbol& symbol = found != symbols_.end() ? found->second : symbol_of_text(variable);
  find(symbol);
  return symbol;
}

// CUDA before release 5 took the variable's name as a text too, and old programs do not look at the error since.
Symbol& Runtime::symbol_of_text(const void* text) {
  const std::string name = host_identifier(text);
  if (name.empty()) {
    throw Failure{cudaErrorInvalidSymbol, "this is no __device__ or __constant__ variable that kernels use"};
  }
  Symbol* named = nullptr;
  for (auto& [variable, symbol] : symbols_) {
    if (symbol.name != name) continue;
    if (named != nullptr && named->unit != symbol.unit) {
      throw Failure{cudaErrorInvalidSymbol, "several files have a variable '" + name + "'"};
    }
    named = &symbol;
  }
  if (named == nullptr) {
    throw Failure{cudaErrorInvalidSymbol, "there is no __device__ or __constant__ variable '" + name + "'"};
  }
  return *named;
}

void Runtime::find(Symbol& symbol) {
  if (symbol.known) return;
  const Answer answer = ask({Call::symbol, 0, {symbol.unit}, symbol.name.size()}, symbol.name.data());
  symbol.address = answer.words[0];
  symbol.size = answer.words[1];
  symbol.known = true;
}

const Runtime::Region* Runtime::region(const void* pointer) const {
  const std::uint64_t address = number_of(pointer);
  auto after = regions_.upper_bound(address);
  if (after == regions_.begin()) return nullptr;
  --after;
  return address - after->first < std::max<std::uint64_t>(after->second.size, 1) ? &after->second : nullptr;
}

std::uint64_t Runtime::bytes_behind(const void* pointer) const {
  if (region(pointer) == nullptr) return 0;
  const auto holder = std::prev(regions_.upper_bound(number_of(pointer)));
  return holder->first + holder->second.size - number_of(pointer);
}

void* Runtime::allocate(std::size_t size, bool managed) {
  const auto kind = managed ? cudart::AllocationKind::managed : cudart::AllocationKind::device;
  const Answer answer = ask({Call::allocate, 0, {size, static_cast<std::uint64_t>(kind)}, 0});
  const std::uint64_t address = answer.words[0];
  void* const pointer = reinterpret_cast<void*>(address);
  if (managed) {
    try {
      map_here(address, (size + kPage - 1) / kPage * kPage);
    } catch (const Failure&) {
      ask({Call::release, 0, {address}, 0});
      throw;
    }
  }
  regions_[address] = {size, managed};
  return pointer;
}

void Runtime::release(void* pointer) {
  const auto found = regions_.find(number_of(pointer));
  if (found == regions_.end() || found->second.variable)
    throw Failure{cudaErrorInvalidValue, "nothing was allocated at this address"};
  if (found->second.managed) ::munmap(pointer, (found->second.size + kPage - 1) / kPage * kPage);
  regions_.erase(found);
  ask({Call::release, 0, {number_of(pointer)}, 0});
}

void Runtime::reach_host(void* host, std::size_t size) {
  const auto kind = static_cast<std::uint64_t>(cudart::AllocationKind::host);
  ask({Call::allocate, 0, {size, kind, number_of(host)}, 0});
  regions_[number_of(host)] = {size, true};
}

void Runtime::map_host(void* host, std::size_t size) {
  const auto kind = static_cast<std::uint64_t>(cudart::AllocationKind::device);
  const std::uint64_t address = ask({Call::allocate, 0, {size, kind}, 0}).words[0];
  regions_[address] = {size, false, nullptr, true};
  mapped_[number_of(host)] = {address, size};
}

void Runtime::unmap_host(void* host) {
  const auto found = mapped_.find(number_of(host));
  if (found == mapped_.end()) return;
  from_device();  // what kernels have written up to now
  regions_.erase(found->second.address);
  ask({Call::release, 0, {found->second.address}, 0});
  mapped_.erase(found);
}

void* Runtime::device_address(const void* host) const {
  const auto after = mapped_.upper_bound(number_of(host));
  if (after == mapped_.begin()) return nullptr;
  const auto& [begin, mapped] = *std::prev(after);
  const std::uint64_t offset = number_of(host) - begin;
  return offset < mapped.size ? reinterpret_cast<void*>(mapped.address + offset) : nullptr;
}

void Runtime::own(void* pointer, GraphMemory* owner) {
  if (const auto found = regions_.find(number_of(pointer)); found != regions_.end()) found->second.owner = owner;
}

void Runtime::to_device() {
  for (const auto& [address, region] : regions_) {
    if (!region.managed) continue;
    move_rows({Call::write, cudart::kAsynchronous, {address, region.size, region.size, 1, cudart::kUnobserved}, 0},
              reinterpret_cast<void*>(address), region.size);
  }
  for (const auto& [host, mapped] : mapped_) {
    move_rows(
        {Call::write, cudart::kAsynchronous, {mapped.address, mapped.size, mapped.size, 1, cudart::kUnobserved}, 0},
        reinterpret_cast<void*>(host), mapped.size);
  }
}

void Runtime::from_device() {
  for (const auto& [address, region] : regions_) {
    if (region.managed) from_device(address, reinterpret_cast<void*>(address), region.size);
  }
  for (const auto& [host, mapped] : mapped_) {
    from_device(mapped.address, reinterpret_cast<void*>(host), mapped.size);
  }
}

void Runtime::from_device(std::uint64_t address, void* host, std::uint64_t size) {
  move_rows({Call::read, cudart::kAsynchronous, {address, size, size, 1, cudart::kUnobserved}, 0}, host, size);
}

void Runtime::show_prints() {
  if (prints_.empty()) return;
  std::fwrite(prints_.data(), 1, prints_.size(), stdout);
  prints_.clear();
}

// Faults of the device, after which nothing works any more.
bool is_fault(cudaError_t error) {
  return error == cudaErrorIllegalAddress || error == cudaErrorLaunchTimeout || error == cudaErrorAssert ||
         error == cudaErrorIllegalInstruction || error == cudaErrorMisalignedAddress || error == cudaErrorLaunchFailure;
}

cudaError_t& last_error() {
  thread_local cudaError_t error = cudaSuccess;
  return error;
}

cudaError_t report(const Failure& failure, const char* function) {
  if (failure.error != cudaErrorNotReady) last_error() = failure.error;
  if (!failure.text.empty()) {
    std::fflush(stdout);
    std::fprintf(stderr, "heddle: %s: %s\n", function, failure.text.c_str());
  }
  if (failure.ends) Runtime::instance().leave();
  return failure.error;
}

}  // namespace heddle::cudart
