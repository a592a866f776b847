// A CUDA program as what a run runs: a process of its own, whose run-time calls are carried out on the device of the
// run.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hw/parameters/machine.hpp"
#include "os/files/temporary_folder.hpp"
#include "os/process/child_process.hpp"
#include "tb/measure/subject.hpp"
#include "tb/session/session.hpp"

namespace heddle::tb {

class SessionSubject final : public Subject {
 public:
  struct Setup {
    std::vector<std::string> words;  // the program and its arguments
    std::optional<int> attached;     // the socket of a program that has been started by itself
    bool ends_on_fault = true;       // else it gets error codes and goes on
    hw::Machine machine;
    ptx::CodeOptions code;
    const std::atomic<bool>* interrupted = nullptr;  // as DeviceOptions has it
    std::optional<os::ProcessEnd>* ended = nullptr;  // takes how a program that was started here has ended
  };
  explicit SessionSubject(Setup setup);
  ~SessionSubject() override;

  [[nodiscard]] const std::string& name() const override { return setup_.words.front(); }
  // Starts the program, and returns when it first wants the device, or has ended without. Throws InputError for a
  // program that cannot be started or device code that cannot be compiled.
  [[nodiscard]] isa::Module compile(std::vector<std::string>* notes,
                                    const std::atomic<bool>* interrupted) const override;
  [[nodiscard]] std::uint64_t threads() const override;
  [[nodiscard]] std::optional<double> scale() const override { return std::nullopt; }
  [[nodiscard]] std::optional<std::uint64_t> seed() const override { return std::nullopt; }
  [[nodiscard]] unsigned address_bits() const override { return 64; }
  [[nodiscard]] bool order_dependent() const override { return false; }
  void attach(Device& device) override { device_ = &device; }
  [[nodiscard]] PrintText takes_print() override;
  [[nodiscard]] std::vector<session::LaunchSummary> launches() const override;
  [[nodiscard]] session::SimulationTime simulation_time() const override;
  [[nodiscard]] bool called() const override { return session_ != nullptr; }
  [[nodiscard]] bool may_simulate_nothing() const override { return true; }
  // Serves the program until it ends; its result is its own to check.
  [[nodiscard]] Verdict run(Executor& executor, const std::optional<std::string>& output_directory) override;

 private:
  // The program's connection; none when it ends without.
  [[nodiscard]] std::optional<int> start() const;
  void wait() const;

  Setup setup_;
  Device* device_ = nullptr;
  mutable std::optional<os::TemporaryFolder> folder_;  // of the socket
  mutable std::optional<os::ChildProcess> child_;
  mutable std::unique_ptr<session::Session> session_;
  mutable session::Listener run_;  // there as long as the run is
};

}  // namespace heddle::tb
