// What NVIDIA's assembler makes of PTX, where a CUDA toolkit is installed: a yardstick for our compiler's code, for
// which alone it is used.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace heddle::cuda {

struct PtxasKernel {
  unsigned registers = 0;
  unsigned spilled_bytes = 0;    // of a thread, what is stored
  std::size_t instructions = 0;  // without the branch to itself and the NOPs behind the kernel's last instruction
};

// By kernel, for a GPU such as "sm_90". `file` names the text in messages; a .target that is older than sm_75 is taken
// for that, which is the oldest that ptxas of CUDA 13 knows. The program
// is $HEDDLE_PTXAS when set, else ptxas on PATH, else that of /usr/local/cuda. Throws InputError: there is none, or the
// first error that it reports.
[[nodiscard]] std::map<std::string, PtxasKernel> assemble(const std::string& ptx, const std::string& file,
                                                          const std::string& gpu);

// The parts of assemble(): the instructions of each kernel in an object file (64-bit ELF, a section .text.KERNEL each,
// instructions of 16 bytes), and what `ptxas -v` says about registers and spills. Throws InputError, which names
// `file`, for what is no such object.
[[nodiscard]] std::map<std::string, std::size_t> count_instructions(std::span<const std::byte> object,
                                                                    const std::string& file);
[[nodiscard]] std::map<std::string, PtxasKernel> read_report(std::string_view report);

}  // namespace heddle::cuda
