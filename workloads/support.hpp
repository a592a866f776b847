// What the workloads' host sides share: the compiled kernel, buffers, comparison, random numbers.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "isa/module.hpp"
#include "tb/device/arguments.hpp"
#include "tb/device/executor.hpp"
#include "tb/device/workload.hpp"

namespace heddle::workloads {

// A workload whose kernels stand in workloads/<name>/kernel.cu, and in pthreads.cu beside it where it knows the
// variant `pthreads`: the form in which the LWM report (section 5) and the thesis (5.1) ran theirs. progress.cu, of the
// variant `progress`, is kernel.cu with calls of progress() (thesis 9.2.2). dws.cu, of the variant `dws`, has the DWS
// report's input (table 2) and its form (section 3.1), parallel loops, which workloads that are the report's alone
// have by themselves. textures.cu, of the variant `textures`, is kernel.cu with what it only reads as textures.
class KernelWorkload : public tb::Workload {
 public:
  static constexpr unsigned kBlock = 256;  // threads per block: four blocks fill the papers' 1024 threads

  static constexpr std::string_view kPthreads = "pthreads";
  static constexpr std::string_view kProgress = "progress";
  static constexpr std::string_view kDws = "dws";
  static constexpr std::string_view kTextures = "textures";
  static constexpr std::string_view kInterleaved =
      "interleaved";                           // of parallel loops: how tasks are dealt (parallel_for.h)
  static constexpr unsigned kGroup = 64;       // threads of a block of a parallel loop, as in parallel_for.h
  static constexpr unsigned kLine = 128;       // bytes of a line of the report's caches
  static constexpr unsigned kMostTeam = 1024;  // threads of a launch in the Pthreads form: the papers', and a block's

  enum class Loops : std::uint8_t { by_variant, always };  // parallel loops, of a divisor of kGroup threads a block

  KernelWorkload(std::string name, const tb::WorkloadOptions& options, std::vector<tb::Variants::Known> variants = {},
                 Loops loops = Loops::by_variant);
  [[nodiscard]] isa::Module compile() const override;

 protected:
  [[nodiscard]] const tb::WorkloadOptions& options() const { return options_; }
  [[nodiscard]] double scale() const { return options_.scale; }
  // Blocks of a launch that divides its work among options().resident_threads.
  [[nodiscard]] std::uint32_t blocks() const { return std::max(1U, options_.resident_threads / kBlock); }
  [[nodiscard]] std::uint32_t resident_threads() const { return blocks() * kBlock; }
  // The Pthreads form is asked for: a launch is one block of team() threads, the papers' 1024 or as many as a core
  // holds, a power of two.
  [[nodiscard]] bool pthreads() const { return variants_.flag(kPthreads); }
  [[nodiscard]] std::uint32_t team() const { return std::bit_floor(std::min(options_.core_threads, kMostTeam)); }
  // The form of the DWS report is asked for. A parallel loop is a launch of groups() blocks of group() threads: as many
  // as the machine holds, in blocks of 64, or what a core holds, a power of two.
  [[nodiscard]] bool dws() const { return variants_.flag(kDws); }
  [[nodiscard]] std::uint32_t group() const { return std::bit_floor(std::min(options_.core_threads, kGroup)); }
  [[nodiscard]] std::uint32_t groups() const { return std::max(1U, options_.resident_threads / group()); }
  [[nodiscard]] std::uint32_t loop_threads() const { return groups() * group(); }
  // Gap behind each run of `run` elements of a parallel loop's array, so that threads' runs begin an odd number of
  // kLine bytes apart: not at places that meet in few sets of a cache.
  [[nodiscard]] static std::uint32_t gap_behind(std::uint32_t run, std::uint32_t element_bytes) {
    const std::uint32_t lines = (run * element_bytes + kLine - 1) / kLine;
    return (lines | 1U) * (kLine / element_bytes) - run;
  }
  // `full` * scale, at least `least`, rounded up to a multiple of `step`.
  [[nodiscard]] std::uint32_t scaled(std::uint32_t full, std::uint32_t least, std::uint32_t step = 1) const;

  [[nodiscard]] std::uint64_t allocate(tb::Executor& executor, const std::string& buffer, std::uint64_t bytes) const;
  template <class T>
  [[nodiscard]] std::uint64_t upload(tb::Executor& executor, const std::string& buffer,
                                     const std::vector<T>& values) const {
    const std::uint64_t address = allocate(executor, buffer, values.size() * sizeof(T));
    executor.memory().write(address, std::as_bytes(std::span(values)));
    return address;
  }
  template <class T>
  [[nodiscard]] static std::vector<T> download(tb::Executor& executor, std::uint64_t address, std::size_t count) {
    std::vector<T> values(count);
    executor.memory().read(address, std::as_writable_bytes(std::span(values)));
    return values;
  }
  static void launch(tb::Executor& executor, const std::string& kernel, isa::Dim3 grid, isa::Dim3 block,
                     const tb::Arguments& arguments, std::uint32_t dynamic_shared = 0);
  // One launch in the Pthreads form; the kernel's last parameter, the number of threads, is added to `arguments`.
  void launch_team(tb::Executor& executor, const std::string& kernel, tb::Arguments& arguments) const;
  // One parallel loop; the kernel's last parameters, the number of tasks and how they are dealt, are added.
  void launch_loop(tb::Executor& executor, const std::string& kernel, tb::Arguments& arguments,
                   std::uint32_t tasks) const;
  [[nodiscard]] const tb::Variants& variants() const { return variants_; }

 private:
  std::string name_;
  tb::WorkloadOptions options_;
  tb::Variants variants_;
};

// Equal bit for bit? The verdict counts what was compared and shows the first difference.
template <class T>
[[nodiscard]] tb::Verdict compare(const std::string& what, const std::vector<T>& actual,
                                  const std::vector<T>& expected) {
  using Bits = std::array<std::byte, sizeof(T)>;
  std::size_t differences = actual.size() == expected.size() ? 0 : 1;
  std::size_t first = std::min(actual.size(), expected.size());
  for (std::size_t i = std::min(actual.size(), expected.size()); i-- > 0;) {
    if (std::bit_cast<Bits>(actual[i]) != std::bit_cast<Bits>(expected[i])) {
      ++differences;
      first = i;
    }
  }
  if (differences == 0) {
    return {true, fmt::format("{} {} {} the host's", actual.size(), what, actual.size() == 1 ? "equals" : "equal")};
  }
  if (first >= std::min(actual.size(), expected.size())) {
    return {false, fmt::format("{} {} instead of {}", actual.size(), what, expected.size())};
  }
  return {false, fmt::format("{} of {} {} differ from the host's, first [{}]: {} instead of {}", differences,
                             actual.size(), what, first, +actual[first], +expected[first])};
}

// Both right, or the first that is not.
[[nodiscard]] inline tb::Verdict both(tb::Verdict first, tb::Verdict second) {
  if (!first.correct) {
    return first;
  }
  if (!second.correct) {
    return second;
  }
  return {true, first.detail + "; " + second.detail};
}

}  // namespace heddle::workloads
