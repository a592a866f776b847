// A recorded run: the kernels, the launches in their order, and what every thread did (traces/thread_trace.hpp), in a
// file of chunks (traces/chunk_file.hpp). docs/traces.md describes it for readers other than Heddle.
//
//   MODU   a module that was loaded: its code as the machine executes it, and what a launch needs to know of it
//   LNCH   a launch of one of its kernels; its blocks follow
//   BLKS   thread blocks that follow one another in the grid's order, the threads of each in order of their ids
//   LEND   the end of the launch: blocks of each BLKS chunk
//   RUN    last: what was recorded, on which machine, and what it came to
#pragma once

#include <istream>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "isa/module.hpp"
#include "traces/chunk_file.hpp"
#include "traces/thread_trace.hpp"

namespace heddle::traces {

struct TraceLaunch {
  std::uint32_t kernel = 0;  // index in the module
  isa::Dim3 grid;
  isa::Dim3 block;
  std::uint32_t dynamic_shared = 0;
  std::uint32_t warp_size = 0;  // threads of a warp when it was recorded
  std::vector<std::uint8_t> parameters;
};

struct TraceRun {
  std::string version;  // of the program that recorded it
  std::string machine;  // its name
  std::string subject;  // workload, or LAUNCH.toml
  std::uint64_t threads = 0;
  std::optional<double> scale;
  std::optional<std::uint64_t> seed;
  unsigned address_bits = 32;
  bool order_dependent = false;
  // What it came to.
  std::uint64_t cycles = 0;
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;
  std::uint64_t retirement_hash = 0;
};

class WarpTraceWriter {
 public:
  explicit WarpTraceWriter(std::ostream& out) : chunks_(out) {}
  void module(const isa::Module& module);
  // Blocks of this launch follow, in the grid's order, until end_launch().
  void begin_launch(const TraceLaunch& launch, const isa::Kernel& kernel);
  void block(std::span<const ThreadEvents> threads);
  void end_launch();
  void finish(const TraceRun& run);
  [[nodiscard]] std::uint64_t written() const { return chunks_.written(); }

 private:
  void flush();
  ChunkWriter chunks_;
  std::unique_ptr<KernelEvents> events_;
  std::unique_ptr<ThreadPacker> packer_;
  ByteWriter threads_;                  // of the BLKS chunk being made
  std::uint64_t first_ = 0;             // its first block
  std::uint64_t blocks_ = 0;            // its blocks
  std::vector<std::uint64_t> written_;  // blocks of this launch's chunks
};

class WarpTraceReader {
 public:
  struct Launch {
    std::size_t module = 0;
    TraceLaunch launch;
    struct Part {
      std::size_t chunk = 0;
      std::uint64_t first = 0;
      std::uint64_t blocks = 0;
    };
    std::vector<Part> parts;  // every block of the grid once, in order
  };

  // Checks the whole file. `in` outlives the reader. Throws InputError with the byte offset of what is wrong.
  WarpTraceReader(std::istream& in, std::string name);

  [[nodiscard]] const TraceRun& run() const { return run_; }
  [[nodiscard]] const std::vector<isa::Module>& modules() const { return modules_; }
  // In the order in which they ran; the modules of successive ones never go back.
  [[nodiscard]] const std::vector<Launch>& launches() const { return launches_; }
  [[nodiscard]] const isa::Kernel& kernel_of(const Launch& launch) const {
    return modules_[launch.module].kernels[launch.launch.kernel];
  }
  // What the threads of a part's blocks did, block after block. Throws InputError. `events` are the kernel's.
  [[nodiscard]] std::vector<ThreadEvents> threads(const Launch& launch, const Launch::Part& part,
                                                  const KernelEvents& events);

 private:
  void read_steps();
  void check_threads();
  // Unpacks each thread of the part into what `take`, told how many there are, returns for it.
  template <class Take>
  void each_thread(const Launch& launch, const Launch::Part& part, const KernelEvents& events, const Take& take);
  void end_launch(Launch& launch, ByteReader& in);
  ChunkReader chunks_;
  TraceRun run_;
  std::vector<isa::Module> modules_;
  std::vector<Launch> launches_;
};

}  // namespace heddle::traces
