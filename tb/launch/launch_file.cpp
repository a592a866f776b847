#include "tb/launch/launch_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "base/input_file.hpp"
#include "cuda/compiler/cuda_compiler.hpp"
#include "os/process/stopping.hpp"
#include "ptx/ast.hpp"
#include "ptx/compile.hpp"
#include "tb/launch/description.hpp"
#include "tb/launch/launch_run.hpp"

namespace heddle::tb {
namespace {

constexpr std::size_t kLargestLaunchFile = std::size_t{16} << 20U;
constexpr std::size_t kLargestPtx = std::size_t{256} << 20U;

// Threads of the largest launch in any pass of the loops, of which `passes` are the numbers (the outermost first).
std::uint64_t threads_of(const std::vector<launch::Step>& steps, std::vector<std::uint64_t>& passes) {
  std::uint64_t most = 0;
  for (const launch::Step& step : steps) {
    if (step.loop) {
      passes.push_back(step.loop->passes);
    }
    if (step.kind == launch::Step::Kind::launch) {
      std::uint64_t blocks = 1;
      const std::uint32_t grid[] = {step.grid.x, step.grid.y, step.grid.z};
      for (std::size_t i = 0; i < 3; ++i) {
        const auto& counted = step.counted_grid[i];
        // It is largest in the first or in the last pass.
        blocks *= !counted ? grid[i]
                           : static_cast<std::uint64_t>(std::max(
                                 counted->at(0, false).integer, counted->at(passes[counted->loop] - 1, false).integer));
      }
      most = std::max(most, blocks * step.block.count());
    }
    most = std::max(most, threads_of(step.steps, passes));
    if (step.loop) {
      passes.pop_back();
    }
  }
  return most;
}

// The threads of the largest block that each kernel is launched with.
void note_blocks(const std::vector<launch::Step>& steps, std::map<std::string, std::uint64_t>& threads) {
  for (const launch::Step& step : steps) {
    if (step.kind == launch::Step::Kind::launch) {
      std::uint64_t& most = threads[step.entry];
      most = std::max<std::uint64_t>(most, step.block.count());
    }
    note_blocks(step.steps, threads);
  }
}

}  // namespace

LaunchFile::LaunchFile(std::unique_ptr<launch::Description> description) : description_(std::move(description)) {}
LaunchFile::LaunchFile(LaunchFile&&) noexcept = default;
LaunchFile& LaunchFile::operator=(LaunchFile&&) noexcept = default;
LaunchFile::~LaunchFile() = default;

LaunchFile LaunchFile::read(const std::string& path) {
  const std::string text = read_input_file(path, kLargestLaunchFile, "launch file");
  return LaunchFile(std::make_unique<launch::Description>(launch::parse(text, path)));
}

const std::string& LaunchFile::path() const {
  return description_->path;
}
unsigned LaunchFile::address_bits() const {
  return description_->address_bits;
}

isa::Module LaunchFile::compile(const ptx::CodeOptions& code, std::vector<std::string>* notes,
                                const std::atomic<bool>* interrupted) const {
  return compile(ptx(), code, notes, interrupted);
}

std::string LaunchFile::ptx() const {
  return description_->is_cuda
             ? cuda::compile_cuda(description_->source, description_->address_bits, description_->architecture)
             : read_input_file(description_->source, kLargestPtx, "PTX file");
}

std::string LaunchFile::ptx_name() const {
  return description_->source + (description_->is_cuda ? " (as PTX)" : "");
}

void LaunchFile::check(const std::string& ptx) const {
  static_cast<void>(ptx::parse(ptx, ptx_name(), ptx::Refusals::kept));
}

isa::Module LaunchFile::compile(const std::string& ptx, const ptx::CodeOptions& code, std::vector<std::string>* notes,
                                const std::atomic<bool>* interrupted) const {
  ptx::CompileOptions options(code);
  options.notes = notes;
  options.refused = &description_->refused;
  options.interrupted = interrupted;
  std::map<std::string, std::uint64_t> threads;
  note_blocks(description_->steps, threads);
  options.block_threads = &threads;
  // Who looks for interruptions ends in an orderly way.
  std::optional<os::StopsAtOnce> at_once;
  if (interrupted == nullptr) at_once.emplace("while " + description_->source + " was compiled");
  return ptx::compile(ptx, ptx_name(), options);
}

std::vector<std::string> LaunchFile::includes() const {
  return description_->is_cuda
             ? cuda::cuda_includes(description_->source, description_->address_bits, description_->architecture)
             : std::vector<std::string>();
}

std::vector<LaunchFile::InputFile> LaunchFile::inputs() const {
  std::vector<InputFile> files = {{"the kernel file", description_->source}};
  for (const launch::FillFile& file : launch::fill_files(*description_)) {
    files.push_back({fmt::format("the file of buffer '{}'", file.buffer), file.path});
  }
  for (const launch::Output& output : description_->outputs) {
    if (output.expect) {
      files.push_back({fmt::format("the expected output of buffer '{}'", description_->buffers[output.buffer].name),
                       *output.expect});
    }
  }
  return files;
}

std::vector<std::string> LaunchFile::output_files() const {
  std::vector<std::string> files;
  for (const launch::Output& output : description_->outputs) {
    if (output.file) {
      files.push_back(*output.file);
    }
  }
  return files;
}

std::uint64_t LaunchFile::threads() const {
  std::vector<std::uint64_t> passes;
  return threads_of(description_->steps, passes);
}

Verdict LaunchFile::run(Executor& executor, const std::optional<std::string>& output_directory) const {
  launch::LaunchRun steps(*description_, executor);
  steps.fill();
  steps.run();
  steps.show();
  if (output_directory) {
    steps.write(*output_directory);
  }
  return steps.compare();
}

}  // namespace heddle::tb
