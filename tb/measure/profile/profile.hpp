// What a run did over time and where in the program: an observer of the cores that counts per instruction, per warp,
// per lane and per stretch of time. Its sums are the statistics': instructions, lanes, idle cycles by cause, requests.
//
// Memory: TimeBuckets::kCount buckets per row, rows per core, lane, cause, band of warps and band of warps' sizes, and
// one set of counters per instruction of each kernel; the first kThreadMaps maps of two-dimensional grids, and the
// first kPictures pictures. Nothing grows with the length of the run but the list of launches, which keeps the first
// kLaunches.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hw/parameters/machine.hpp"
#include "isa/module.hpp"
#include "tb/device/picture.hpp"
#include "tb/device/run_observer.hpp"
#include "tb/measure/profile/thread_map.hpp"
#include "tb/measure/profile/time_buckets.hpp"

namespace heddle::tb {

// What one instruction of a kernel came to, over all warps. "Warp cycles" are cycles of groups (warps, or what a
// divergence mechanism makes of them) summed.
struct InstructionCounters {
  std::uint64_t instructions = 0;  // sub-warps retired
  std::uint64_t thread_instructions = 0;
  std::uint64_t lane_instructions = 0;        // active lanes of `instructions`
  std::uint64_t float_lane_instructions = 0;  // of lane_instructions: of floating-point instructions
  std::uint64_t tensor_multiply_adds = 0;     // as hw::CoreStatistics counts them
  std::uint64_t register_reads = 0;           // operand rows read, of all lanes
  std::uint64_t register_writes = 0;          // result rows written, of all lanes
  std::uint64_t cycles = 0;       // execute stage: cycles in which it kept at least one functional unit active
  std::uint64_t lane_cycles = 0;  // functional units active in `cycles`, summed
  std::uint64_t branches = 0;     // conditional branches completed
  std::uint64_t divergent_branches = 0;
  std::uint64_t memory_instructions = 0;  // global or local space
  std::uint64_t line_requests = 0;        // lines that memory_instructions needed
  std::uint64_t late_lines = 0;           // of line_requests: the line was not in the L1
  std::uint64_t store_lines = 0;          // of line_requests: of stores
  std::uint64_t scratchpad_accesses = 0;
  std::uint64_t scratchpad_extra_cycles = 0;  // of accesses to scratchpad or private memory, beyond the first
  std::uint64_t private_memory_accesses = 0;
  // Warp cycles by the group's state (hw::GroupState), in order. `ready`: waited to be chosen, with this instruction
  // next; `fetching`: waited for its line of the instruction cache; `in_flight`: it was in the pipeline; the others:
  // waited in or after it. Entry `free` stays 0.
  std::array<std::uint64_t, hw::kGroupStates> warp_cycles{};
  // Cycles in which it stood at the head of the memory stage for want of room, by the idle cause; others stay 0.
  std::array<std::uint64_t, hw::kIdleCauseCount> held_cycles{};

  // visit(name, field): the counters that are single numbers, in order.
  template <class Self, class Visitor>
  static void describe(Self& self, Visitor&& visit) {
    visit("instructions", self.instructions);
    visit("thread_instructions", self.thread_instructions);
    visit("lane_instructions", self.lane_instructions);
    visit("float_lane_instructions", self.float_lane_instructions);
    visit("tensor_multiply_adds", self.tensor_multiply_adds);
    visit("register_reads", self.register_reads);
    visit("register_writes", self.register_writes);
    visit("cycles", self.cycles);
    visit("lane_cycles", self.lane_cycles);
    visit("branches", self.branches);
    visit("divergent_branches", self.divergent_branches);
    visit("memory_instructions", self.memory_instructions);
    visit("line_requests", self.line_requests);
    visit("late_lines", self.late_lines);
    visit("store_lines", self.store_lines);
    visit("scratchpad_accesses", self.scratchpad_accesses);
    visit("scratchpad_extra_cycles", self.scratchpad_extra_cycles);
    visit("private_memory_accesses", self.private_memory_accesses);
  }
};

// The names of hw::GroupState, in order, as the report has them.
inline constexpr std::array<std::string_view, hw::kGroupStates> kGroupStateNames = {
    "free", "ready", "fetching", "in_flight", "memory", "complex", "barrier", "parked", "throttled", "queueing"};

class Profile final : public RunObserver {
 public:
  static constexpr std::size_t kLaunches = 200;
  static constexpr std::size_t kThreadMaps = 4;  // kernels, each with one grid and block
  static constexpr std::size_t kPictures = 8;
  static constexpr unsigned kLongestPicture = 512;  // pixels of a side; larger ones are reduced
  // Instructions are told apart by how many threads of their warp are active: in so many bands, 1 to n threads, n + 1
  // to 2n ..., n being the least power of two with which they hold the largest warp.
  static constexpr unsigned kThreadBands = 8;
  static constexpr unsigned kWarpRows = 64;  // rows of the warps' heat map: where a core has more groups, bands of them

  explicit Profile(const hw::Machine& machine);

  struct Launch {
    std::string kernel;
    isa::Dim3 grid, block;
    unsigned warp_size = 0;
    link::Cycle begin = 0, end = 0;  // of the run, without the time in which no launch runs
    bool complete = false;
  };
  // A kernel that was launched, with its code as it was compiled.
  struct KernelProfile {
    isa::Kernel kernel;
    std::string module;  // the file that it came from
    std::vector<std::string> source_files;
    std::uint64_t launches = 0;
    link::Cycle cycles = 0;
    std::vector<InstructionCounters> counters;  // one per instruction, and a last one for control outside of them
  };

  // Rows of buckets() that there is one of.
  enum Row : std::size_t {
    kBusyCycles,  // core cycles with a functional unit active
    kLaneCycles,  // functional units active, summed
    kWarpInstructions,
    kThreadInstructions,
    kMemoryInstructions,
    kLineRequests,
    kLateLines,
    kBranches,
    kDivergentBranches,
    kRows
  };
  static constexpr std::array<std::string_view, kRows> kRowNames = {
      "busy_cycles",   "lane_cycles", "warp_instructions", "thread_instructions", "memory_instructions",
      "line_requests", "late_lines",  "branches",          "divergent_branches"};
  [[nodiscard]] std::size_t idle_row(std::size_t cause) const { return kRows + cause; }
  [[nodiscard]] std::size_t state_row(std::size_t state) const { return kRows + hw::kIdleCauseCount + state; }
  [[nodiscard]] std::size_t core_row(unsigned core) const { return state_row(hw::kGroupStates) + core; }
  [[nodiscard]] std::size_t lane_row(unsigned lane) const { return core_row(cores_) + lane; }
  [[nodiscard]] std::size_t warp_row(unsigned row) const { return lane_row(lanes_) + row; }
  // Thread instructions that a core has retired.
  [[nodiscard]] std::size_t instruction_row(unsigned core) const { return warp_row(kWarpRows) + core; }
  // Cycles of the blocks that have begun in a core and not finished, summed.
  [[nodiscard]] std::size_t block_row(unsigned core) const { return instruction_row(cores_) + core; }
  // Instructions fetched for so many threads (threads_per_band()); their sum is the statistic `fetched`.
  [[nodiscard]] std::size_t band_row(unsigned band) const { return block_row(cores_) + band; }

  [[nodiscard]] const TimeBuckets& buckets() const { return buckets_; }
  [[nodiscard]] const std::vector<KernelProfile>& kernels() const { return kernels_; }
  [[nodiscard]] const std::vector<Launch>& launches() const { return launches_; }
  [[nodiscard]] std::uint64_t launch_count() const { return launch_count_; }
  [[nodiscard]] link::Cycle cycles() const { return elapsed_; }
  // The clock at the end of the last launch: cycles() and what the host took between launches.
  [[nodiscard]] link::Cycle clock() const { return end_; }
  [[nodiscard]] unsigned core_count() const { return cores_; }
  [[nodiscard]] unsigned lanes() const { return lanes_; }
  // Band b holds instructions of b * n + 1 to (b + 1) * n threads.
  [[nodiscard]] unsigned threads_per_band() const { return 1U << band_shift_; }
  [[nodiscard]] const std::vector<ThreadMap>& thread_maps() const { return thread_maps_; }
  [[nodiscard]] const std::vector<Picture>& pictures() const { return pictures_; }
  // Sub-warps started by the groups of a row of the warps' heat map, by core; rows from 0 to warp_rows().
  [[nodiscard]] unsigned warp_rows() const { return warp_rows_; }
  [[nodiscard]] unsigned groups_per_row() const { return 1U << group_shift_; }
  [[nodiscard]] std::uint64_t issued_by(unsigned core, unsigned warp_row) const {
    return core_warps_[core * kWarpRows + warp_row];
  }
  // Cycles in which a lane of a core was active.
  [[nodiscard]] std::uint64_t lane_active(unsigned core, unsigned lane) const {
    return core_lanes_[core * std::size_t{lanes_} + lane];
  }

  // ---- events
  void attached(hw::Gpu& gpu) override { gpu_ = &gpu; }
  void launching(const LaunchInfo& launch) override;
  void launched(const LaunchInfo& launch, bool complete) override;
  void shown(const Picture& picture) override;
  void launch_began(const hw::CoreState& core, link::Cycle first) override;
  void launch_ended(const hw::CoreState& core, link::Cycle end) override;
  void block_started(const hw::CoreState& core, unsigned block_slot) override;
  void block_finished(const hw::CoreState& core, unsigned block_slot) override;
  [[nodiscard]] bool knows_rests() const override { return true; }
  void group_changed(const hw::CoreState& core, const hw::Group& group, hw::GroupState before) override;
  void fetched(const hw::CoreState& core, const link::SubWarp& sub_warp) override;
  void issued(const hw::CoreState& core, const link::SubWarp& sub_warp, link::Cycle last) override;
  void retired(const hw::CoreState& core, const link::SubWarp& sub_warp) override;
  void completed(const hw::CoreState& core, const hw::Group& group, const hw::Completion& completion) override;
  void accessed(const hw::CoreState& core, const hw::MemoryAccess& access, link::Cycle scratchpad_last) override;
  void line(const hw::CoreState& core, const hw::MemoryAccess& access, unsigned line, hw::LineOutcome outcome) override;
  void put_aside(const hw::CoreState& core, const link::SubWarp& sub_warp) override;
  void held(const hw::CoreState& core, const link::SubWarp& sub_warp, hw::CoreStage stage, hw::IdleCause cause,
            hw::Cycle first, hw::Cycle cycles) override;
  void idle(const hw::CoreState& core, link::Cycle first, link::Cycle cycles, hw::IdleCause cause) override;

 private:
  // Where a group stands, since when, and the instructions that the time is counted to.
  struct Tracked {
    link::Cycle since = 0;
    std::uint32_t pc = 0;          // of the present state
    std::uint32_t latest_pc = 0;   // fetched last
    std::uint32_t waiting_pc = 0;  // whose access was put aside last
    hw::GroupState state = hw::GroupState::free;
    std::vector<ThreadMap::Cell> at_branch;  // whose conditional branch was issued and has not completed
  };
  // The blocks of a core: how many, since when.
  struct Blocks {
    std::uint64_t count = 0;
    link::Cycle since = 0;
  };
  // A launch that runs, or has ended since none ran.
  struct Present {
    std::size_t kernel = 0;
    std::optional<std::size_t> listed;  // in launches_
    ThreadMap* threads = nullptr;       // null: it has no map
    link::Cycle first = 0;              // of the clock of the events
    bool began = false;
  };
  // Of the launch that has the core.
  [[nodiscard]] InstructionCounters& at(unsigned core, std::uint32_t pc) {
    std::vector<InstructionCounters>& counters = kernels_[of_core_[core]->kernel].counters;
    return counters[pc < counters.size() ? pc : counters.size() - 1];
  }
  [[nodiscard]] link::Cycle in_run(link::Cycle cycle) const { return cycle - first_ + elapsed_; }
  [[nodiscard]] Tracked& tracked(const hw::CoreState& core, hw::GroupId group);
  void settle(unsigned core, Tracked& group, link::Cycle until);
  void end_groups(unsigned core, link::Cycle end);
  [[nodiscard]] unsigned warp_row_of(hw::GroupId group);
  void widen_bands(unsigned threads);
  void settle_blocks(unsigned core, link::Cycle until);
  [[nodiscard]] ThreadMap* map_of(const LaunchInfo& launch);
  void map_retired(const hw::CoreState& core, const link::SubWarp& sub_warp);

  unsigned cores_, lanes_;
  TimeBuckets buckets_;
  std::vector<KernelProfile> kernels_;
  std::vector<Launch> launches_;
  std::uint64_t launch_count_ = 0;
  std::map<std::uint64_t, Present> present_;  // by Launch::id
  std::vector<Present*> of_core_;             // whose a core is
  unsigned running_ = 0;                      // of them
  link::Cycle first_ = 0;                     // since when they run, on the clock of the events
  link::Cycle end_ = 0;                       // until when, as far as is known
  link::Cycle elapsed_ = 0;                   // cycles of the launches before
  bool began_ = false;
  bool ended_ = false;
  hw::Gpu* gpu_ = nullptr;
  std::vector<std::vector<Tracked>> groups_;  // by core
  unsigned group_shift_ = 0;                  // log2 of the groups of a row of the warps' heat map
  unsigned warp_rows_ = 0;
  std::vector<std::uint64_t> core_warps_, core_lanes_;
  const bool lanes_apart_;      // lanes execute each an instruction of its own
  unsigned band_shift_ = 0;     // log2 of threads_per_band()
  std::vector<Blocks> blocks_;  // by core
  std::vector<ThreadMap> thread_maps_;
  std::vector<Picture> pictures_;
};

}  // namespace heddle::tb
