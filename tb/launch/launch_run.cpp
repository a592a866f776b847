#include "tb/launch/launch_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "isa/symbol_names.hpp"
#include "os/files/atomic_file.hpp"
#include "ptx/compile.hpp"
#include "tb/config/toml_text.hpp"
#include "tb/device/picture.hpp"

namespace heddle::tb::launch {
namespace {

bool is_integer(isa::Type type) {
  return type < isa::Type::b8 && !is_float(type);
}

}  // namespace

LaunchRun::LaunchRun(const Description& description, Executor& executor)
    : description_(description), executor_(executor), storage_(description, executor) {
  for (const Step& step : description_.steps) {
    check(step);
  }
}

// ----------------------------------------------------------------------------------------------------------- checks

void LaunchRun::check(const Step& step) const {
  for (const Step& inner : step.steps) {
    check(inner);
  }
  if (step.kind != Step::Kind::launch) {
    return;
  }
  const isa::Module& module = executor_.module();
  if (const ptx::RefusedKernel* const refused = ptx::find_refused(module, description_.refused, step.entry)) {
    throw InputError(refused->reason);
  }
  const std::vector<std::string> names = ptx::kernel_names(module, description_.refused);
  const std::vector<std::size_t> found = isa::find_named(names, step.entry);
  const isa::Kernel* const kernel = found.size() == 1 ? &module.kernels[found.front()] : nullptr;
  if (kernel == nullptr) {
    std::vector<std::string> fitting;
    for (const std::size_t i : found) {
      fitting.push_back(names[i]);
    }
    const std::vector<std::string> known = isa::listed_names(names);
    if (!fitting.empty()) {
      throw InputError(step.entry_where,
                       fmt::format("several kernels of '{}' are called '{}'", description_.source, excerpt(step.entry)),
                       "name one: " + join(isa::listed_names(fitting)));
    }
    throw InputError(step.entry_where,
                     fmt::format("there is no kernel '{}' in '{}'", excerpt(step.entry), description_.source),
                     suggest(step.entry, isa::names_to_suggest(names),
                             known.empty() ? "the file has no kernels" : "kernels: " + join(known)));
  }
  if (step.arguments.size() != kernel->parameters.size()) {
    throw InputError(step.where,
                     fmt::format("{} for kernel '{}', which has {}", counted(step.arguments.size(), "argument"),
                                 step.entry, counted(kernel->parameters.size(), "parameter")));
  }
  for (std::size_t i = 0; i < step.arguments.size(); ++i) {
    check(step, i, *kernel);
  }
  check_room(step, *kernel);
}

void LaunchRun::check_room(const Step& step, const isa::Kernel& kernel) const {
  isa::LaunchRequest request;
  request.kernel = kernel.name;
  request.grid = step.grid;
  request.block = step.block;
  request.dynamic_shared = step.shared;
  request.cooperative = step.cooperative;
  request.parameters.resize(kernel.parameter_bytes);
  try {
    executor_.check(request);
  } catch (const InputError& error) {
    if (!error.where().file.empty()) {
      throw;
    }
    throw InputError(step.where, error.message(), error.hint());
  }
}

void LaunchRun::check(const Step& step, std::size_t number, const isa::Kernel& kernel) const {
  const Argument& argument = step.arguments[number];
  const isa::Parameter& parameter = kernel.parameters[number];
  const std::string what = fmt::format("argument {} of '{}', {}, does not fit parameter '{}'", number + 1, step.entry,
                                       argument.text, parameter.name);
  const std::string wanted =
      fmt::format("the parameter is .{} and takes {}", isa::name_of(parameter.type), counted(parameter.size, "byte"));
  if (argument.bytes.size() != parameter.size) {
    throw InputError(argument.where, fmt::format("{}: it has {}", what, counted(argument.bytes.size(), "byte")),
                     wanted);
  }
  // The sizes agree; an integer for a float (or the other way round) would still be read as another number.
  const bool scalar_parameter = parameter.size == isa::size_of(parameter.type);
  const bool for_integer = argument.is_pointer || (argument.type && is_integer(*argument.type));
  if (scalar_parameter && ((argument.type && is_float(*argument.type) && is_integer(parameter.type)) ||
                           (for_integer && is_float(parameter.type)))) {
    throw InputError(argument.where, what, wanted);
  }
}

// ------------------------------------------------------------------------------------------------------------ steps

void LaunchRun::fill() {
  executor_.memory().heap().set_limit(description_.heap_bytes);
  storage_.allocate();
  for (std::size_t i = 0; i < description_.buffers.size(); ++i) {
    storage_.initialise(i);
  }
}

namespace {

// Adds the launches of some steps; false: a loop among them decides as it runs.
bool add_plan(const std::vector<Step>& steps, Executor::Plan& plan) {
  return std::all_of(steps.begin(), steps.end(), [&](const Step& step) {
    if (step.loop) {
      return false;
    }
    if (!step.steps.empty()) {
      return add_plan(step.steps, plan);
    }
    ++plan.launches;
    plan.blocks += step.grid.count();
    return true;
  });
}

}  // namespace

void LaunchRun::run() {
  if (Executor::Plan plan; add_plan(description_.steps, plan)) {
    executor_.plan(plan);
  }
  for (const Step& step : description_.steps) {
    run(step);
  }
}

Element LaunchRun::element(const Condition& condition) const {
  const unsigned size = isa::size_of(description_.buffers[condition.buffer].type);
  Element element{};
  storage_.read(condition.buffer, condition.index * size, std::span(element).first(size));
  return element;
}

bool LaunchRun::holds(const Condition& condition) const {
  const isa::Type type = description_.buffers[condition.buffer].type;
  // No value: one of them is no number (NaN), which is not equal to anything.
  const std::optional<int> order = launch::compare(type, decode(type, element(condition)), condition.value);
  switch (condition.test) {
    case Condition::Test::equal:
      return order == 0;
    case Condition::Test::not_equal:
      return order != 0;
    case Condition::Test::less:
      return order == -1;
    case Condition::Test::at_most:
      return order && *order <= 0;
    case Condition::Test::greater:
      return order == 1;
    case Condition::Test::at_least:
      return order && *order >= 0;
  }
  return false;
}

bool LaunchRun::go_on(const Loop& loop, std::uint64_t passes) {
  if (!loop.condition) {
    return passes < loop.passes;
  }
  if (!holds(*loop.condition)) {
    return false;
  }
  const Buffer& buffer = description_.buffers[loop.condition->buffer];
  const unsigned size = isa::size_of(buffer.type);
  const std::uint64_t index = loop.condition->index;
  if (passes == loop.passes) {
    const Element value = element(*loop.condition);
    throw SimulatedFault(fmt::format(
        "{}: the loop still goes on after {} passes: '{}'[{}] is {}; raise 'max' if it "
        "needs more",
        loop.where.text(), loop.passes, buffer.name, index, text_of(buffer.type, std::span(value).first(size))));
  }
  if (loop.reset) {
    const Element zero{};
    storage_.write(loop.condition->buffer, index * size, std::span(zero).first(size));
  }
  return true;
}

void LaunchRun::run(const Step& step) {
  if (step.run_if && !holds(*step.run_if)) {
    return;
  }
  if (!step.loop) {
    run_once(step);
    return;
  }
  for (passes_.push_back(0); go_on(*step.loop, passes_.back()); ++passes_.back()) {
    run_once(step);
  }
  passes_.pop_back();
}

void LaunchRun::run_once(const Step& step) {
  switch (step.kind) {
    case Step::Kind::launch:
      launch(step);
      break;
    case Step::Kind::copy:
      copy(step);
      break;
    case Step::Kind::fill:
      storage_.fill(step.to.buffer, begin_of(step.to), step.bytes, step.fill);
      break;
    case Step::Kind::group:
      for (const Step& inner : step.steps) {
        run(inner);
      }
      break;
  }
}

Number LaunchRun::value_of(const Counted& counted, bool real) const {
  return counted.at(passes_[counted.loop], real);
}

std::uint64_t LaunchRun::begin_of(const Step::Range& range) const {
  return range.counted ? static_cast<std::uint64_t>(value_of(*range.counted, false).integer) * range.unit
                       : range.offset;
}

void LaunchRun::copy(const Step& step) {
  const std::uint64_t from = begin_of(step.from);
  const std::uint64_t to = begin_of(step.to);
  constexpr std::uint64_t kPiece = 65536;
  std::vector<std::byte> piece;
  // From the end where the destination overlaps what is still to be read.
  const bool backwards = step.from.buffer == step.to.buffer && to > from;
  for (std::uint64_t done = 0; done < step.bytes; done += piece.size()) {
    piece.resize(std::min(kPiece, step.bytes - done));
    const std::uint64_t begin = backwards ? step.bytes - done - piece.size() : done;
    storage_.read(step.from.buffer, from + begin, piece);
    storage_.write(step.to.buffer, to + begin, piece);
  }
}

void LaunchRun::patch(const Argument::Patch& patch, std::span<std::uint8_t> argument) const {
  if (patch.buffer) {
    std::uint64_t address = storage_.address(*patch.buffer) + patch.offset;
    if (patch.unit != 0) {
      address += static_cast<std::uint64_t>(value_of(patch.counted, false).integer) * patch.unit;
    }
    std::memcpy(argument.data() + patch.at, &address, description_.address_bits / 8);
  } else {
    const Element value = encode(patch.type, value_of(patch.counted, is_float(patch.type)));
    std::memcpy(argument.data() + patch.at, value.data(), isa::size_of(patch.type));
  }
}

void LaunchRun::launch(const Step& step) {
  const isa::Kernel& kernel = *executor_.module().find(step.entry);
  isa::LaunchRequest request;
  request.kernel = kernel.name;
  request.grid = step.grid;
  std::uint32_t* const grid[] = {&request.grid.x, &request.grid.y, &request.grid.z};
  for (std::size_t i = 0; i < 3; ++i) {
    if (step.counted_grid[i]) {
      *grid[i] = static_cast<std::uint32_t>(value_of(*step.counted_grid[i], false).integer);
    }
  }
  request.block = step.block;
  request.dynamic_shared = step.shared;
  request.cooperative = step.cooperative;
  request.parameters.resize(kernel.parameter_bytes);
  for (std::size_t i = 0; i < step.arguments.size(); ++i) {
    const Argument& argument = step.arguments[i];
    const std::span<std::uint8_t> to =
        std::span(request.parameters).subspan(kernel.parameters[i].offset, argument.bytes.size());
    std::copy(argument.bytes.begin(), argument.bytes.end(), to.begin());
    for (const Argument::Patch& each : argument.patches) {
      patch(each, to);
    }
  }
  executor_.launch(request);
}

// ---------------------------------------------------------------------------------------------------------- outputs

std::string LaunchRun::contents(std::size_t buffer) const {
  std::string bytes(description_.buffers[buffer].bytes(), '\0');
  storage_.read(buffer, 0, std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

void LaunchRun::show() {
  for (std::size_t i = 0; i < description_.buffers.size(); ++i) {
    const Buffer& buffer = description_.buffers[i];
    if (buffer.image) {
      const std::string bytes = contents(i);
      executor_.show(make_picture(buffer.name, *buffer.image, std::as_bytes(std::span(bytes))));
    }
  }
}

std::optional<std::string> LaunchRun::difference(const Output& output) const {
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

Verdict LaunchRun::compare() const {
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

void LaunchRun::write(const std::string& directory) const {
  os::make_folder(directory);
  for (const Output& output : description_.outputs) {
    if (output.file) {
      const std::filesystem::path path = std::filesystem::path(directory) / *output.file;
      os::make_folder(path.parent_path().string());
      os::write_file(path.string(), contents(output.buffer));
    }
  }
}

}  // namespace heddle::tb::launch
