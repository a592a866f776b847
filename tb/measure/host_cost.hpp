// What a run costs the host. None of this enters stats.json.
#pragma once

#include <cstdint>

#include "tb/device/executor.hpp"

namespace heddle::tb {

struct HostCost {
  double wall_seconds = 0;
  double cpu_seconds = 0;
  double simulation_wall_seconds = 0;
  double simulation_cpu_seconds = 0;
  std::uint64_t peak_memory_bytes = 0;
  std::uint64_t device_memory_bytes = 0;

  // The one declaration: visit(name, field, unit, meaning), of a HostCost or a const one.
  template <class Cost, class Visitor>
  static void describe(Cost& cost, Visitor&& visit) {
    visit("wall_seconds", cost.wall_seconds, "s", "the whole run: inputs, launches, check");
    visit("cpu_seconds", cost.cpu_seconds, "s", "of the run's process, over the same time");
    visit("simulation_wall_seconds", cost.simulation_wall_seconds, "s", "inside launches");
    visit("simulation_cpu_seconds", cost.simulation_cpu_seconds, "s", "inside launches");
    visit("peak_memory_bytes", cost.peak_memory_bytes, "bytes", "largest resident set");
    visit("device_memory_bytes", cost.device_memory_bytes, "bytes", "device memory touched");
  }
};

// Seconds since some fixed moment; CPU time (user and system) of this process, and of its children that have ended.
[[nodiscard]] double wall_clock();
[[nodiscard]] double cpu_clock();
// A run that goes on in another process, whose clocks are other ones: they go on from what they were.
struct Clocks {
  double wall = 0;
  double cpu = 0;
};
[[nodiscard]] Clocks clocks();
void continue_clocks(const Clocks& then);
[[nodiscard]] double children_cpu_clock();
[[nodiscard]] std::uint64_t peak_memory();

// Times the launches of another executor.
class TimedExecutor final : public Executor {
 public:
  explicit TimedExecutor(Executor& executor) : executor_(executor) {}
  [[nodiscard]] isa::DeviceMemory& memory() override { return executor_.memory(); }
  void load(isa::Module module) override { executor_.load(std::move(module)); }
  [[nodiscard]] const isa::Module& module() const override { return executor_.module(); }
  void set_constants(std::uint64_t offset, std::span<const std::byte> bytes) override {
    executor_.set_constants(offset, bytes);
  }
  void check(const isa::LaunchRequest& request) const override { executor_.check(request); }
  void launch(const isa::LaunchRequest& request) override;
  [[nodiscard]] const isa::RetirementHash& retirement() const override { return executor_.retirement(); }
  void plan(const Plan& plan) override { executor_.plan(plan); }
  void show(const Picture& picture) override { executor_.show(picture); }

  [[nodiscard]] double wall_seconds() const { return wall_seconds_; }
  [[nodiscard]] double cpu_seconds() const { return cpu_seconds_; }

 private:
  Executor& executor_;
  double wall_seconds_ = 0;
  double cpu_seconds_ = 0;
};

}  // namespace heddle::tb
