// How what a launch needs lies in device memory: a kernel's instructions, and, for machines with constant caches, a
// copy of its parameters and of the module's constants. Hosts write it so, and the GPU fetches it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isa/instruction.hpp"

namespace heddle::isa {

// The kernel's instruction words as they lie from its code address on, of 8 or 16 bytes each.
[[nodiscard]] inline std::vector<std::uint64_t> code_image(std::span<const InstructionWord> words,
                                                           unsigned instruction_bytes) {
  const std::size_t step = instruction_bytes / sizeof(std::uint64_t);
  std::vector<std::uint64_t> image(words.size() * step);
  for (std::size_t word = 0; word != words.size(); ++word) {
    image[word * step] = words[word].low;
    if (step > 1) {
      image[word * step + 1] = words[word].high;
    }
  }
  return image;
}

inline constexpr std::uint64_t kBankAlignment = 256;  // of the addresses below, in bytes

// Where copies of a launch's parameters and of the module's constants lie.
struct BankPlaces {
  std::uint64_t parameters = 0;
  std::uint64_t constants = 0;
  std::uint64_t end = 0;  // whose next ones may begin here
};
// From `start` on, a multiple of kBankAlignment.
[[nodiscard]] constexpr BankPlaces place_banks(std::uint64_t start, std::uint64_t parameter_bytes,
                                               std::uint64_t constant_bytes) {
  const auto behind = [](std::uint64_t at, std::uint64_t bytes) {
    return at + (bytes + kBankAlignment - 1) / kBankAlignment * kBankAlignment;
  };
  BankPlaces places;
  places.parameters = start;
  places.constants = behind(start, parameter_bytes);
  places.end = behind(places.constants, constant_bytes);
  return places;
}

}  // namespace heddle::isa
