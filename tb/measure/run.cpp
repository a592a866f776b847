#include "tb/measure/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "hw/divergence/divergence.hpp"
#include "hw/issue/discipline.hpp"
#include "hw/scalar/scalarisation.hpp"
#include "os/files/atomic_file.hpp"
#include "os/files/file_lock.hpp"
#include "ptx/refusal.hpp"
#include "tb/device/code_options.hpp"
#include "tb/device/placement.hpp"
#include "tb/measure/trace/recorder.hpp"
#include "tb/measure/trace_subject.hpp"
#include "tb/measure/version.hpp"

namespace heddle::tb {
namespace {

WorkloadOptions workload_options(const RunRequest& request) {
  WorkloadOptions options;
  options.scale = request.scale;
  options.seed = request.seed;
  options.address_bits = request.address_bits;
  options.code = code_options(request.machine);
  options.core_threads = request.machine.core.threads;
  options.resident_threads = request.machine.gpu.cores * request.machine.core.threads;
  return options;
}

// The interpreter runs warps of the launch's size where it can; a larger warp than the widest SIMD unit has no
// instruction that depends on the warp's size, so that any size serves as a yardstick.
ReferenceCheck compare_with_reference(const RunRequest& request, const RunOutcome& outcome,
                                      const std::string& printed) {
  const auto subject = make_subject(request.subject, workload_options(request));
  isa::InterpreterOptions options;
  options.trap_on_division_by_zero = request.machine.core.division_trap;
  options.trap_on_stray_load = request.machine.core.load_trap;
  ReferenceExecutor reference(options);
  reference.memory().set_placement(placement_of(request.machine.allocation));
  reference.choose_warp_size([&](const isa::Module& module, const isa::Kernel& kernel) {
    return std::min(launch_warp_size(module, kernel, request.machine.core), isa::kLanes);
  });
  std::string expected_print;
  reference.on_print([&](const std::string& text) { expected_print += text; });
  reference.load(subject->compile());
  Verdict verdict;
  try {
    verdict = subject->run(reference, std::nullopt);
  } catch (const SimulatedFault& fault) {
    return {false, fmt::format("the reference interpreter faults where the model does not: {}", fault.what())};
  }
  if (!verdict.correct) {
    return {false, "the reference interpreter's own result is wrong: " + verdict.detail};
  }
  if (subject->order_dependent()) {
    return {true, "results agree; instruction streams are not compared, as they depend on the order of atomics"};
  }
  if (printed != expected_print) {
    return {false, "the kernels print other text on the model than on the reference interpreter"};
  }
  const std::string expected = fmt::format("0x{:016x}", reference.retirement().total());
  const std::string& ours = outcome.record.summary.retirement_hash;
  if (expected != ours) {
    return {false, fmt::format("retirement hash {} on the model, {} on the reference interpreter", ours, expected)};
  }
  return {true, fmt::format("the retirement hash {} equals the reference interpreter's", ours)};
}

// A program whose every launch was interpreted has been measured in nothing.
void check_something_simulated(const RunRequest& request, const Subject& subject, const RunRecord& record) {
  std::uint64_t interpreted = 0;
  for (const auto& [kernel, launches] : record.selection->kernels()) {
    if (launches.simulated != 0) {
      return;
    }
    interpreted += launches.interpreted;
  }
  if (!record.complete) {
    return;
  }
  const std::string wrong = fmt::format("no launch was simulated, of {} of the program", interpreted);
  const std::string hint = "--from-launch N takes one of them, and --skip must leave a kernel";
  if (!subject.may_simulate_nothing()) {
    throw InputError({}, wrong, hint);
  }
  if (request.note && subject.called()) {
    request.note(wrong + "; " + hint);
  }
}

// What cannot be written is refused before the simulation rather than after it.
void check_outputs(const RunRequest& request, const Subject& subject) {
  if (request.output_directory) {
    std::vector<std::string> files = subject.output_files();
    files.insert(files.end(), kRunFiles.begin(), kRunFiles.end());
    for (const std::string& file : files) {
      const std::filesystem::path path = std::filesystem::path(*request.output_directory) / file;
      os::make_folder(path.parent_path().string());
      os::check_writable(path.string());
    }
  }
  for (const RunProduct* const product : request.products) {
    product->check();
  }
}

}  // namespace

RunOutcome run(const RunRequest& request) {
  const double wall_start = wall_clock();
  const double cpu_start = cpu_clock();
  const auto subject = request.make_subject ? request.make_subject(workload_options(request))
                                            : make_subject(request.subject, workload_options(request));
  std::vector<std::string> notes;
  isa::Module module;
  bool interrupted = false;  // before there was anything to run
  try {
    module = subject->compile(&notes, request.device.interrupted);
  } catch (const ptx::Interrupted&) {
    interrupted = true;
  }
  for (const std::string& note : notes) {
    if (request.note) request.note(note);
  }
  std::optional<os::FolderLock> lock;
  if (request.output_directory) {
    os::make_folder(*request.output_directory);
    lock.emplace(*request.output_directory, "another run");
  }
  check_outputs(request, *subject);
  DeviceOptions options = request.device;
  for (RunProduct* const product : request.products) {
    if (RunObserver* const observer = product->observer(); observer != nullptr) {
      options.observers.push_back(observer);
    }
  }
  auto* const trace = dynamic_cast<TraceSubject*>(subject.get());
  if (trace != nullptr) {
    trace->check(request.machine);
    options.replay = trace;
  }
  std::optional<TraceRecorder> recorder;
  if (request.record != nullptr) {
    if (hw::about<hw::Scalarisation>(request.machine.core.scalar).traits.finds) {
      throw InputError({}, "a trace is recorded thread by thread, which core.scalar executes together",
                       "record with core.scalar = \"none\"");
    }
    if (hw::about<hw::Divergence>(request.machine.core.divergence).traits.global_pool != nullptr) {
      throw InputError(
          {},
          fmt::format("a trace is recorded block by block, and with core.divergence = \"{}\" no core has blocks",
                      request.machine.core.divergence),
          "record with core.divergence = \"stack\", as threads do the same on every machine, and replay");
    }
    options.observers.push_back(&recorder.emplace(*request.record));
  }
  std::string printed;
  if (request.check_reference) {
    options.print = [&printed, further = options.print](const std::string& text) {
      printed += text;
      if (further) {
        further(text);
      }
    };
  }
  if (PrintText print = subject->takes_print()) {
    options.print = std::move(print);
  }
  std::optional<PowerSampler> power;
  if (request.power) {
    if (!request.energy) {
      throw InputError({"--power"}, "power needs the energies of what happens, and no energy table is given",
                       "name one: --energy TABLE");
    }
    options.sampler = &power.emplace(*request.energy, *request.power);
  }
  const unsigned threads = options.threads;
  Device device(request.machine, std::move(options));
  if (device.threads() < threads && request.threads_chosen && request.note) {
    request.note("one host thread simulates, since what watches the run hears of all its modules");
  }
  subject->attach(device);
  TimedExecutor timed(device);

  RunOutcome outcome;
  RunRecord& record = outcome.record;
  record.machine = request.machine;
  record.command = request.command;
  record.workload = subject->name();
  record.threads = subject->threads();
  record.scale = subject->scale();
  record.seed = subject->seed();
  record.address_bits = subject->address_bits();
  try {
    if (interrupted) throw RunStopped(ptx::Interrupted().what());
    timed.load(std::move(module));
    const Verdict verdict = subject->run(timed, request.output_directory);
    if (trace != nullptr) {
      outcome.replayed = verdict.detail;
    } else if (verdict.checked) {
      record.verdict = verdict;
    }
    record.complete = true;
  } catch (const RunStopped& stop) {
    outcome.ending = RunOutcome::Ending::stopped;
    record.stop_reason = stop.what();
  } catch (const SimulatedFault& fault) {
    outcome.ending = RunOutcome::Ending::faulted;
    record.stop_reason = fault.what();
  }
  if (request.device.fast_forward.any()) {
    record.selection = device.selection();
    check_something_simulated(request, *subject, record);
  }
  record.device_used = subject->called();
  if (!record.device_used && request.note) {
    request.note("the program has made no CUDA call that has come to this run");
  }
  outcome.last_cycle = device.now();
  record.threads = subject->threads();  // a program's are known now
  record.launches = subject->launches();
  record.warp_sizes = device.warp_sizes();
  record.stray_loads = device.stray_loads();
  // A replay takes no hashes: its threads did what the recorded ones did.
  const std::uint64_t hash = trace != nullptr ? trace->recorded().retirement_hash : device.retirement().total();
  record.summary = summarise(device.totals(), request.machine, hash);
  if (request.energy) {
    record.energy = energy_of(*request.energy, device.totals(), request.machine);
    add_modules(*record.energy, device.units(), device.statistics());
  }
  if (power) {
    record.power = power->take(record.energy->cycles);
    record.power_in_statistics = !request.power->joins;
  }
  if (recorder && record.complete) {
    const hw::Totals totals = device.totals();
    recorder->finish({std::string(version()), request.machine.name, record.workload, record.threads, record.scale,
                      record.seed, record.address_bits, subject->order_dependent(), totals.cycles,
                      totals.core.warp_instructions, totals.core.thread_instructions, hash});
  }

  HostCost& cost = outcome.cost;
  cost.wall_seconds = wall_clock() - wall_start;
  cost.cpu_seconds = cpu_clock() - cpu_start;
  const session::SimulationTime simulated = subject->simulation_time();
  cost.simulation_wall_seconds = timed.wall_seconds() + simulated.wall_seconds;
  cost.simulation_cpu_seconds = timed.cpu_seconds() + simulated.cpu_seconds;
  cost.peak_memory_bytes = peak_memory();
  cost.device_memory_bytes = device.memory().touched_bytes();
  if (request.output_directory) {
    write_run(*request.output_directory, record, device.statistics(), cost);
    outcome.written = kRunFiles;
    if (record.complete) {
      const std::vector<std::string> outputs = subject->output_files();
      outcome.written.insert(outcome.written.end(), outputs.begin(), outputs.end());
    }
  }
  if (request.keep_texts) {
    outcome.stats_text = stats_json(record, device.statistics());
  }
  for (RunProduct* const product : request.products) {
    product->make(record, device.statistics());
  }
  if (request.check_reference && record.complete) {
    outcome.reference = compare_with_reference(request, outcome, printed);
  }
  return outcome;
}

}  // namespace heddle::tb
