// What a StoragePort keeps of an access by transport; for its own files only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "hw/dram/storage_port.hpp"

namespace heddle::hw {

[[nodiscard]] inline std::byte* bytes_of(::tlm::tlm_generic_payload& payload) {
  return reinterpret_cast<std::byte*>(payload.get_data_ptr());
}

// One access by transport: one transfer, or several when byte enables or an atomic need them.
struct StoragePort::Job {
  enum class State : std::uint8_t { waiting, sent, answered };
  // What goes out next, or is under way.
  struct Transfer {
    ::tlm::tlm_command command = ::tlm::TLM_READ_COMMAND;
    WritePiece bytes;           // of the request's
    std::byte* line = nullptr;  // to the request's first byte
  };

  explicit Job(std::uint32_t number) : index(number) {}
  void begin(DramRequest& of);

  const std::uint32_t index;
  DramRequest* request = nullptr;
  State state = State::waiting;
  Transfer transfer;
  link::LinePayload* payload = nullptr;  // of the transfer under way
  Caller* caller = nullptr;              // that makes its blocking call
  Cycle since = 0;                       // sent: in this cycle
  Cycle visible = 0;                     // answered: the cycle in which that counts
  bool owes_end = false;                 // answered: END_RESP is owed
  bool over = false;                     // answered: nothing left to do
  bool read = false;                     // the transfer that reads has been decided on
  bool stepped = false;                  // atomic: the line was read and stepped
  std::byte* data = nullptr;             // of writes
  std::uint8_t* enable = nullptr;        // of writes: byte enables...
  unsigned enable_length = 0;            // ... which repeat after this many
  unsigned cursor = 0;                   // the byte at which the next piece is looked for
  // Of atomics.
  std::array<std::byte, link::kMaxLineBytes> line;
  std::array<std::uint8_t, link::kMaxLineBytes> touched;
};

inline void StoragePort::Job::begin(DramRequest& of) {
  request = &of;
  state = State::waiting;
  since = visible = 0;
  over = read = stepped = false;
  data = nullptr;
  enable = nullptr;
  enable_length = cursor = 0;
  if (of.write) {
    data = bytes_of(*of.payload);
    enable = of.payload->get_byte_enable_ptr();
    enable_length = of.payload->get_byte_enable_length();
  } else if (of.atomic) {
    touched.fill(0);
    data = line.data();
    enable = touched.data();
    enable_length = of.payload->get_data_length();
  }
}

}  // namespace heddle::hw
