#include "tb/launch/launch_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>

#include "base/input_file.hpp"
#include "ptx/compile.hpp"
#include "tb/cuda/cuda_compiler.hpp"
#include "tb/launch/description.hpp"
#include "tb/launch/session.hpp"

namespace heddle::tb {
namespace {

constexpr std::size_t kLargestLaunchFile = std::size_t{16} << 20U;

std::uint64_t threads_of(const std::vector<launch::Step>& steps) {
  std::uint64_t most = 0;
  for (const launch::Step& step : steps) {
    most = std::max(most, step.steps.empty() ? step.grid.count() * step.block.count() : threads_of(step.steps));
  }
  return most;
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

isa::Module LaunchFile::compile(unsigned max_registers, unsigned if_conversion) const {
  ptx::CompileOptions options;
  options.max_registers = max_registers;
  options.if_conversion = if_conversion;
  if (description_->is_cuda) {
    return ptx::compile(compile_cuda(description_->source, description_->address_bits),
                        description_->source + " (as PTX)", options);
  }
  return ptx::compile_file(description_->source, options);
}

std::vector<LaunchFile::InputFile> LaunchFile::inputs() const {
  std::vector<InputFile> files = {{"the kernel file", description_->source}};
  for (const launch::Buffer& buffer : description_->buffers) {
    if (const auto* file = std::get_if<launch::Buffer::File>(&buffer.fill)) {
      files.push_back({fmt::format("the file of buffer '{}'", buffer.name), file->path});
    }
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
  return threads_of(description_->steps);
}

Verdict LaunchFile::run(Executor& executor, const std::optional<std::string>& output_directory) const {
  launch::Session session(*description_, executor);
  session.fill();
  session.run();
  if (output_directory) {
    session.write(*output_directory);
  }
  return session.compare();
}

}  // namespace heddle::tb
