// The device heap: what `malloc` and `free` in kernels do (operations heap.alloc and heap.free). No timing, no SystemC:
// interpreter and model share it. Only what is allocated is kept here; the bytes are device memory like any other.
//
// Addresses. What a thread gets depends on the blocks that were live when the launch began, on the thread's linear
// number in the launch, on how many threads the launch has, and on what the thread itself has allocated and freed in
// it: never on when it asks. A block lies in a slot of its size's class (32, 48, 64, 96, 128 ... 4096, 8192 ... bytes),
// and a class has a range of addresses of its own, divided into slots. Of the slots that were free when a launch of T
// threads began, in the order of addresses, slots number t, T + t, 2 T + t ... belong to thread t. It takes the first
// of them that it has not had, or the one that it has freed last. So the first blocks of neighbouring threads lie side
// by side, and no thread needs to know of others. At least kBehind bytes of a slot behind its block stay unused, so
// that an overrun is seen.
//
// Frees. A thread's own block of the same launch can be had by it again at once. One of another thread, or of an
// earlier launch, is noted, and free from the end of the launch on.
//
// Limit. A thread gets null when the blocks that it has got in the launch, less blocks that it has freed, its own and
// of earlier launches, would be more bytes than were left of the limit when the launch began: as if it were alone. When
// more than the limit is live at a launch's end, that is a fault of the launch. Blocks count as whole kAlignment bytes.
//
// Who may call what. allocate, free and what asks for a thread's access touch what belongs to that thread, and what
// does not change within a launch: calls for different threads may come at once. All else is for who begins and ends
// launches. Launches that use the heap follow each other.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "isa/fault.hpp"
#include "isa/module.hpp"

namespace heddle::isa {

class DeviceHeap {
 public:
  static constexpr std::uint64_t kAlignment = 16;  // of blocks
  static constexpr std::uint64_t kBehind = 16;
  static constexpr std::uint64_t kUsualLimit = std::uint64_t{8} << 20U;  // as CUDA has it
  static constexpr std::uint64_t kMostLimit = std::uint64_t{1} << 40U;
  // Threads of launches that do not use the heap.
  static constexpr std::uint64_t kNobody = ~std::uint64_t{0};

  // ---- between launches
  // Of programs with 32-bit addresses are the addresses from kNarrowHeapBase on only once this is said.
  void reserve_narrow() { narrow_ = true; }
  [[nodiscard]] bool narrow() const { return narrow_; }
  void set_limit(std::uint64_t bytes) { limit_ = bytes; }  // at most kMostLimit
  [[nodiscard]] std::uint64_t limit() const { return limit_; }
  [[nodiscard]] bool used() const { return used_; }  // a launch that uses it has begun at any time
  [[nodiscard]] std::uint64_t live_bytes() const { return live_bytes_; }
  [[nodiscard]] std::uint64_t live_blocks() const;
  // A launch begins that uses the heap; none is under way.
  void begin_launch(const LaunchRequest& launch);
  [[nodiscard]] bool in_launch() const { return threads_ != 0; }
  // What has been noted takes effect. What of it could not, or that the limit is exceeded: a fault, without the
  // kernel's name and the launch's number; of several the first in the order of threads.
  [[nodiscard]] std::optional<Fault> end_launch();
  // The launch has not come to its end: as if it had done nothing.
  void abandon_launch();
  void clear();  // nothing is live

  // ---- by a thread of the launch, by its linear number in it
  struct Given {
    std::uint64_t address = 0;  // 0: none is left
    std::string wrong;          // not empty: a fault, and what is wrong
  };
  // `wide`: an address may have 64 bits. A block of 0 bytes is one that nothing can be read from.
  [[nodiscard]] Given allocate(std::uint64_t thread, std::uint64_t size, bool wide);
  // By the instruction at `pc`. What is wrong; empty when nothing is. Null is freed without effect.
  [[nodiscard]] std::string free(std::uint64_t thread, std::uint64_t address, std::uint32_t pc);

  // ---- accesses
  [[nodiscard]] bool holds(std::uint64_t address) const {
    return address - kWideHeapBase < kWideHeapBytes || (address - kNarrowHeapBase < kNarrowHeapBytes && narrow_);
  }
  // Whether a thread may access the bytes, all in one block. Of blocks of earlier launches and its own this is exact.
  // Blocks that other threads of the launch allocate are not known here: a slot that they can have been given counts as
  // allocated, up to the kBehind bytes at its end.
  [[nodiscard]] bool allows(std::uint64_t thread, std::uint64_t address, std::uint64_t size) const;
  // Where such an access lies, for messages: "4 bytes past the end of a heap block (0x800000000000, 24 bytes)".
  [[nodiscard]] std::string describe(std::uint64_t thread, std::uint64_t address, std::uint64_t size) const;

  static constexpr std::uint64_t kWideHeapBase = std::uint64_t{1} << 47U;
  static constexpr std::uint64_t kWideHeapBytes = std::uint64_t{1} << 47U;
  static constexpr std::uint64_t kNarrowHeapBase = 0x8000'0000;
  static constexpr std::uint64_t kNarrowHeapBytes = 0x8000'0000;

 private:
  static constexpr unsigned kWideClasses = 64;
  static constexpr unsigned kNarrowClasses = 32;
  // Where an address lies: in a slot of a range, which has a class; wide ranges, then narrow ones.
  struct Place {
    unsigned range = 0;
    std::uint64_t slot_bytes = 0;
    std::uint64_t index = 0;   // of the slot in its range
    std::uint64_t offset = 0;  // into the slot
  };
  [[nodiscard]] static std::uint64_t base_of(unsigned range);
  [[nodiscard]] static Place place_of(std::uint64_t address);

  struct Block {
    std::uint64_t index = 0;
    std::uint64_t size = 0;  // as asked for
  };
  using Blocks = std::vector<Block>;  // in the order of their indices
  // The live one of that index; null: none. `Some`: constant or not.
  template <class Some>
  [[nodiscard]] static auto find(Some& blocks, std::uint64_t index) -> decltype(blocks.data()) {
    const auto found = std::lower_bound(blocks.begin(), blocks.end(), index,
                                        [](const Block& block, std::uint64_t at) { return block.index < at; });
    return found != blocks.end() && found->index == index ? &*found : nullptr;
  }

  // What a thread has got in the launch, of one range. By how many slots of its own it had had before: the size plus 1
  // of the block there, 0 when it is free again.
  struct Slots {
    unsigned range = 0;
    std::vector<std::uint64_t> size_plus_one;
    std::vector<std::uint32_t> free;  // the latest last
  };
  struct Arena {
    std::uint64_t left = 0;  // bytes that the thread may still get
    std::vector<Slots> slots;
    std::map<std::uint64_t, std::uint32_t> freed;  // others' blocks, by address: at which PC
  };
  // Whose slot it is that was free when the launch began, and its number among the thread's own.
  struct Owner {
    std::uint64_t thread = 0;
    std::uint64_t turn = 0;
  };
  [[nodiscard]] Owner owner_of(const Place& place) const;
  [[nodiscard]] std::uint64_t free_slot(unsigned range, std::uint64_t number) const;
  [[nodiscard]] bool possible(const Place& place, const Owner& owner) const;
  [[nodiscard]] const Arena* arena_of(std::uint64_t thread) const;
  [[nodiscard]] Arena& own_arena(std::uint64_t thread);
  // Of a range; null: none were had.
  template <class Some>
  [[nodiscard]] static auto slots_of(Some& arena, unsigned range) -> decltype(arena.slots.data()) {
    const auto found = std::find_if(arena.slots.begin(), arena.slots.end(),
                                    [range](const Slots& slots) { return slots.range == range; });
    return found != arena.slots.end() ? &*found : nullptr;
  }
  [[nodiscard]] static std::string free_own(Arena& arena, const Place& place, std::uint64_t turn);
  [[nodiscard]] std::optional<Fault> take_frees(std::vector<Blocks>& fresh, std::uint64_t thread);
  [[nodiscard]] Fault fault_at(Fault::Kind kind, std::uint64_t thread, std::uint32_t pc, std::string detail) const;

  bool narrow_ = false;
  bool used_ = false;
  std::uint64_t limit_ = kUsualLimit;
  std::array<Blocks, kWideClasses + kNarrowClasses> live_;  // as when the launch began, while one is under way
  std::uint64_t live_bytes_ = 0;
  // The launch.
  std::uint64_t threads_ = 0;  // 0: none
  Dim3 grid_, block_;
  std::uint64_t left_ = 0;                      // of the limit when it began
  std::vector<std::unique_ptr<Arena>> arenas_;  // by thread; null: it has not called
};

}  // namespace heddle::isa
