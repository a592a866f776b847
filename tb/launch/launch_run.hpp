// One run of a LAUNCH.toml on an executor.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tb/device/executor.hpp"
#include "tb/device/workload.hpp"
#include "tb/launch/description.hpp"
#include "tb/launch/storage.hpp"

namespace heddle::tb::launch {

class LaunchRun {
 public:
  // Checks every step against the loaded kernels; nothing is allocated yet. Throws InputError.
  LaunchRun(const Description& description, Executor& executor);

  void fill();  // allocates the buffers and gives them their contents
  void run();   // the steps in order
  void show();  // the buffers that are pictures, as they are now
  [[nodiscard]] Verdict compare() const;
  void write(const std::string& directory) const;

 private:
  void check(const Step& step) const;
  void check(const Step& step, std::size_t number, const isa::Kernel& kernel) const;  // an argument
  // Whether the machine has room for it.
  void check_room(const Step& step, const isa::Kernel& kernel) const;
  void run(const Step& step);
  void run_once(const Step& step);
  void launch(const Step& step);
  void copy(const Step& step);
  void patch(const Argument::Patch& patch, std::span<std::uint8_t> argument) const;
  [[nodiscard]] Number value_of(const Counted& counted, bool real) const;
  [[nodiscard]] std::uint64_t begin_of(const Step::Range& range) const;
  [[nodiscard]] Element element(const Condition& condition) const;
  [[nodiscard]] bool holds(const Condition& condition) const;
  [[nodiscard]] bool go_on(const Loop& loop, std::uint64_t passes);
  [[nodiscard]] std::string contents(std::size_t buffer) const;
  // The first difference, or nothing.
  [[nodiscard]] std::optional<std::string> difference(const Output& output) const;

  const Description& description_;
  Executor& executor_;
  Storage storage_;
  std::vector<std::uint64_t> passes_;  // done in each of the loops around the present step, the outermost first
};

}  // namespace heddle::tb::launch
