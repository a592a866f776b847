#include "traces/warp_trace.hpp"

#include <fmt/format.h>

#include <bit>

#include "base/error.hpp"
#include "isa/launch_check.hpp"
#include "traces/module_record.hpp"

namespace heddle::traces {

namespace {

// A chunk of blocks is closed when it has so many bytes before compression.
constexpr std::size_t kChunkBytes = std::size_t{256} << 10U;
// What contents of the other chunks come to at most, which are read as a whole.
constexpr std::uint64_t kMostModule = std::uint64_t{64} << 20U;
constexpr std::uint64_t kMostLaunch = std::uint64_t{1} << 16U;
constexpr std::uint64_t kMostRun = std::uint64_t{1} << 16U;
constexpr std::uint64_t kMostNumber = 10;  // bytes of one

void write_dim(const isa::Dim3& dim, ByteWriter& out) {
  out.number(dim.x);
  out.number(dim.y);
  out.number(dim.z);
}

isa::Dim3 read_dim(ByteReader& in) {
  isa::Dim3 dim;
  for (std::uint32_t* const extent : {&dim.x, &dim.y, &dim.z}) {
    const std::size_t at = in.at();
    *extent = static_cast<std::uint32_t>(in.number_to(isa::kMaxGridX, "an extent"));
    if (*extent == 0) {
      throw Damaged(at, "an extent of 0");
    }
  }
  return dim;
}

TraceLaunch read_launch(ByteReader& in, const std::vector<isa::Module>& modules) {
  TraceLaunch launch;
  if (modules.empty()) {
    throw Damaged(in.at(), "a launch before any module");
  }
  const std::vector<isa::Kernel>& kernels = modules.back().kernels;
  if (kernels.empty()) {
    throw Damaged(in.at(), "a launch of a module without kernels");
  }
  launch.kernel = static_cast<std::uint32_t>(in.number_to(kernels.size() - 1, "a kernel's number"));
  const std::size_t at = in.at();
  launch.grid = read_dim(in);
  launch.block = read_dim(in);
  // Each factor has 31 bits at most: the product of three may not fit.
  const auto within = [](const isa::Dim3& dim, std::uint64_t most) {
    return std::uint64_t{dim.x} * dim.y <= most && std::uint64_t{dim.x} * dim.y * dim.z <= most;
  };
  if (!within(launch.block, isa::kMaxBlockThreads) ||
      !within(launch.grid, isa::kMaxLaunchThreads / launch.block.count())) {
    throw Damaged(at, "a launch of more threads than there can be");
  }
  launch.dynamic_shared = static_cast<std::uint32_t>(in.number_to(0xffff'ffff, "a size"));
  launch.warp_size = static_cast<std::uint32_t>(in.number_to(isa::kMaxBlockThreads, "a warp's size"));
  const auto parameters = in.block();
  launch.parameters.assign(parameters.begin(), parameters.end());
  if (launch.parameters.size() != kernels[launch.kernel].parameter_bytes) {
    throw Damaged(in.at(), "a launch with other parameters than its kernel's");
  }
  in.expect_end();
  isa::LaunchRequest request{kernels[launch.kernel].name, launch.grid, launch.block, launch.dynamic_shared,
                             launch.parameters};
  try {
    isa::check_request(kernels[launch.kernel], request);
  } catch (const InputError& error) {
    throw Damaged(at, error.message());
  }
  if (const auto fault = isa::check_resources(kernels[launch.kernel], request)) {
    throw Damaged(at, fault->detail);
  }
  return launch;
}

void write_run(const TraceRun& run, ByteWriter& out) {
  out.text(run.version);
  out.text(run.machine);
  out.text(run.subject);
  out.number(run.threads);
  out.byte(run.scale ? 1 : 0);
  if (run.scale) {
    out.fixed(std::bit_cast<std::uint64_t>(*run.scale), 8);
  }
  out.byte(run.seed ? 1 : 0);
  if (run.seed) {
    out.number(*run.seed);
  }
  out.number(run.address_bits);
  out.byte(run.order_dependent ? 1 : 0);
  for (const std::uint64_t value : {run.cycles, run.warp_instructions, run.thread_instructions, run.retirement_hash}) {
    out.number(value);
  }
}

TraceRun read_run(ByteReader& in) {
  TraceRun run;
  run.version = in.text();
  run.machine = in.text();
  run.subject = in.text();
  run.threads = in.number();
  if (in.number_to(1, "a flag") != 0) {
    run.scale = std::bit_cast<double>(in.fixed(8));
  }
  if (in.number_to(1, "a flag") != 0) {
    run.seed = in.number();
  }
  run.address_bits = static_cast<unsigned>(in.number_to(64, "a count of address bits"));
  run.order_dependent = in.number_to(1, "a flag") != 0;
  for (std::uint64_t* const value :
       {&run.cycles, &run.warp_instructions, &run.thread_instructions, &run.retirement_hash}) {
    *value = in.number();
  }
  in.expect_end();
  return run;
}

}  // namespace

// ------------------------------------------------------------------------------------------------- writer

void WarpTraceWriter::module(const isa::Module& module) {
  ByteWriter out;
  write_module(module, out);
  chunks_.write("MODU", out.bytes());
}

void WarpTraceWriter::begin_launch(const TraceLaunch& launch, const isa::Kernel& kernel) {
  ByteWriter out;
  out.number(launch.kernel);
  write_dim(launch.grid, out);
  write_dim(launch.block, out);
  out.number(launch.dynamic_shared);
  out.number(launch.warp_size);
  out.block(launch.parameters);
  chunks_.write("LNCH", out.bytes());
  events_ = std::make_unique<KernelEvents>(kernel.words);
  packer_ = std::make_unique<ThreadPacker>(*events_);
  first_ = blocks_ = 0;
  written_.clear();
}

void WarpTraceWriter::block(std::span<const ThreadEvents> threads) {
  for (const ThreadEvents& thread : threads) {
    packer_->pack(thread, threads_);
  }
  ++blocks_;
  if (threads_.size() >= kChunkBytes) {
    flush();
  }
}

void WarpTraceWriter::flush() {
  if (blocks_ == 0) {
    return;
  }
  ByteWriter out;
  out.number(first_);
  out.number(blocks_);
  out.raw(threads_.bytes());
  chunks_.write("BLKS", out.bytes());
  written_.push_back(blocks_);
  first_ += blocks_;
  blocks_ = 0;
  threads_.clear();
  packer_ = std::make_unique<ThreadPacker>(*events_);
}

void WarpTraceWriter::end_launch() {
  flush();
  ByteWriter out;
  out.number(written_.size());
  for (const std::uint64_t blocks : written_) {
    out.number(blocks);
  }
  chunks_.write("LEND", out.bytes());
}

void WarpTraceWriter::finish(const TraceRun& run) {
  ByteWriter out;
  write_run(run, out);
  chunks_.write("RUN ", out.bytes());
  chunks_.finish();
}

// ------------------------------------------------------------------------------------------------- reader

WarpTraceReader::WarpTraceReader(std::istream& in, std::string name) : chunks_(in, std::move(name)) {
  read_steps();
  check_threads();
}

void WarpTraceReader::read_steps() {
  bool in_launch = false;
  bool has_run = false;
  Launch launch;
  for (std::size_t index = 0; index < chunks_.chunks().size(); ++index) {
    const ChunkReader::Chunk& chunk = chunks_.chunks()[index];
    const auto refuse_unless = [&](bool expected) {
      if (!expected || has_run) {
        chunks_.refuse(chunk, Damaged(0, "such a chunk is not expected here"));
      }
    };
    if (chunk.tag == "BLKS") {
      refuse_unless(in_launch);
      launch.parts.push_back({index, 0, 0});
      continue;
    }
    const bool known = chunk.tag == "MODU" || chunk.tag == "LNCH" || chunk.tag == "LEND" || chunk.tag == "RUN ";
    refuse_unless(known && in_launch == (chunk.tag == "LEND"));
    const std::uint64_t most = chunk.tag == "MODU"   ? kMostModule
                               : chunk.tag == "LNCH" ? kMostLaunch
                               : chunk.tag == "RUN " ? kMostRun
                                                     : kMostNumber * (launch.parts.size() + 1);
    const std::vector<std::uint8_t> contents = chunks_.read(chunk, most);
    ByteReader in(contents);
    try {
      if (chunk.tag == "MODU") {
        modules_.push_back(read_module(in));
      } else if (chunk.tag == "LNCH") {
        launch = {modules_.size() - 1, read_launch(in, modules_), {}};
        in_launch = true;
      } else if (chunk.tag == "LEND") {
        end_launch(launch, in);
        in_launch = false;
      } else {
        run_ = read_run(in);
        has_run = true;
      }
    } catch (const Damaged& damage) {
      chunks_.refuse(chunk, damage);
    }
  }
  if (!has_run) {
    throw InputError({chunks_.name()}, "byte 12: no chunk 'RUN ' says what was recorded");
  }
}

void WarpTraceReader::end_launch(Launch& launch, ByteReader& in) {
  if (in.count() != launch.parts.size()) {
    throw Damaged(0, fmt::format("the launch has {} chunks of blocks before it", launch.parts.size()));
  }
  const std::uint64_t blocks = launch.launch.grid.count();
  std::uint64_t next = 0;
  for (Launch::Part& part : launch.parts) {
    part.first = next;
    const std::size_t at = in.at();
    part.blocks = in.number_to(blocks - next, "a count of blocks");
    if (part.blocks == 0) {
      throw Damaged(at, "a chunk of no blocks");
    }
    next += part.blocks;
  }
  if (next != blocks) {
    throw Damaged(in.at(), fmt::format("{} of the launch's {} blocks are there", next, blocks));
  }
  in.expect_end();
  launches_.push_back(std::move(launch));
  launch = {};
}

template <class Take>
void WarpTraceReader::each_thread(const Launch& launch, const Launch::Part& part, const KernelEvents& events,
                                  const Take& take) {
  chunks_.read_on(chunks_.chunks()[part.chunk], [&](ByteReader& in) {
    if (in.number() != part.first || in.number() != part.blocks) {
      throw Damaged(in.at(), "it has other blocks than its launch's end says");
    }
    const std::uint64_t count = part.blocks * launch.launch.block.count();
    if (count > in.left()) {  // each thread takes a byte at least
      throw Damaged(in.at(), fmt::format("{} threads are more than it can hold", count));
    }
    ThreadUnpacker unpacker(events);
    for (std::uint64_t i = 0; i != count; ++i) {
      unpacker.unpack(in, take(count));
    }
    in.expect_end();
  });
}

// Nothing of them is kept: they are unpacked once more for their replay.
void WarpTraceReader::check_threads() {
  ThreadEvents thread;
  for (const Launch& launch : launches_) {
    const KernelEvents events(kernel_of(launch).words);
    for (const Launch::Part& part : launch.parts) {
      each_thread(launch, part, events, [&](std::uint64_t /*count*/) -> ThreadEvents& { return thread; });
    }
  }
}

std::vector<ThreadEvents> WarpTraceReader::threads(const Launch& launch, const Launch::Part& part,
                                                   const KernelEvents& events) {
  std::vector<ThreadEvents> threads;
  each_thread(launch, part, events, [&](std::uint64_t count) -> ThreadEvents& {
    threads.reserve(count);
    return threads.emplace_back();
  });
  return threads;
}

}  // namespace heddle::traces
