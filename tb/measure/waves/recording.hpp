// Waves of a run: the dump, and beside it what GTKWave needs to show it readably.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/byte_sink.hpp"
#include "hw/parameters/machine.hpp"
#include "tb/device/run_observer.hpp"
#include "tlm/signal_catalogue.hpp"
#include "traces/vcd_file.hpp"

namespace heddle::hw {
class Gpu;
class GpuWaves;
}  // namespace heddle::hw

namespace heddle::os {
class OutputFile;
}  // namespace heddle::os

namespace heddle::tb {

class FstOutput;

struct WaveOptions {
  std::string file;                       // .vcd, .vcd.gz or .fst
  std::vector<link::SignalGroup> groups;  // none: all
  link::Cycle from = 0;
  link::Cycle to = link::kNever;  // the last cycle
};

// One of tb::DeviceOptions::observers. Made before the GPU, finished when the simulation is over. Without finish() no
// file is left.
class WaveRecording final : public RunObserver {
 public:
  // Throws InputError when the file cannot be written, or the machine has no signal of one of the groups.
  WaveRecording(const hw::Machine& machine, WaveOptions options);
  // The dump goes to `out` instead of the file, and nothing lies beside it.
  WaveRecording(const hw::Machine& machine, WaveOptions options, std::unique_ptr<ByteSink> out);
  ~WaveRecording() override;
  WaveRecording(const WaveRecording&) = delete;
  WaveRecording& operator=(const WaveRecording&) = delete;

  void attached(hw::Gpu& gpu) override;
  [[nodiscard]] hw::CoreObserver& cores() override;
  [[nodiscard]] hw::DramObserver* dram(unsigned channel) override;
  [[nodiscard]] bool watches_cores() const override;
  [[nodiscard]] link::Cycle watches_cores_from() const override;
  [[nodiscard]] Window window() const override { return {options_.from, options_.to}; }
  void window_begins(link::Cycle now) override { vcd_->window_begins(now); }
  void window_over(link::Cycle now) override;
  [[nodiscard]] bool over() const override { return vcd_ != nullptr && vcd_->over(); }
  // Writes FILE, FILE.gtkw (in place of the ending) and a folder of translate files, FILE.filters.
  void finish();

  [[nodiscard]] std::uint64_t changes() const { return vcd_ == nullptr ? 0 : vcd_->changes(); }
  [[nodiscard]] std::string save_file() const;
  // After finish(): what there is to say about a window without a change; empty otherwise.
  [[nodiscard]] std::string remark() const;
  [[nodiscard]] std::string filter_folder() const;  // of the translate files

 private:
  // Throws InputError for a group that the machine has no signals of.
  void select(const hw::Machine& machine);

  WaveOptions options_;
  std::string stem_;
  std::unique_ptr<os::OutputFile> file_;
  std::unique_ptr<ByteSink> other_;
  std::unique_ptr<FstOutput> fst_;
  std::unique_ptr<hw::GpuWaves> waves_;
  std::vector<link::Signal> signals_;
  std::unique_ptr<traces::VcdFile> vcd_;
};

// The files that a recording into `file` writes, besides the translate files in a folder of theirs: the dump and the
// save file. Throws InputError when the name says no form.
[[nodiscard]] std::vector<std::string> wave_files(const std::string& file);

// Comma-separated group names; throws InputError with the nearest valid name.
[[nodiscard]] std::vector<link::SignalGroup> signal_groups(const std::string& names);

}  // namespace heddle::tb
