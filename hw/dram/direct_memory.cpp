// Direct memory: the ranges that a memory has granted or refused, and accesses through them.
#include <cstring>

#include "hw/dram/storage_job.hpp"
#include "hw/dram/storage_port.hpp"
#include "tlm/atomic_lanes.hpp"
#include "tlm/byte_enables.hpp"

namespace heddle::hw {

const DirectMemory::Range* DirectMemory::find(std::uint64_t address, std::uint64_t& begin) {
  const std::uint64_t granule = address >> kGranuleBits;
  Entry& entry = entries_[granule % kEntries];
  if (entry.granule == granule) {
    begin = entry.begin;
    return entry.range;
  }
  auto after = ranges_.upper_bound(address);
  if (after == ranges_.begin()) {
    return nullptr;
  }
  --after;
  const Range& range = after->second;
  if (address > range.end) {
    return nullptr;
  }
  begin = after->first;
  const std::uint64_t first = granule << kGranuleBits;
  if (begin <= first && range.end >= first + ((std::uint64_t{1} << kGranuleBits) - 1)) {
    entry = {granule, begin, &range};
  }
  return &range;
}

void DirectMemory::add(std::uint64_t begin, const Range& range) {
  invalidate(begin, range.end);
  ranges_[begin] = range;
}

// What the memory takes back takes whole ranges with it: they are asked for again when needed.
void DirectMemory::invalidate(std::uint64_t begin, std::uint64_t end) {
  auto at = ranges_.upper_bound(begin);
  if (at != ranges_.begin()) {
    --at;
  }
  bool removed = false;
  while (at != ranges_.end() && at->first <= end) {
    if (at->second.end < begin) {
      ++at;
      continue;
    }
    at = ranges_.erase(at);
    removed = true;
  }
  if (removed) {
    entries_.fill(Entry{});
  }
}

void DirectMemory::hinted(std::uint64_t address, bool write) {
  std::uint64_t begin = 0;
  const Range* const range = find(address, begin);
  if (range != nullptr && (range->pointer == nullptr || !(write ? range->writable : range->readable))) {
    invalidate(address, address);
  }
}

// ------------------------------------------------------------------------------------------------------ the port's

std::byte* StoragePort::direct_pointer(std::uint64_t address, unsigned length, bool read, bool write,
                                       sc_core::sc_time& latency) {
  std::uint64_t begin = 0;
  const DirectMemory::Range* range = direct_.find(address, begin);
  if (range == nullptr) {
    question_.set_command(write ? ::tlm::TLM_WRITE_COMMAND : ::tlm::TLM_READ_COMMAND);
    question_.set_address(address);
    ::tlm::tlm_dmi dmi;
    const bool granted = socket_->get_direct_mem_ptr(question_, dmi);
    DirectMemory::Range answer;
    begin = dmi.get_start_address();
    answer.end = dmi.get_end_address();
    if (begin > address || answer.end < address) {  // says nothing about this address: refused for this line
      begin = address;
      answer.end = address + length - 1;
    } else if (granted) {
      answer.pointer = reinterpret_cast<std::byte*>(dmi.get_dmi_ptr());
      answer.readable = dmi.is_read_allowed();
      answer.writable = dmi.is_write_allowed();
      answer.read_latency = dmi.get_read_latency();
      answer.write_latency = dmi.get_write_latency();
    }
    direct_.add(begin, answer);
    range = direct_.find(address, begin);
  }
  if (range->pointer == nullptr || (read && !range->readable) || (write && !range->writable) ||
      range->end - address < length - 1) {
    return nullptr;
  }
  if (read) {
    latency += range->read_latency;
  }
  if (write) {
    latency += range->write_latency;
  }
  return range->pointer + (address - begin);
}

void StoragePort::prefetch(const DramRequest& request) {
  std::uint64_t begin = 0;
  const std::uint64_t address = request.payload->get_address();
  const DirectMemory::Range* const range = direct_.find(address, begin);
  if (range == nullptr || range->pointer == nullptr || range->end - address < line_bytes_) {
    return;
  }
  constexpr unsigned kHostLine = 64;
  const std::byte* const memory = range->pointer + (address - begin);
  for (unsigned offset = 0; offset < line_bytes_; offset += kHostLine) {
    __builtin_prefetch(memory + offset);
  }
}

bool StoragePort::access_directly(DramRequest& request, sc_core::sc_time& delay) {
  ::tlm::tlm_generic_payload& payload = *request.payload;
  const unsigned length = payload.get_data_length();
  const bool read = request.atomic || !request.write;
  const bool write = request.atomic || request.write;
  std::byte* const memory = direct_pointer(payload.get_address(), length, read, write, delay);
  if (memory == nullptr) {
    return false;
  }
  if (request.atomic) {
    link::step_lanes(*request.extension->atomic, memory, nullptr);
  } else if (!request.write) {
    std::memcpy(payload.get_data_ptr(), memory, length);
  } else if (payload.get_byte_enable_ptr() == nullptr) {
    std::memcpy(memory, payload.get_data_ptr(), length);
  } else if (payload.get_byte_enable_length() >= length) {
    link::merge_bytes(memory, bytes_of(payload), payload.get_byte_enable_ptr(), length);
  } else {
    for (unsigned i = 0; i != length; ++i) {
      if (payload.get_byte_enable_ptr()[i % payload.get_byte_enable_length()] != 0) {
        memory[i] = bytes_of(payload)[i];
      }
    }
  }
  payload.set_response_status(::tlm::TLM_OK_RESPONSE);
  return true;
}

void StoragePort::invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) {
  direct_.invalidate(start, end);
}

}  // namespace heddle::hw
