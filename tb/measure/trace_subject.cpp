#include "tb/measure/trace_subject.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "tb/device/launch_warps.hpp"

namespace heddle::tb {

TraceSubject::TraceSubject(std::string path) : path_(std::move(path)) {
  if (const std::optional<std::string> reason = unreadable_reason(path_)) {
    throw InputError({path_}, fmt::format("the trace cannot be read: {}", *reason));
  }
  file_ = std::make_unique<std::ifstream>(path_, std::ios::binary);
  reader_ = std::make_unique<traces::WarpTraceReader>(*file_, path_);
  if (reader_->modules().empty()) {
    throw InputError({path_}, "byte 12: a trace without a module has nothing to replay");
  }
}

TraceSubject::TraceSubject(std::istream& in, std::string name)
    : path_(std::move(name)), reader_(std::make_unique<traces::WarpTraceReader>(in, path_)) {
  if (reader_->modules().empty()) {
    throw InputError({path_}, "byte 12: a trace without a module has nothing to replay");
  }
}

void TraceSubject::check(const hw::Machine& machine) const {
  for (const traces::WarpTraceReader::Launch& launch : reader_->launches()) {
    const isa::Kernel& kernel = reader_->kernel_of(launch);
    const unsigned warp_size = launch_warp_size(reader_->modules()[launch.module], kernel, machine.core);
    if (kernel.uses_warp_operations && warp_size != launch.launch.warp_size) {
      throw InputError(
          {path_},
          fmt::format("kernel '{}' uses warp-level operations (vote, shfl, match, lane ids), so that what its threads "
                      "did depends on their warps: recorded with {} threads a warp, this machine has {}",
                      kernel.name, launch.launch.warp_size, warp_size),
          "record it anew");
    }
  }
}

Verdict TraceSubject::run(Executor& executor, const std::optional<std::string>& /*output_directory*/) {
  Executor::Plan plan{reader_->launches().size(), 0, recorded().thread_instructions};
  for (const traces::WarpTraceReader::Launch& launch : reader_->launches()) {
    plan.blocks += launch.launch.grid.count();
  }
  executor.plan(plan);
  std::size_t loaded = 0;
  for (const traces::WarpTraceReader::Launch& launch : reader_->launches()) {
    if (launch.module != loaded) {
      loaded = launch.module;
      executor.load(reader_->modules()[loaded]);
    }
    begin(launch);
    isa::LaunchRequest request;
    request.kernel = reader_->kernel_of(launch).name;
    request.more_registers = reader_->kernel_of(launch).more_registers;
    request.grid = launch.launch.grid;
    request.block = launch.launch.block;
    request.dynamic_shared = launch.launch.dynamic_shared;
    request.parameters = launch.launch.parameters;
    executor.launch(request);
  }
  const traces::TraceRun& run = recorded();
  return {true, fmt::format("replayed {} launches; recorded on {} in {} cycles", reader_->launches().size(),
                            run.machine.empty() ? "an unnamed machine" : run.machine, run.cycles)};
}

void TraceSubject::begin(const traces::WarpTraceReader::Launch& launch) {
  launch_ = &launch;
  parts_.clear();
  events_ = std::make_unique<traces::KernelEvents>(reader_->kernel_of(launch).words);
}

std::span<const hw::ThreadRecord> TraceSubject::start_block(std::uint64_t block) {
  const std::uint64_t threads = launch_->launch.block.count();
  const auto& parts = launch_->parts;
  // The last part that begins at or before the block.
  const auto after = std::upper_bound(parts.begin(), parts.end(), block,
                                      [](std::uint64_t number, const auto& part) { return number < part.first; });
  const auto& of = *(after - 1);
  const auto [found, fresh] = parts_.try_emplace(of.first);
  Part& part = found->second;
  if (fresh) {
    part.threads = reader_->threads(*launch_, of, *events_);
    part.left = of.blocks;
    part.records.reserve(part.threads.size());
    for (const traces::ThreadEvents& thread : part.threads) {
      part.records.push_back({thread.bits.data(), thread.bit_count, thread.values.data(), thread.values.size()});
    }
  }
  return std::span(part.records).subspan((block - of.first) * threads, threads);
}

void TraceSubject::finish_block(std::uint64_t block) {
  auto found = std::prev(parts_.upper_bound(block));
  if (--found->second.left == 0) {
    parts_.erase(found);
  }
}

}  // namespace heddle::tb
