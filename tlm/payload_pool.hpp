// Generic payloads from a pool: reference-counted (tlm_mm_interface), each with room for one line of data and byte
// enables and with its MemoryExtension in place, so that a request beyond the core allocates nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tlm>
#include <vector>

#include "tlm/memory_extension.hpp"

namespace heddle::link {

inline constexpr std::size_t kMaxLineBytes = 128;  // the largest cache line that a machine may have

// A payload of a pool. `tag` is its owner's: what to do when the response comes.
struct LinePayload : ::tlm::tlm_generic_payload {
  explicit LinePayload(::tlm::tlm_mm_interface* pool);
  ~LinePayload() override;

  std::uint32_t tag = 0;
  MemoryExtension extension;
  alignas(32) std::array<std::byte, kMaxLineBytes> data;
  alignas(32) std::array<std::uint8_t, kMaxLineBytes> enable;
};

class PayloadPool final : public ::tlm::tlm_mm_interface {
 public:
  PayloadPool() = default;
  PayloadPool(const PayloadPool&) = delete;
  PayloadPool& operator=(const PayloadPool&) = delete;

  // A payload with one reference, pointing at its own data, no byte enables, incomplete response, no DMI hint. The
  // extension's fields are what their owner left in them: write them all.
  [[nodiscard]] LinePayload& acquire(::tlm::tlm_command command, std::uint64_t address, unsigned length);
  // Called by the payload when its last reference is released.
  void free(::tlm::tlm_generic_payload* payload) override;

  [[nodiscard]] std::size_t made() const { return payloads_.size(); }
  [[nodiscard]] std::size_t in_use() const { return payloads_.size() - free_.size(); }

 private:
  std::vector<std::unique_ptr<LinePayload>> payloads_;
  std::vector<LinePayload*> free_;
};

}  // namespace heddle::link
