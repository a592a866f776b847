// What runs kernels: the model (tb/device/device.hpp) or the reference interpreter, behind one interface, so that a
// workload or a LAUNCH.toml runs on either.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "isa/device_memory.hpp"
#include "isa/interpreter.hpp"
#include "isa/module.hpp"
#include "isa/print.hpp"
#include "isa/retirement.hpp"

namespace heddle::tb {

struct Picture;

// Receives what a launch has printed (isa/print.hpp) when it ends, also by a fault or a stop; not called for nothing.
using PrintText = std::function<void(const std::string&)>;

class Executor {
 public:
  virtual ~Executor() = default;
  [[nodiscard]] virtual isa::DeviceMemory& memory() = 0;
  // Replaces the loaded module: its code and variables appear in device memory.
  virtual void load(isa::Module module) = 0;
  [[nodiscard]] virtual const isa::Module& module() const = 0;
  // Replaces bytes of the loaded module's constant bank from byte `offset` on, for the launches from now on. They must
  // lie within it.
  virtual void set_constants(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
  // Throws InputError when launch() would refuse the request, or end in a fault because no core has room for a block.
  // What a request's parameters hold does not matter. A default that finds nothing: launch() looks all the same.
  virtual void check(const isa::LaunchRequest& /*request*/) const {}
  // Runs one kernel to its end. Throws InputError when the request does not fit the kernel or the machine, and
  // SimulatedFault (whole message) when the simulated program faults.
  virtual void launch(const isa::LaunchRequest& request) = 0;
  [[nodiscard]] virtual const isa::RetirementHash& retirement() const = 0;

  // What a program that knows it says before its first launch, for progress: how many launches there will be, their
  // thread blocks in all, and, from a recording, their thread instructions (0: not known). Changes nothing else.
  struct Plan {
    std::uint64_t launches = 0;
    std::uint64_t blocks = 0;
    std::uint64_t thread_instructions = 0;
  };
  virtual void plan(const Plan& /*plan*/) {}
  // A picture that the program has made, for who watches the run (show_picture, tb/device/picture.hpp). Changes nothing
  // else.
  virtual void show(const Picture& /*picture*/) {}
};

// set_constants() of an executor that has the module.
void replace_constants(isa::Module& module, std::uint64_t offset, std::span<const std::byte> bytes);
// Throws InputError for a request that no machine can launch.
void check_launch(const isa::Module& module, const isa::LaunchRequest& request);

// Runs on isa::interpret.
class ReferenceExecutor final : public Executor {
 public:
  explicit ReferenceExecutor(isa::InterpreterOptions options = {});
  [[nodiscard]] isa::DeviceMemory& memory() override { return memory_; }
  void load(isa::Module module) override;
  [[nodiscard]] const isa::Module& module() const override { return module_; }
  void set_constants(std::uint64_t offset, std::span<const std::byte> bytes) override;
  void check(const isa::LaunchRequest& request) const override { check_launch(module_, request); }
  void launch(const isa::LaunchRequest& request) override;
  [[nodiscard]] const isa::RetirementHash& retirement() const override { return hash_; }
  // The warp size of each launch, 1 to 32, instead of the options' for all.
  using WarpSizeOf = std::function<unsigned(const isa::Module&, const isa::Kernel&)>;
  void choose_warp_size(WarpSizeOf warp_size_of) { warp_size_of_ = std::move(warp_size_of); }
  void on_print(PrintText print) { print_ = std::move(print); }
  [[nodiscard]] std::uint64_t thread_instructions() const { return thread_instructions_; }
  [[nodiscard]] std::uint64_t warp_instructions() const { return warp_instructions_; }
  // Without the trap (InterpreterOptions), of all launches.
  [[nodiscard]] const std::vector<isa::StrayLoads>& stray_loads() const { return stray_loads_; }

 private:
  isa::InterpreterOptions options_;
  WarpSizeOf warp_size_of_;
  isa::DeviceMemory memory_;
  isa::Module module_;
  isa::RetirementHash hash_;
  isa::PrintBuffer prints_;
  PrintText print_;
  std::uint64_t thread_instructions_ = 0;
  std::uint64_t warp_instructions_ = 0;
  std::vector<isa::StrayLoads> stray_loads_;
};

}  // namespace heddle::tb
