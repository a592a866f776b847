// The GPU's control socket: launch registers, parameter window, constant window.
#include <algorithm>
#include <cstring>

#include "hw/check/machine.hpp"
#include "hw/gpu/gpu.hpp"
#include "isa/launch_image.hpp"

namespace heddle::hw {

namespace {

std::uint64_t linear(const isa::Dim3& index, const isa::Dim3& size) {
  return (std::uint64_t{index.z} * size.y + index.y) * size.x + index.x;
}

bool inside(std::uint64_t address, unsigned length, std::uint64_t window, std::uint64_t bytes) {
  return address >= window && address - window < bytes && length <= bytes - (address - window);
}

const RegisterInfo* find_register(std::uint64_t offset) {
  const auto found = std::find_if(kRegisters.begin(), kRegisters.end(), [&](const RegisterInfo& info) {
    return info.offset == (offset & ~std::uint64_t{7});
  });
  return found == kRegisters.end() ? nullptr : &*found;
}

}  // namespace

std::uint64_t Gpu::read_register(std::uint32_t offset) const {
  const std::optional<isa::Fault>& fault = dispatcher_->fault();
  switch (static_cast<RegisterOffset>(offset)) {
    case RegisterOffset::status:
      return static_cast<std::uint64_t>(dispatcher_->status());
    case RegisterOffset::cycles:
      return dispatcher_->launch_cycles();
    case RegisterOffset::fault_kind:
      return fault ? static_cast<std::uint64_t>(fault->kind) + 1 : 0;
    case RegisterOffset::fault_pc:
      return fault ? fault->pc : 0;
    case RegisterOffset::fault_address:
      return fault ? fault->address : 0;
    case RegisterOffset::fault_block:
      return fault ? linear(fault->block, find_launch(fault->launch)->grid) : 0;
    case RegisterOffset::fault_thread:
      return fault ? linear(fault->thread, find_launch(fault->launch)->block) : 0;
    default:
      return registers_[offset / 8];
  }
}

const Launch* Gpu::find_launch(std::uint64_t id) const {
  const auto found =
      std::find_if(launches_.begin(), launches_.end(), [id](const Launch& launch) { return launch.id == id; });
  return found != launches_.end() ? &*found : &launches_.front();
}

bool Gpu::start() {
  const auto value = [this](RegisterOffset offset) { return registers_[static_cast<std::uint32_t>(offset) / 8]; };
  bool fits = true;  // the value into 32 bits
  const auto narrow = [&](RegisterOffset offset) {
    fits = fits && value(offset) <= ~std::uint32_t{0};
    return static_cast<std::uint32_t>(value(offset));
  };
  Launch next;
  next.code = code_;
  next.hashes = hashes_;
  next.prints = prints_;
  next.heap = heap_;
  next.id = started_;
  next.code_address = value(RegisterOffset::code_address);
  next.code_words = narrow(RegisterOffset::code_words);
  next.code_version = value(RegisterOffset::code_version);
  next.grid = {narrow(RegisterOffset::grid_x), narrow(RegisterOffset::grid_y), narrow(RegisterOffset::grid_z)};
  next.block = {narrow(RegisterOffset::block_x), narrow(RegisterOffset::block_y), narrow(RegisterOffset::block_z)};
  next.registers = narrow(RegisterOffset::registers);
  next.shared_bytes = narrow(RegisterOffset::shared_bytes);
  next.dynamic_shared = narrow(RegisterOffset::dynamic_shared);
  next.local_bytes = narrow(RegisterOffset::local_bytes);
  next.local_base = value(RegisterOffset::local_base);
  next.warp_size = narrow(RegisterOffset::warp_size);
  next.cooperative = (value(RegisterOffset::cooperative) & 1U) != 0;
  next.grid_workspace = value(RegisterOffset::grid_workspace);
  const std::uint32_t preferred = narrow(RegisterOffset::carve_out);
  next.carve_out = static_cast<int>(std::min(preferred, 101U)) - 1;
  if (next.warp_size == 0) {
    next.warp_size = machine_.core.warp_size;
  }
  const std::uint64_t parameter_bytes = value(RegisterOffset::parameter_bytes);
  const std::uint64_t constant_bytes = value(RegisterOffset::constant_bytes);
  next.parameter_base = value(RegisterOffset::parameter_base);
  next.constant_base = value(RegisterOffset::constant_base);
  const auto placed = [&](std::uint64_t base, std::uint64_t bytes) {
    return machine_.constant_cache.bytes == 0 || bytes == 0 || (base != 0 && base % isa::kBankAlignment == 0);
  };
  const auto possible = [](const isa::Dim3& dim, std::uint64_t most) {
    return dim.x != 0 && dim.y != 0 && dim.z != 0 && dim.x <= most && dim.y <= most / dim.x &&
           dim.z <= most / dim.x / dim.y;
  };
  const bool sane = fits && preferred <= 101 && possible(next.grid, std::uint64_t{1} << 40U) &&
                    possible(next.block, 1024) && next.code_words != 0 && next.code_address % 8 == 0 &&
                    next.registers <= most_registers(machine_) &&
                    why_no_warp_size(machine_.core, next.warp_size).empty() && parameter_bytes <= parameters_.size() &&
                    constant_bytes <= constants_.size() && placed(next.parameter_base, parameter_bytes) &&
                    placed(next.constant_base, constant_bytes);
  const bool joins = may_join();
  if (!sane || !(joins || quiet())) {
    return false;
  }
  next.parameters.assign(parameters_.begin(), parameters_.begin() + static_cast<std::ptrdiff_t>(parameter_bytes));
  next.constants.assign(constants_.begin(), constants_.begin() + static_cast<std::ptrdiff_t>(constant_bytes));
  if (!joins) {
    for (const auto& core : cores_) {
      core->forget_launch();
    }
    launches_.clear();
    strays_.clear();
    for (const auto& slice : l2_) {
      slice->forget_failed_write();
    }
    set_interrupt(false);
  }
  launches_.push_back(std::move(next));
  ++started_;
  dispatcher_->start(launches_.back());
  return true;
}

bool Gpu::write(std::uint64_t address, const unsigned char* data, unsigned length) {
  if (inside(address, length, kConstantWindow, kConstantWindowBytes)) {
    std::memcpy(constants_.data() + (address - kConstantWindow), data, length);
    return true;
  }
  if (inside(address, length, kParameterWindow, kParameterWindowBytes)) {
    std::memcpy(parameters_.data() + (address - kParameterWindow), data, length);
    return true;
  }
  const RegisterInfo* const info = find_register(address);
  if (info == nullptr || !info->writable || address % 8 + length > 8) {
    return false;
  }
  std::uint64_t& value = registers_[info->offset / 8];
  const std::uint64_t before = value;
  std::memcpy(reinterpret_cast<unsigned char*>(&value) + address % 8, data, length);
  if (info->offset == static_cast<std::uint32_t>(RegisterOffset::control)) {
    const bool wanted = (value & 1U) != 0 && address % 8 == 0;
    value = before & ~std::uint64_t{1};
    return !wanted || start();
  }
  return true;
}

bool Gpu::read(std::uint64_t address, unsigned char* data, unsigned length) const {
  if (inside(address, length, kConstantWindow, kConstantWindowBytes)) {
    std::memcpy(data, constants_.data() + (address - kConstantWindow), length);
    return true;
  }
  if (inside(address, length, kParameterWindow, kParameterWindowBytes)) {
    std::memcpy(data, parameters_.data() + (address - kParameterWindow), length);
    return true;
  }
  const RegisterInfo* const info = find_register(address);
  if (info == nullptr || address % 8 + length > 8) {
    return false;
  }
  const std::uint64_t value = read_register(info->offset);
  std::memcpy(data, reinterpret_cast<const unsigned char*>(&value) + address % 8, length);
  return true;
}

::tlm::tlm_response_status Gpu::access(::tlm::tlm_generic_payload& payload) {
  if (payload.get_byte_enable_ptr() != nullptr) {
    return ::tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  }
  if (payload.get_streaming_width() < payload.get_data_length()) {
    return ::tlm::TLM_BURST_ERROR_RESPONSE;
  }
  bool good = true;
  if (payload.is_write()) {
    good = write(payload.get_address(), payload.get_data_ptr(), payload.get_data_length());
  } else if (payload.is_read()) {
    good = read(payload.get_address(), payload.get_data_ptr(), payload.get_data_length());
  }
  return good ? ::tlm::TLM_OK_RESPONSE : ::tlm::TLM_ADDRESS_ERROR_RESPONSE;
}

void Gpu::b_transport(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  payload.set_response_status(access(payload));
  delay += clock_.cycles(1);
}

::tlm::tlm_sync_enum Gpu::nb_transport_fw(::tlm::tlm_generic_payload& payload, ::tlm::tlm_phase& phase,
                                          sc_core::sc_time& delay) {
  if (phase == ::tlm::END_RESP) {
    return ::tlm::TLM_COMPLETED;
  }
  b_transport(payload, delay);
  return ::tlm::TLM_COMPLETED;
}

unsigned Gpu::transport_dbg(::tlm::tlm_generic_payload& payload) {
  if (payload.is_read() && read(payload.get_address(), payload.get_data_ptr(), payload.get_data_length())) {
    return payload.get_data_length();
  }
  return 0;
}

}  // namespace heddle::hw
