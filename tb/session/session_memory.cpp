// A program's device memory: tb/session/session.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include <driver_types.h>
#include "base/error.hpp"
#include "isa/memory_map.hpp"
#include "tb/session/refusal.hpp"
#include "tb/session/session.hpp"

namespace heddle::tb::session {
namespace {

constexpr std::uint64_t kPage = 4096;
static_assert(cudart::kHostMemory == isa::kBuffersEnd && cudart::kHostMemoryEnd == isa::kLocalBacking);
constexpr std::uint64_t kPiece = 1U << 16U;  // of a fill: a multiple of all its elements' sizes

bool is_constant(std::uint64_t address) {
  return isa::window_of(address) == isa::Window::constant;
}

}  // namespace

void Session::allocate() {
  const std::uint64_t size = question_.words[0];
  const auto kind = static_cast<cudart::AllocationKind>(question_.words[1]);
  const bool managed = kind == cudart::AllocationKind::managed;
  isa::DeviceMemory& memory = device_->memory();
  if (kind == cudart::AllocationKind::host) {
    const std::uint64_t address = question_.words[2];
    if (address < cudart::kHostMemory || address >= cudart::kHostMemoryEnd || size == 0 ||
        size > cudart::kHostMemoryEnd - address || memory.find(address, size) != nullptr) {
      throw Refusal{cudaErrorInvalidValue, "the program has pinned no memory there"};
    }
    memory.place(fmt::format("pinned {}", ++buffers_), address, size);
    answer_.words[0] = address;
    return;
  }
  if (size > free_bytes()) throw Refusal{cudaErrorMemoryAllocation, no_room(size)};
  const std::string name = fmt::format("{} {}", managed ? "managed" : "buffer", ++buffers_);
  // Where the program maps device memory, as far as there is room.
  const auto allocate = [&](std::uint64_t bytes) {
    if (bytes < SharedPages::kBytes - isa::kGlobalBase - memory.buffer_bytes(true)) {
      try {
        return memory.allocate(name, bytes);
      } catch (const InputError&) {  // in pieces that are too small
      }
    }
    return memory.allocate(name, bytes, false);
  };
  try {
    if (!managed) {
      answer_.words[0] = allocate(size);
      return;
    }
    // Whole pages, so that the host can have them at the same address; the program sees the bytes that it asked for.
    const std::uint64_t whole = (size + kPage - 1) / kPage * kPage;
    const std::uint64_t around = allocate(whole + 2 * kPage);
    memory.release(around);
    answer_.words[0] = (around + kPage - 1) / kPage * kPage;
    memory.place(name, answer_.words[0], size);
  } catch (const InputError&) {
    throw Refusal{cudaErrorMemoryAllocation, no_room(size)};
  }
}

std::string Session::no_room(std::uint64_t size) const {
  return fmt::format("{} bytes are more than is free of the device's memory of {} bytes (gpu.memory_gib), {} allocated",
                     size, machine_.gpu.memory_bytes(), used_bytes());
}

std::uint64_t Session::used_bytes() const {
  return device_->memory().buffer_bytes(true) + device_->memory().buffer_bytes(false);
}

std::uint64_t Session::free_bytes() const {
  const std::uint64_t all = machine_.gpu.memory_bytes();
  return all - std::min(used_bytes(), all);
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
    cudart::TextureFacts facts;
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

// The rows of a copy lie in the program's memory, one behind the other: they go from there into the pages of device
// memory or back. False: they cannot be reached, and the program is to send them, or be sent them.
template <class Move>
bool Session::by_address(std::uint64_t address, std::uint64_t pitch, std::uint64_t width, std::uint64_t height,
                         Move move) {
  const bool writes = question_.call == cudart::Call::write;
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

void Session::share() {
  connection_.send_descriptor(shared_ ? shared_->descriptor() : -1);
  answer_.words[0] = shared_ ? SharedPages::kBytes : 0;
}

bool Session::tell_places(std::uint64_t address, std::uint64_t pitch, std::uint64_t width, std::uint64_t height) {
  isa::DeviceMemory& memory = device_->memory();
  const std::uint64_t span = (height - 1) * pitch + width;
  if (!shared_ || is_constant(address) || !SharedPages::holds(address, span) || memory.computed(address, span)) {
    answer_.words[0] = 1;
    return false;
  }
  std::vector<cudart::Place> places;
  if (question_.call == cudart::Call::write) {
    for (std::uint64_t y = 0; y < height; ++y) memory.touch(address + y * pitch, width);
    places.push_back({address, span});
  } else {
    for (std::uint64_t x = 0; x < span; x += places.back().bytes) {
      bool stored = false;
      const std::uint64_t bytes = memory.alike(address + x, span - x, stored);
      places.push_back({stored ? address + x : cudart::kNowhere, bytes});
    }
  }
  const auto bytes = std::as_bytes(std::span(places));
  answer_bytes_.assign(bytes.begin(), bytes.end());
  return true;
}

void Session::write() {
  const auto [address, pitch, width, height, stream, a, b, c] = question_.words;
  const bool shared = (question_.flags & cudart::kShared) != 0;
  const bool direct = (question_.flags & cudart::kByAddress) != 0;
  if (!direct && !shared && width * height != bytes_.size()) {
    throw InternalError("a copy to the device brings another number of bytes");
  }
  require_memory(address, (height - 1) * pitch + width);
  if (shared) {
    if (!tell_places(address, pitch, width, height)) return;
  } else if (direct) {
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
  if ((question_.flags & cudart::kShared) != 0) {
    if (!tell_places(address, pitch, width, height)) return;
  } else if ((question_.flags & cudart::kByAddress) != 0) {
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
  // Piece by piece from memory that stays in the host's caches.
  std::vector<std::byte> piece(std::min(width, kPiece));
  std::memcpy(piece.data(), &value, std::min(element, piece.size()));
  for (std::uint64_t done = std::max<std::uint64_t>(element, 1); done < piece.size(); done *= 2) {
    std::memcpy(piece.data() + done, piece.data(), std::min(done, piece.size() - done));
  }
  for (std::uint64_t y = 0; y < height; ++y) {
    for (std::uint64_t x = 0; x < width; x += kPiece) {
      store(address + y * pitch + x, std::span(piece).first(std::min(kPiece, width - x)));
    }
  }
  transfer(stream, Engine::kernels, width * height);
}

void Session::copy() {
  const auto [to, to_pitch, from, from_pitch, width, height, stream, a] = question_.words;
  require_memory(to, (height - 1) * to_pitch + width);
  require_memory(from, (height - 1) * from_pitch + width);
  const std::uint64_t span = (height - 1) * std::max(to_pitch, from_pitch) + width;
  if (is_constant(to) || is_constant(from) || (to < from + span && from < to + span)) {
    std::vector<std::byte> rows(width * height);
    for (std::uint64_t y = 0; y < height; ++y) load(from + y * from_pitch, std::span(rows).subspan(y * width, width));
    for (std::uint64_t y = 0; y < height; ++y) store(to + y * to_pitch, std::span(rows).subspan(y * width, width));
  } else {
    isa::DeviceMemory& memory = device_->memory();
    for (std::uint64_t y = 0; y < height; ++y) {
      for (std::uint64_t x = 0; x < width;) {
        std::size_t length = 0;
        std::byte* const at = memory.direct(to + y * to_pitch + x, length);
        length = std::min<std::uint64_t>(length, width - x);
        memory.read(from + y * from_pitch + x, {at, length});
        x += length;
      }
    }
  }
  transfer(stream, Engine::kernels, 2 * width * height);  // read and written
}

void Session::memory() {
  answer_.words[0] = free_bytes();
  answer_.words[1] = machine_.gpu.memory_bytes();
}

}  // namespace heddle::tb::session
