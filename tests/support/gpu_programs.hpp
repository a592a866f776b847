// Programs with what the reference interpreter makes of them, as a campaign of hardware/: a GPU's own compiler and the
// GPU then run the programs, and the memory is compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace heddle::test {

// The kernel takes the addresses of both buffers and, where there is one, a number.
struct GpuProgram {
  // Elements of the output that are compared; none: every 32-bit word.
  struct Part {
    std::string name;
    std::uint64_t offset = 0, count = 0, stride = 0;  // bytes; elements
    std::string type;                                 // b16, b32, b64, f32, f64
    std::uint64_t ulps = 0;
  };
  std::string name, group, ptx, entry;
  unsigned grid = 1, block = 1;
  std::vector<std::byte> input, output;  // the output before the launch is zero; this is what it becomes
  std::optional<std::uint32_t> number;
  std::vector<Part> parts;
};

// The folder that HEDDLE_GPU_PROGRAMS names; none: programs are not wanted.
[[nodiscard]] std::optional<std::string> gpu_programs_folder();

// Writes LIST.json and the programs' files beside it; the folder is made. Throws std::runtime_error.
void write_gpu_programs(const std::string& folder, const std::string& list, std::span<const GpuProgram> programs);

}  // namespace heddle::test
