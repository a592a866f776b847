#include "tb/waves/recording.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/error.hpp"
#include "hw/gpu/gpu.hpp"
#include "hw/waves/gpu_waves.hpp"
#include "tb/measure/atomic_file.hpp"
#include "tb/measure/output_file.hpp"
#include "tb/measure/version.hpp"
#include "tb/waves/converter.hpp"
#include "traces/gtkwave.hpp"

namespace heddle::tb {

namespace {

constexpr std::string_view kEndings[] = {".vcd", ".vcd.gz", ".fst"};

std::string_view ending_of(const std::string& file) {
  for (const std::string_view ending : kEndings) {
    if (file.size() > ending.size() && file.ends_with(ending)) {
      return ending;
    }
  }
  throw InputError({"--vcd"}, "'" + file + "' ends neither in .vcd nor in .vcd.gz or .fst");
}

}  // namespace

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
    : options_(std::move(options)), waves_(std::make_unique<hw::GpuWaves>(machine)) {
  const std::string_view ending = ending_of(options_.file);
  stem_ = options_.file.substr(0, options_.file.size() - ending.size());
  if (ending == ".fst") {
    converter_ = std::make_unique<Converter>(options_.file, fst_converter());
  } else {
    file_ = std::make_unique<OutputFile>(options_.file,
                                         ending == ".vcd" ? OutputFile::Form::plain : OutputFile::Form::gzip);
  }
  select();
}

WaveRecording::WaveRecording(const hw::Machine& machine, WaveOptions options, std::unique_ptr<traces::ByteSink> out)
    : options_(std::move(options)), other_(std::move(out)), waves_(std::make_unique<hw::GpuWaves>(machine)) {
  select();
}

void WaveRecording::select() {
  for (const link::Signal& signal : waves_->catalogue().signals()) {
    if (options_.groups.empty() ||
        std::find(options_.groups.begin(), options_.groups.end(), signal.group) != options_.groups.end()) {
      signals_.push_back(signal);
    }
  }
}

WaveRecording::~WaveRecording() = default;

hw::CoreObserver& WaveRecording::cores() {
  return *waves_;
}

hw::DramObserver* WaveRecording::dram(unsigned channel) {
  return &waves_->dram(channel);
}

void WaveRecording::attached(hw::Gpu& gpu) {
  traces::ByteSink& out = other_       ? *other_
                          : converter_ ? static_cast<traces::ByteSink&>(*converter_)
                                       : static_cast<traces::ByteSink&>(*file_);
  vcd_ = std::make_unique<traces::VcdFile>(
      out, gpu.clock(), traces::VcdFile::Options{"heddle " + std::string(version()), options_.from, options_.to});
  for (const link::Signal& signal : signals_) {
    sc_trace(vcd_.get(), *signal.wave, signal.path(), static_cast<int>(signal.type.width));
  }
  waves_->attach(gpu);
}

void WaveRecording::finish() {
  if (vcd_ != nullptr) {
    vcd_->finish();
  }
  if (other_) {
    return;
  }
  if (converter_) {
    converter_->commit();
  } else {
    file_->commit();
  }
  namespace fs = std::filesystem;
  const std::string folder = stem_ + ".filters";
  make_folder(folder);
  for (const link::Enumeration* const enumeration : traces::enumerations_of(signals_)) {
    write_file((fs::path(folder) / (enumeration->name + ".txt")).string(), traces::gtkwave_translation(*enumeration));
  }
  const std::string filters = fs::path(folder).filename().string() + "/";
  write_file(save_file(), traces::gtkwave_save(signals_, fs::path(options_.file).filename().string(), filters));
}

}  // namespace heddle::tb
