// What a run costs the host. None of this enters stats.json.
#pragma once

#include <cstdint>

#include "tb/executor.hpp"

namespace heddle::tb {

struct HostCost {
  double wall_seconds = 0;             // the whole run: inputs, launches, check
  double cpu_seconds = 0;              // of this process, over the same time
  double simulation_wall_seconds = 0;  // inside launches
  double simulation_cpu_seconds = 0;
  std::uint64_t peak_memory_bytes = 0;    // largest resident set of this process
  std::uint64_t device_memory_bytes = 0;  // device memory touched
};

// Seconds since some fixed moment; CPU time of this process (user and system).
[[nodiscard]] double wall_clock();
[[nodiscard]] double cpu_clock();
[[nodiscard]] std::uint64_t peak_memory();

// Times the launches of another executor.
class TimedExecutor final : public Executor {
 public:
  explicit TimedExecutor(Executor& executor) : executor_(executor) {}
  [[nodiscard]] isa::DeviceMemory& memory() override { return executor_.memory(); }
  void load(isa::Module module) override { executor_.load(std::move(module)); }
  [[nodiscard]] const isa::Module& module() const override { return executor_.module(); }
  void launch(const isa::LaunchRequest& request) override;
  [[nodiscard]] const isa::RetirementHash& retirement() const override { return executor_.retirement(); }

  [[nodiscard]] double wall_seconds() const { return wall_seconds_; }
  [[nodiscard]] double cpu_seconds() const { return cpu_seconds_; }

 private:
  Executor& executor_;
  double wall_seconds_ = 0;
  double cpu_seconds_ = 0;
};

}  // namespace heddle::tb
