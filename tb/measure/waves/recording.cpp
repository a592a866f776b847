#include "tb/measure/waves/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "hw/gpu/gpu.hpp"
#include "hw/waves/gpu_waves.hpp"
#include "os/files/atomic_file.hpp"
#include "os/files/output_file.hpp"
#include "tb/measure/version.hpp"
#include "tb/measure/waves/fst_output.hpp"
#include "traces/fst_form.hpp"
#include "traces/gtkwave.hpp"
#include "traces/vcd_text.hpp"

namespace heddle::tb {

namespace {

constexpr link::Cycle kShownCycles = 400;  // at first: operations and masks can be read
constexpr link::Cycle kLead = 4096;        // before a window
constexpr const char* kSaveEnding = ".gtkw";
constexpr std::string_view kEndings[] = {".vcd", ".vcd.gz", ".fst"};

std::string_view ending_of(const std::string& file) {
  for (const std::string_view ending : kEndings) {
    if (file.size() > ending.size() && file.ends_with(ending)) {
      return ending;
    }
  }
  throw InputError({"--vcd"}, "'" + file + "' ends neither in .vcd nor in .vcd.gz or .fst");
}

// A name without its ending.
std::string stem_of(const std::string& file) {
  return file.substr(0, file.size() - ending_of(file).size());
}

}  // namespace

std::vector<std::string> wave_files(const std::string& file) {
  return {file, stem_of(file) + kSaveEnding};
}

std::vector<link::SignalGroup> signal_groups(const std::string& names) {
  std::vector<link::SignalGroup> groups;
  std::size_t begin = 0;
  while (begin <= names.size()) {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    groups.push_back(link::signal_group(std::string_view(names).substr(begin, end - begin)));
    begin = end + 1;
  }
  return groups;
}

WaveRecording::WaveRecording(const hw::Machine& machine, WaveOptions options)
    : options_(std::move(options)), stem_(stem_of(options_.file)), waves_(std::make_unique<hw::GpuWaves>(machine)) {
  const std::string_view ending = ending_of(options_.file);
  if (ending == ".fst") {
    fst_ = std::make_unique<FstOutput>(options_.file);
  } else {
    file_ = std::make_unique<os::OutputFile>(
        options_.file, ending == ".vcd" ? os::OutputFile::Form::plain : os::OutputFile::Form::gzip);
  }
  os::check_writable(save_file());
  select(machine);
}

WaveRecording::WaveRecording(const hw::Machine& machine, WaveOptions options, std::unique_ptr<ByteSink> out)
    : options_(std::move(options)), other_(std::move(out)), waves_(std::make_unique<hw::GpuWaves>(machine)) {
  select(machine);
}

void WaveRecording::select(const hw::Machine& machine) {
  const std::vector<link::Signal>& all = waves_->catalogue().signals();
  for (const link::SignalGroup group : options_.groups) {
    if (std::none_of(all.begin(), all.end(), [&](const link::Signal& signal) { return signal.group == group; })) {
      const std::string_view name = link::kSignalGroups[static_cast<std::size_t>(group)].name;
      throw InputError({"--signals"}, fmt::format("the machine '{}' has no module that '{}' shows", machine.name, name),
                       group == link::SignalGroup::l2 ? "l2.enabled=true gives it an L2"
                                                      : "heddle list signals CONFIG names what it has");
    }
  }
  for (const link::Signal& signal : all) {
    if (options_.groups.empty() ||
        std::find(options_.groups.begin(), options_.groups.end(), signal.group) != options_.groups.end()) {
      signals_.push_back(signal);
    }
  }
}

WaveRecording::~WaveRecording() = default;

std::string WaveRecording::save_file() const {
  return stem_ + kSaveEnding;
}

std::string WaveRecording::filter_folder() const {
  return stem_ + ".filters";
}

hw::CoreObserver& WaveRecording::cores() {
  return *waves_;
}

bool WaveRecording::watches_cores() const {
  return waves_->shows_cores();
}

hw::DramObserver* WaveRecording::dram(unsigned channel) {
  return waves_->dram(channel);
}

// What a stage shows keeps its value while the stage has nothing. So the cores are watched from some time before the
// window on: what is not known when the window begins has no meaning then, and is x.
link::Cycle WaveRecording::watches_cores_from() const {
  return options_.from > kLead ? options_.from - kLead : 0;
}

void WaveRecording::attached(hw::Gpu& gpu) {
  std::unique_ptr<traces::WaveForm> form;
  if (fst_) {
    form = std::make_unique<traces::FstForm>(*fst_);
  } else {
    form = other_ ? std::make_unique<traces::VcdText>(*other_) : std::make_unique<traces::VcdText>(*file_);
  }
  const bool apart = !other_ && std::thread::hardware_concurrency() > 1;
  vcd_ = std::make_unique<traces::VcdFile>(
      std::move(form), gpu.clock(),
      traces::VcdFile::Options{"heddle " + std::string(version()), options_.from, options_.to, apart});
  vcd_->wait_for_window();
  for (const link::Signal& signal : signals_) {
    sc_trace(vcd_.get(), *signal.wave, signal.path(), static_cast<int>(signal.type.width));
  }
  waves_->attach(gpu, watches_cores_from() != 0);
}

void WaveRecording::window_over(link::Cycle now) {
  vcd_->window_over(now);
  if (vcd_->over()) {
    waves_->silence();
  }
}

void WaveRecording::finish() {
  if (vcd_ != nullptr) {
    vcd_->finish();
  }
  if (other_) {
    return;
  }
  if (fst_) {
    fst_->commit();
  } else {
    file_->commit();
  }
  namespace fs = std::filesystem;
  const std::string folder = filter_folder();
  os::make_folder(folder);
  for (const link::Enumeration* const enumeration : traces::enumerations_of(signals_)) {
    os::write_file((fs::path(folder) / (enumeration->name + ".txt")).string(),
                   traces::gtkwave_translation(*enumeration));
  }
  const std::string filters = fs::path(folder).filename().string() + "/";
  traces::GtkwaveView view;
  if (vcd_ != nullptr && vcd_->first_change()) {
    const link::Cycle first = *vcd_->first_change();
    view = {vcd_->time_of(first), vcd_->time_of(std::min(vcd_->last_cycle() + 1, first + kShownCycles))};
  }
  os::write_file(save_file(),
                 traces::gtkwave_save(signals_, fs::path(options_.file).filename().string(), filters, view));
}

std::string WaveRecording::remark() const {
  if (vcd_ == nullptr || vcd_->first_change()) {
    return {};
  }
  return fmt::format("{}: nothing changes from cycle {} to cycle {}, which is all that it shows", options_.file,
                     options_.from, vcd_->last_cycle());
}

}  // namespace heddle::tb
