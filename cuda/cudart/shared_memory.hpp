// The program's own way to device memory: the file that it lies in (cuda/cudart/protocol.hpp, Call::share), into and
// out of which copies go without the simulator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cuda/cudart/protocol.hpp"

namespace heddle::cudart {

class SharedMemory {
 public:
  SharedMemory() = default;
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  // The file, of so many bytes; takes the descriptor over. False: it cannot be used.
  [[nodiscard]] bool open(int descriptor, std::uint64_t bytes);

  // Rows on the device: what lies from the first one's beginning to the last one's end, and how far apart they begin.
  struct Rows {
    std::span<const cudart::Place> places;
    std::uint64_t pitch = 0, width = 0, height = 0;
  };
  // False: memory that the program gives is not there, or not to be read or written. Some of it may have been copied.
  bool write(const Rows& to, const std::byte* from, std::uint64_t pitch);
  bool read(const Rows& from, std::byte* to, std::uint64_t pitch);

  // A system call copies without touching the mapping's pages, and the first touch of a page costs as much as copying
  // them by calls once, or on virtual machines thirty times. So the mapping is used where copies have come by for so
  // many times, counted per part of the file.
  static constexpr std::uint64_t kPart = 1U << 21U;  // bytes
  static constexpr std::uint64_t kTimes = 16;
  [[nodiscard]] bool uses_mapping(std::uint64_t offset) const { return copied_[offset / kPart] >= kTimes * kPart; }

 private:
  template <class Move>
  void each_piece(const Rows& rows, Move move);
  template <class Move>
  void each_part(std::uint64_t offset, std::uint64_t bytes, Move move);
  [[nodiscard]] bool still_open() const;

  int descriptor_ = -1;
  std::uint64_t device_ = 0, node_ = 0;  // which file it is
  std::byte* memory_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::vector<std::uint64_t> copied_;  // by system calls, for each part
};

}  // namespace heddle::cudart
