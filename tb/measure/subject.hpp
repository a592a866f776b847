// What a run runs: a registered workload or a user's LAUNCH.toml, behind one face.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tb/device/device.hpp"
#include "tb/device/workload.hpp"
#include "tb/session/launch_summary.hpp"

namespace heddle::tb {

class Subject {
 public:
  virtual ~Subject() = default;
  [[nodiscard]] virtual const std::string& name() const = 0;
  // `notes`, if there, takes what a user should know of how a LAUNCH.toml's kernels were read.
  // Throws ptx::Interrupted while `interrupted`, if there, is set.
  [[nodiscard]] virtual isa::Module compile(std::vector<std::string>* notes = nullptr,
                                            const std::atomic<bool>* interrupted = nullptr) const = 0;
  [[nodiscard]] virtual std::uint64_t threads() const = 0;  // of the largest launch
  [[nodiscard]] virtual std::optional<double> scale() const = 0;
  [[nodiscard]] virtual std::optional<std::uint64_t> seed() const = 0;
  [[nodiscard]] virtual unsigned address_bits() const = 0;
  // True when retirement hashes may differ between machines.
  [[nodiscard]] virtual bool order_dependent() const = 0;
  // Of a LAUNCH.toml: what run() writes, below its output directory.
  [[nodiscard]] virtual std::vector<std::string> output_files() const { return {}; }
  // Told of the device before run(), for who needs more of it than an executor has.
  virtual void attach(Device& /*device*/) {}
  // Where it wants what kernels print, if not where the run's options say.
  [[nodiscard]] virtual PrintText takes_print() { return {}; }
  // The launches of the run, where the program alone knows them: for its statistics.
  [[nodiscard]] virtual std::vector<session::LaunchSummary> launches() const { return {}; }
  // What simulating took, besides what the executor of run() was told to launch.
  [[nodiscard]] virtual session::SimulationTime simulation_time() const { return {}; }
  // Whether it has come to the device at all, which a program may do without.
  [[nodiscard]] virtual bool called() const { return true; }
  // Which launches there are depends on the subject: that none was simulated is no error of the run.
  [[nodiscard]] virtual bool may_simulate_nothing() const { return false; }
  // `executor` has the module of compile() loaded; `output_directory` takes a LAUNCH.toml's output files.
  [[nodiscard]] virtual Verdict run(Executor& executor, const std::optional<std::string>& output_directory) = 0;
};

// A workload by name and variants (make_workload), a LAUNCH.toml when the name ends in ".toml", or a recorded trace
// when it ends in ".trace" (TraceSubject, which needs to be the device's replay source). Throws InputError with the
// nearest name. `options` apply to workloads; a LAUNCH.toml takes the code's only.
[[nodiscard]] std::unique_ptr<Subject> make_subject(const std::string& name, const WorkloadOptions& options);
// A LAUNCH.toml's, whose kernels have been compiled to this PTX; null: they have not.
[[nodiscard]] std::unique_ptr<Subject> make_launch_subject(const std::string& path, const WorkloadOptions& options,
                                                           std::shared_ptr<const std::string> ptx);

}  // namespace heddle::tb
