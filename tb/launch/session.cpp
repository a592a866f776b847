#include "tb/launch/session.hpp"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/nearest.hpp"
#include "tb/config/toml_text.hpp"
#include "tb/launch/fill.hpp"
#include "tb/measure/atomic_file.hpp"
#include "tb/report/text.hpp"

namespace heddle::tb::launch {
namespace {

bool is_integer(isa::Type type) {
  return type < isa::Type::b8 && !is_float(type);
}

}  // namespace

Session::Session(const Description& description, Executor& executor) : description_(description), executor_(executor) {
  for (const Step& step : description_.steps) {
    check(step);
  }
}

void Session::check(const Step& step) const {
  for (const Step& inner : step.steps) {
    check(inner);
  }
  if (!step.steps.empty()) {
    return;
  }
  const isa::Kernel* kernel = executor_.module().find(step.entry);
  if (kernel == nullptr) {
    std::vector<std::string> names;
    for (const isa::Kernel& known : executor_.module().kernels) {
      names.push_back(known.name);
    }
    throw InputError(
        step.entry_where, fmt::format("there is no kernel '{}' in '{}'", excerpt(step.entry), description_.source),
        suggest(step.entry, names,
                names.empty() ? "the file has no kernels"
                              : "kernels: " + join(names) + " (in C++, extern \"C\" keeps a kernel's name as it is)"));
  }
  if (step.arguments.size() != kernel->parameters.size()) {
    throw InputError(step.where,
                     fmt::format("{} for kernel '{}', which has {}", counted(step.arguments.size(), "argument"),
                                 step.entry, counted(kernel->parameters.size(), "parameter")));
  }
  for (std::size_t i = 0; i < step.arguments.size(); ++i) {
    const Argument& argument = step.arguments[i];
    const isa::Parameter& parameter = kernel->parameters[i];
    const std::size_t size = argument.buffer ? kernel->address_bits / 8 : argument.bytes.size();
    const std::string what = fmt::format("argument {} of '{}', {}, does not fit parameter '{}'", i + 1, step.entry,
                                         argument.text, parameter.name);
    const std::string wanted =
        fmt::format("the parameter is .{} and takes {}", isa::name_of(parameter.type), counted(parameter.size, "byte"));
    if (size != parameter.size) {
      throw InputError(argument.where, fmt::format("{}: it has {}", what, counted(size, "byte")), wanted);
    }
    // The sizes agree; an integer for a float (or the other way round) would still be read as another number.
    const bool scalar_parameter = parameter.size == isa::size_of(parameter.type);
    if (argument.type && scalar_parameter &&
        ((is_float(*argument.type) && is_integer(parameter.type)) ||
         (is_integer(*argument.type) && is_float(parameter.type)))) {
      throw InputError(argument.where, what, wanted);
    }
  }
}

void Session::fill() {
  for (const Buffer& buffer : description_.buffers) {
    addresses_.push_back(executor_.memory().allocate(buffer.name, buffer.bytes(), description_.address_bits == 32));
    fill_buffer(buffer, addresses_.back(), executor_.memory());
  }
}

void Session::run() {
  for (const Step& step : description_.steps) {
    run(step);
  }
}

bool Session::go_on(const Loop& loop, std::uint64_t& passes) {
  const Buffer& buffer = description_.buffers[loop.buffer];
  const unsigned size = isa::size_of(buffer.type);
  const std::uint64_t address = addresses_[loop.buffer] + loop.index * size;
  Element element{};
  executor_.memory().read(address, std::span(element).first(size));
  if (is_zero(buffer.type, std::span(element).first(size))) {
    return false;
  }
  if (passes++ == loop.max) {
    throw SimulatedFault(fmt::format(
        "{}: the loop still goes on after {} passes: '{}'[{}] is {}; raise 'max' if it "
        "needs more",
        loop.where.text(), loop.max, buffer.name, loop.index, text_of(buffer.type, std::span(element).first(size))));
  }
  if (loop.reset) {
    const Element zero{};
    executor_.memory().write(address, std::span(zero).first(size));
  }
  return true;
}

void Session::run(const Step& step) {
  std::uint64_t passes = 0;
  while (!step.loop || go_on(*step.loop, passes)) {
    if (step.steps.empty()) {
      launch(step);
    }
    for (const Step& inner : step.steps) {
      run(inner);
    }
    if (!step.loop) {
      return;
    }
  }
}

void Session::launch(const Step& step) {
  const isa::Kernel& kernel = *executor_.module().find(step.entry);
  isa::LaunchRequest request;
  request.kernel = kernel.name;
  request.grid = step.grid;
  request.block = step.block;
  request.dynamic_shared = step.shared;
  request.parameters.resize(kernel.parameter_bytes);
  for (std::size_t i = 0; i < step.arguments.size(); ++i) {
    const Argument& argument = step.arguments[i];
    std::uint8_t* to = request.parameters.data() + kernel.parameters[i].offset;
    if (argument.buffer) {
      const std::uint64_t address = addresses_[*argument.buffer] + argument.offset;
      std::memcpy(to, &address, kernel.parameters[i].size);
    } else {
      std::memcpy(to, argument.bytes.data(), argument.bytes.size());
    }
  }
  executor_.launch(request);
}

std::string Session::contents(std::size_t buffer) const {
  std::string bytes(description_.buffers[buffer].bytes(), '\0');
  executor_.memory().read(addresses_[buffer], std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

std::optional<std::string> Session::difference(const Output& output) const {
  const Buffer& buffer = description_.buffers[output.buffer];
  const std::string actual = contents(output.buffer);
  std::ifstream in(*output.expect, std::ios::binary);
  const std::string expected{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (expected.size() != actual.size()) {
    throw InputError(output.where,
                     fmt::format("'{}' has changed its size to {} bytes", *output.expect, expected.size()));
  }
  const unsigned size = isa::size_of(buffer.type);
  std::uint64_t differences = 0;
  std::string first;
  for (std::uint64_t i = 0; i < buffer.count; ++i) {
    const auto a = std::as_bytes(std::span(actual)).subspan(i * size, size);
    const auto e = std::as_bytes(std::span(expected)).subspan(i * size, size);
    if (!equal(buffer.type, a, e, output.tolerance)) {
      if (++differences == 1) {
        first = fmt::format("[{}] is {} instead of {}", i, text_of(buffer.type, a), text_of(buffer.type, e));
      }
    }
  }
  if (differences == 0) {
    return std::nullopt;
  }
  return fmt::format("{} of {} of '{}' differ from '{}', first {}", differences, counted(buffer.count, "element"),
                     buffer.name, *output.expect, first);
}

Verdict Session::compare() const {
  std::vector<std::string> equal_ones;
  for (const Output& output : description_.outputs) {
    if (!output.expect) {
      continue;
    }
    if (const auto found = difference(output)) {
      return {false, *found};
    }
    const Buffer& buffer = description_.buffers[output.buffer];
    equal_ones.push_back(fmt::format("{} of '{}'", counted(buffer.count, "element"), buffer.name));
  }
  if (equal_ones.empty()) {
    return {.correct = true, .detail = {}, .checked = false};
  }
  return {true, join(equal_ones, " and ") + " as expected"};
}

void Session::write(const std::string& directory) const {
  make_folder(directory);
  for (const Output& output : description_.outputs) {
    if (output.file) {
      const std::filesystem::path path = std::filesystem::path(directory) / *output.file;
      make_folder(path.parent_path().string());
      write_file(path.string(), contents(output.buffer));
    }
  }
}

}  // namespace heddle::tb::launch
