#include "tb/host/program/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <exception>
#include <utility>

#include <driver_types.h>
#include "base/error.hpp"
#include "hw/gpu/dispatcher.hpp"
#include "hw/gpu/registers.hpp"
#include "isa/memory_map.hpp"
#include "tb/host/program/refusal.hpp"

namespace heddle::tb::program {
namespace {

constexpr double kPollNanoseconds = 1000;
constexpr std::uint64_t kDeviceBytes = 0xf000'0000;  // buffers below 4 GiB
constexpr std::uint64_t kPage = 4096;

cudaError_t error_of(isa::Fault::Kind kind) {
  switch (kind) {
    case isa::Fault::Kind::out_of_bounds:
    case isa::Fault::Kind::bus_error:
    case isa::Fault::Kind::no_texture:
    case isa::Fault::Kind::bad_free:
      return cudaErrorIllegalAddress;
    case isa::Fault::Kind::misaligned:
      return cudaErrorMisalignedAddress;
    case isa::Fault::Kind::deadlock:
    case isa::Fault::Kind::livelock:
      return cudaErrorLaunchTimeout;
    case isa::Fault::Kind::heap_room:
    case isa::Fault::Kind::resources:
      return cudaErrorLaunchOutOfResources;
    case isa::Fault::Kind::invalid_instruction:
      return cudaErrorIllegalInstruction;
    case isa::Fault::Kind::assertion:
      return cudaErrorAssert;
    case isa::Fault::Kind::division_by_zero:
    case isa::Fault::Kind::trap:
    case isa::Fault::Kind::barrier_mismatch:
      break;
  }
  return cudaErrorLaunchFailure;
}

StreamClock::Time cycles_of(const hw::Machine& machine, double nanoseconds) {
  return static_cast<StreamClock::Time>(std::ceil(nanoseconds * machine.gpu.clock_ghz));
}

bool is_constant(std::uint64_t address) {
  return isa::window_of(address) == isa::Window::constant;
}

}  // namespace

Session::Session(int socket, hw::Machine machine, const std::atomic<bool>* interrupted)
    : connection_(socket, interrupted),
      machine_(std::move(machine)),
      clock_(std::max<StreamClock::Time>(cycles_of(machine_, kPollNanoseconds), 1)) {}

isa::Module Session::compile(const ptx::CompileOptions& options) {
  options_ = options;
  options_.notes = nullptr;  // of what is loaded later nobody takes them
  for (;;) {
    if (!connection_.next(question_, bytes_)) {
      ended_ = true;
      return {};
    }
    answer_ = {};
    answer_bytes_.clear();
    if (question_.call == Call::hello) {
      hello();
      connection_.answer(answer_, answer_bytes_);
    } else if (question_.call == Call::unit) {
      texts_.push_back({text_of(bytes_), fmt::format("device code {}", texts_.size() + 1), question_.words[0] != 0});
      connection_.answer(answer_);
    } else if (question_.call == Call::module) {
      std::string refusal;
      try {
        texts_.push_back(checked_text());
      } catch (const InputError& error) {
        answer_.error = cudaErrorInvalidPtx;
        refusal = error.what();
      }
      connection_.answer(answer_, {}, refusal);
    } else if (question_.call == Call::begin) {
      break;
    } else {
      throw InternalError("the program's library uses the device before it has brought its code");
    }
  }
  isa::Module module;  // a program without kernels has a device all the same
  try {
    if (!texts_.empty()) {
      module = ptx::compile_program(texts_, texts_.size() == 1 ? "PTX" : "PTX of all files", options, changed_names_);
    }
  } catch (const InputError&) {
    answer_.error = cudaErrorInvalidPtx;
    connection_.answer(answer_);
    throw;
  }
  connection_.answer(answer_);
  return module;
}

ptx::ProgramText Session::checked_text() const {
  ptx::ProgramText text{text_of(bytes_), fmt::format("device code {}", texts_.size() + 1), false};
  if (text.text.empty() || text.text.back() != '\n') text.text += '\n';  // lines of all texts are counted
  static_cast<void>(ptx::compile(text.text, text.file, options_));
  return text;
}

void Session::module() {
  std::vector<ptx::ProgramText> texts = texts_;
  std::vector<std::map<std::string, std::string>> changed;
  try {
    texts.push_back(checked_text());
    grow(ptx::compile_program(texts, "PTX of all files", options_, changed));
  } catch (const InputError& error) {
    throw Refusal{cudaErrorInvalidPtx, error.what()};
  }
  texts_ = std::move(texts);
  changed_names_ = std::move(changed);
}

void Session::grow(isa::Module module) {
  const isa::Module& old = device_->module();
  const bool begins_alike =
      module.kernels.size() >= old.kernels.size() && module.variables.size() >= old.variables.size() &&
      std::equal(old.kernels.begin(), old.kernels.end(), module.kernels.begin(),
                 [](const auto& a, const auto& b) { return a.name == b.name && a.words == b.words; }) &&
      std::equal(old.variables.begin(), old.variables.end(), module.variables.begin(),
                 [](const auto& a, const auto& b) {
                   return a.name == b.name && a.space == b.space && a.address == b.address && a.size == b.size;
                 });
  if (!begins_alike) {
    throw Refusal{cudaErrorNotSupported,
                  "this module would move what is loaded already: load it before the program first uses the device"};
  }
  std::vector<std::pair<std::uint64_t, std::vector<std::byte>>> values;
  for (const isa::Variable& variable : old.variables) {
    if (variable.space != isa::Space::global || variable.size == 0) continue;
    values.emplace_back(variable.address, std::vector<std::byte>(variable.size));
    device_->memory().read(variable.address, values.back().second);
  }
  const std::vector<std::uint8_t> constants = old.constant_bank;
  device_->load(std::move(module));
  for (const auto& [address, bytes] : values) device_->memory().write(address, bytes);
  if (!constants.empty()) device_->set_constants(0, std::as_bytes(std::span(constants)));
}

void Session::hello() {
  if (question_.words[0] != kProtocolVersion) {
    throw InputError({}, "the program was linked with the run-time library of another version of Heddle",
                     "link it anew: heddle nvcc");
  }
  MachineFacts facts;
  const std::string name = "Heddle " + machine_.name;
  name.copy(facts.name, sizeof facts.name - 1);
  facts.memory_bytes = kDeviceBytes;
  facts.shared_bytes = machine_.scratchpad.bytes;
  facts.constant_bytes = hw::kConstantWindowBytes;
  facts.cores = machine_.gpu.cores;
  facts.core_threads = machine_.core.threads;
  facts.core_blocks = machine_.core.blocks;
  facts.core_registers = machine_.core.registers;
  facts.thread_registers = machine_.core.registers_per_thread;
  facts.warp_lanes = machine_.core.simd_width;
  facts.cooperates = hw::why_no_cooperation(machine_).empty() ? 1 : 0;
  facts.clock_khz = static_cast<std::uint32_t>(machine_.gpu.clock_ghz * 1e6);
  // As a bus of the machine's bandwidth at its clock would be, two transfers a cycle.
  facts.memory_khz = facts.clock_khz;
  facts.memory_bits = static_cast<std::uint32_t>(
      std::max(8.0, std::round(machine_.dram.bandwidth_gbs * 8 / (2 * machine_.gpu.clock_ghz))));
  facts.l2_bytes = machine_.l2.enabled ? static_cast<std::uint32_t>(machine_.l2.bytes) : 0;
  const auto bytes = std::as_bytes(std::span(&facts, 1));
  answer_bytes_.assign(bytes.begin(), bytes.end());
}

void Session::serve(Device& device) {
  device_ = &device;
  std::exception_ptr lost;  // the fault or stop that the device was lost by
  cudaError_t lost_by = cudaSuccess;
  while (!ended_) {
    try {
      if (!connection_.next(question_, bytes_)) break;
    } catch (const RunStopped&) {
      if (!lost) lost = std::current_exception();
      break;
    }
    answer_ = {};
    answer_bytes_.clear();
    std::string text;
    if (lost) {
      answer_.error = lost_by;
      connection_.answer(answer_);
      continue;
    }
    try {
      handle();
    } catch (const Refusal& refusal) {
      answer_.error = refusal.error;
      text = refusal.text;
    } catch (const SimulatedFault&) {
      lost = std::current_exception();
      lost_by = device.fault() != nullptr ? error_of(device.fault()->kind) : cudaErrorLaunchFailure;
      answer_.error = lost_by;
    } catch (const RunStopped&) {
      lost = std::current_exception();
      lost_by = cudaErrorLaunchTimeout;
      answer_.error = lost_by;
    }
    connection_.answer(answer_, answer_bytes_, text, std::exchange(printed_, {}));
  }
  // What nobody has waited for happens all the same.
  try {
    if (!lost) settle();
  } catch (const SimulatedFault&) {
    lost = std::current_exception();
  } catch (const RunStopped&) {
    lost = std::current_exception();
  }
  connection_.close();
  if (lost) std::rethrow_exception(lost);
}

void Session::handle() {
  if (!work_.empty() && !can_wait()) settle();
  switch (question_.call) {
    case Call::module:
      return module();
    case Call::function:
      return function();
    case Call::symbol:
      return symbol();
    case Call::allocate:
      return allocate();
    case Call::release:
      return release();
    case Call::write:
      return write();
    case Call::read:
      return read();
    case Call::fill:
      return fill();
    case Call::copy:
      return copy();
    case Call::launch:
      return launch();
    case Call::occupancy:
      return occupancy();
    case Call::memory:
      return memory();
    case Call::heap:
      return heap();
    case Call::texture:
      return texture();
    case Call::stream_create:
    case Call::stream_destroy:
    case Call::stream_synchronize:
    case Call::stream_query:
    case Call::stream_wait:
    case Call::synchronize:
      return streams();
    case Call::event_create:
    case Call::event_destroy:
    case Call::event_record:
    case Call::event_synchronize:
    case Call::event_query:
    case Call::event_elapsed:
      return events();
    case Call::hello:
    case Call::unit:
    case Call::begin:
      break;
  }
  throw InternalError("the program's library asks what it may not");
}

// ---- memory

void Session::allocate() {
  const std::uint64_t size = question_.words[0];
  const bool managed = static_cast<AllocationKind>(question_.words[1]) == AllocationKind::managed;
  isa::DeviceMemory& memory = device_->memory();
  const std::string name = fmt::format("{} {}", managed ? "managed" : "buffer", ++buffers_);
  try {
    if (!managed) {
      answer_.words[0] = memory.allocate(name, size);
      return;
    }
    // Whole pages, so that the host can have them at the same address; the program sees those that it asked for.
    const std::uint64_t whole = (size + kPage - 1) / kPage * kPage;
    const std::uint64_t around = memory.allocate(name, whole + 2 * kPage);
    memory.release(around);
    answer_.words[0] = (around + kPage - 1) / kPage * kPage;
    memory.place(name, answer_.words[0], size);
  } catch (const InputError& error) {
    throw Refusal{cudaErrorMemoryAllocation, error.what()};
  }
}

void Session::release() {
  const isa::Allocation* const found = device_->memory().find(question_.words[0], 1);
  if (found == nullptr || found->address != question_.words[0] || found->address < isa::kGlobalBase) {
    throw Refusal{cudaErrorInvalidValue, "nothing was allocated at this address"};
  }
  clock_.wait_for_all();
  device_->memory().release(question_.words[0]);
}

void Session::texture() {
  isa::DeviceMemory& memory = device_->memory();
  std::uint64_t handle = 0;
  if (!bytes_.empty()) {
    TextureFacts facts;
    if (bytes_.size() != sizeof facts) throw InternalError("a texture's description has another size");
    std::memcpy(&facts, bytes_.data(), sizeof facts);
    isa::TextureDescriptor of;
    of.base = facts.base;
    of.width = facts.width;
    of.height = facts.height;
    of.channels = static_cast<std::uint8_t>(facts.channels);
    of.channel_bytes = static_cast<std::uint8_t>(facts.channel_bytes);
    of.row_bytes = of.width * of.texel_bytes();
    of.pitch = facts.pitch;
    of.kind = static_cast<isa::TexelKind>(facts.kind);
    of.address = {static_cast<isa::AddressMode>(facts.address_x), static_cast<isa::AddressMode>(facts.address_y)};
    of.linear = facts.linear != 0;
    of.normalized_values = facts.normalized_values != 0;
    of.normalized_coordinates = facts.normalized_coordinates != 0;
    of.zero_outside = facts.zero_outside != 0;
    require_memory(of.base, std::uint64_t{of.pitch} * (of.height - 1) + of.row_bytes);
    try {
      handle = memory.add_texture(fmt::format("texture {}", ++textures_), of);
    } catch (const InputError& error) {
      throw Refusal{cudaErrorInvalidValue, error.what()};
    }
  }
  if (const std::uint64_t old = question_.words[1]; memory.texture(old) != nullptr) memory.release(old);
  if (const std::uint64_t reference = question_.words[0]; reference != 0) {
    require_memory(reference, sizeof handle);
    store(reference, std::as_bytes(std::span(&handle, 1)));
  }
  answer_.words[0] = handle;
}

void Session::require_memory(std::uint64_t address, std::uint64_t size) const {
  if (is_constant(address)) {
    const std::uint64_t bank = device_->module().constant_bank.size();
    const std::uint64_t offset = address - isa::kConstantWindow;
    if (offset <= bank && size <= bank - offset) return;
  } else if (device_->memory().find(address, size) != nullptr) {
    return;
  }
  throw Refusal{cudaErrorInvalidValue,
                fmt::format("{} bytes at address {:#x}: {}", size, address, device_->memory().describe(address, size))};
}

void Session::load(std::uint64_t address, std::span<std::byte> into) const {
  if (is_constant(address)) {
    std::memcpy(into.data(), device_->module().constant_bank.data() + (address - isa::kConstantWindow), into.size());
  } else {
    device_->memory().read(address, into);
  }
}

void Session::store(std::uint64_t address, std::span<const std::byte> from) {
  if (is_constant(address)) {
    device_->set_constants(address - isa::kConstantWindow, from);
  } else {
    device_->memory().write(address, from);
  }
}

void Session::transfer(std::uint64_t stream, Engine engine, std::uint64_t bytes) {
  if (stream == kUnobserved) return;
  const std::uint64_t on = stream_of(stream);
  const double nanoseconds = static_cast<double>(bytes) / machine_.dram.bandwidth_gbs;
  clock_.run(on, engine, cycles_of(machine_, nanoseconds));
  if ((question_.flags & kAsynchronous) == 0) clock_.wait_for(on);
}

// The rows of a copy lie in the program's memory, one behind the other: they go from there into the pages of device
// memory or back. False: they cannot be reached, and the program is to send them, or be sent them.
template <class Move>
bool Session::by_address(std::uint64_t address, std::uint64_t pitch, std::uint64_t width, std::uint64_t height,
                         Move move) {
  const bool writes = question_.call == Call::write;
  // What is no storage goes through memory of its own.
  const bool stored = !is_constant(address) && !device_->memory().computed(address, (height - 1) * pitch + width);
  if (!stored) bytes_.resize(width);
  std::uint64_t there = question_.words[5];
  for (std::uint64_t y = 0; y < height; ++y) {
    const std::uint64_t row = address + y * pitch;
    for (std::uint64_t x = 0; x < width;) {
      std::span<std::byte> piece(bytes_);
      if (stored) {
        std::size_t length = 0;
        std::byte* const at = device_->memory().direct(row + x, length);
        piece = {at, std::min<std::uint64_t>(length, width - x)};
      } else if (!writes) {
        load(row, piece);
      }
      if (!move(there, piece)) {
        answer_.words[0] = 1;
        return false;
      }
      if (!stored && writes) store(row, piece);
      there += piece.size();
      x += piece.size();
    }
  }
  return true;
}

void Session::write() {
  const auto [address, pitch, width, height, stream, a, b, c] = question_.words;
  const bool direct = (question_.flags & kByAddress) != 0;
  if (!direct && width * height != bytes_.size()) {
    throw InternalError("a copy to the device brings another number of bytes");
  }
  require_memory(address, (height - 1) * pitch + width);
  if (direct) {
    const auto fetch = [this](std::uint64_t from, std::span<std::byte> into) { return connection_.fetch(from, into); };
    if (!by_address(address, pitch, width, height, fetch)) return;
  } else {
    for (std::uint64_t y = 0; y < height; ++y) store(address + y * pitch, std::span(bytes_).subspan(y * width, width));
  }
  transfer(stream, Engine::to_device, width * height);
}

void Session::read() {
  const auto [address, pitch, width, height, stream, a, b, c] = question_.words;
  require_memory(address, (height - 1) * pitch + width);
  if ((question_.flags & kByAddress) != 0) {
    const auto put = [this](std::uint64_t to, std::span<std::byte> from) { return connection_.put(to, from); };
    if (!by_address(address, pitch, width, height, put)) return;
  } else {
    answer_bytes_.resize(width * height);
    for (std::uint64_t y = 0; y < height; ++y) {
      load(address + y * pitch, std::span(answer_bytes_).subspan(y * width, width));
    }
  }
  transfer(stream, Engine::to_host, width * height);
}

void Session::fill() {
  const auto [address, pitch, width, height, stream, value, element, a] = question_.words;
  require_memory(address, (height - 1) * pitch + width);
  std::vector<std::byte> row(width);
  std::memcpy(row.data(), &value, std::min(element, width));
  for (std::uint64_t done = std::max<std::uint64_t>(element, 1); done < width; done *= 2) {
    std::memcpy(row.data() + done, row.data(), std::min(done, width - done));
  }
  for (std::uint64_t y = 0; y < height; ++y) store(address + y * pitch, row);
  transfer(stream, Engine::kernels, width * height);
}

void Session::copy() {
  const auto [to, to_pitch, from, from_pitch, width, height, stream, a] = question_.words;
  require_memory(to, (height - 1) * to_pitch + width);
  require_memory(from, (height - 1) * from_pitch + width);
  const std::uint64_t span = (height - 1) * std::max(to_pitch, from_pitch) + width;
  if (height == 1 && (to >= from + span || from >= to + span)) {
    // Piece by piece through memory that stays in the host's caches.
    constexpr std::uint64_t kPiece = 1U << 18U;
    std::vector<std::byte> piece(std::min(width, kPiece));
    for (std::uint64_t x = 0; x < width; x += kPiece) {
      const auto part = std::span(piece).first(std::min(kPiece, width - x));
      load(from + x, part);
      store(to + x, part);
    }
  } else {
    std::vector<std::byte> rows(width * height);
    for (std::uint64_t y = 0; y < height; ++y) load(from + y * from_pitch, std::span(rows).subspan(y * width, width));
    for (std::uint64_t y = 0; y < height; ++y) store(to + y * to_pitch, std::span(rows).subspan(y * width, width));
  }
  transfer(stream, Engine::kernels, 2 * width * height);  // read and written
}

void Session::memory() {
  std::uint64_t used = 0;
  for (const auto& [address, allocation] : device_->memory().allocations()) {
    if (address >= isa::kGlobalBase && address < isa::kLocalBacking) used += allocation.size;
  }
  answer_.words[0] = kDeviceBytes - std::min(used, kDeviceBytes);
  answer_.words[1] = kDeviceBytes;
}

// ---- streams and events

std::uint64_t Session::stream_of(std::uint64_t number) const {
  if (!clock_.knows_stream(number)) throw Refusal{cudaErrorInvalidResourceHandle, "there is no such stream"};
  return number;
}

void Session::require_event(std::uint64_t event) const {
  if (!clock_.knows_event(event)) throw Refusal{cudaErrorInvalidResourceHandle, "there is no such event"};
}

void Session::streams() {
  const std::uint64_t* const words = question_.words;
  switch (question_.call) {
    case Call::stream_create:
      answer_.words[0] = clock_.make_stream(words[0] == 0);
      break;
    case Call::stream_destroy:
      clock_.wait_for(stream_of(words[0]));
      clock_.drop_stream(words[0]);
      break;
    case Call::stream_synchronize:
      clock_.wait_for(stream_of(words[0]));
      break;
    case Call::stream_query:
      if (!clock_.poll(stream_of(words[0]))) throw Refusal{cudaErrorNotReady, {}};
      break;
    case Call::stream_wait:
      require_event(words[1]);
      if (work_.waits(stream_of(words[0])) || work_.will_record(words[1])) {
        work_.hold(words[0], words[1]);
      } else {
        clock_.hold(words[0], words[1]);
      }
      break;
    default:
      clock_.wait_for_all();
  }
}

void Session::events() {
  const std::uint64_t* const words = question_.words;
  if (question_.call == Call::event_create) {
    answer_.words[0] = clock_.make_event();
    return;
  }
  require_event(words[0]);
  switch (question_.call) {
    case Call::event_destroy:
      clock_.drop_event(words[0]);
      break;
    case Call::event_record:
      if (work_.waits(stream_of(words[1])) || work_.will_record(words[0])) {
        work_.record(words[0], words[1]);
      } else {
        clock_.record(words[0], words[1]);
      }
      break;
    case Call::event_synchronize:
      clock_.wait_for_event(words[0]);
      break;
    case Call::event_query:
      if (!clock_.poll_event(words[0])) throw Refusal{cudaErrorNotReady, {}};
      break;
    default: {
      require_event(words[1]);
      if (!clock_.recorded(words[0]) || !clock_.recorded(words[1])) {
        throw Refusal{cudaErrorInvalidResourceHandle, "an event has not been recorded"};
      }
      if (clock_.time(words[0]) > clock_.host() || clock_.time(words[1]) > clock_.host()) {
        throw Refusal{cudaErrorNotReady, {}};
      }
      const double cycles = static_cast<double>(clock_.time(words[1])) - static_cast<double>(clock_.time(words[0]));
      answer_.words[0] = std::bit_cast<std::uint64_t>(cycles / machine_.gpu.clock_ghz);
    }
  }
}

}  // namespace heddle::tb::program
