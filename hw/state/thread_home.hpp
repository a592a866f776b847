// A thread's home and its place.
//
// The home is what a thread keeps for as long as it lives: who it is, its block, its local memory, its retirement hash.
// The place is where it is executed now: core, register row and register lane. A thread's home says nothing of its
// place (hw/state/place.hpp); a register row says whose threads are in it.
//
// One core touches a home's part for a thread at a time: the one where the thread is.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "hw/state/local_memory.hpp"
#include "isa/special.hpp"

namespace heddle::hw {

using isa::LaneMask;
struct BlockHome;

// The home of up to core.simd_width threads with consecutive numbers in their block, in the order of their numbers.
struct ThreadHome {
  isa::ThreadContext context;       // what they read of themselves; of warps as the launch makes them
  BlockHome* block = nullptr;       // of all its threads
  std::uint32_t first = 0;          // number of the first one in its block
  unsigned threads = 0;             // how many there are
  std::uint32_t* hashes = nullptr;  // of the first one, the others behind it; null: not wanted
  std::uint64_t first_local = 0;    // number of the first one's local memory; the others' follow (local_address)
  LocalWritten written;             // what they have written of it
};

// One thread: the one with this number in a home. Null: none.
struct HomeThread {
  ThreadHome* home = nullptr;
  std::uint8_t lane = 0;

  [[nodiscard]] isa::Dim3 index() const {
    return {home->context.tid_x[lane], home->context.tid_y[lane], home->context.tid_z[lane]};
  }
  [[nodiscard]] std::uint32_t number() const { return home->first + lane; }  // in its block
  [[nodiscard]] std::uint64_t local() const { return home->first_local + lane; }
  [[nodiscard]] std::uint32_t& hash() const { return home->hashes[lane]; }
  friend bool operator==(const HomeThread&, const HomeThread&) = default;
};

// Whose threads are in a register row. Usually the threads of one home, lane for lane.
class RowThreads {
 public:
  // The home all of whose living threads are here, lane for lane, with no other thread; null: look at each lane.
  [[nodiscard]] ThreadHome* whole() const { return whole_; }
  // The thread in a lane; of an empty lane, the last one that was there.
  [[nodiscard]] HomeThread at(unsigned lane) const {
    return whole_ != nullptr ? HomeThread{whole_, static_cast<std::uint8_t>(lane)}
           : lanes_          ? (*lanes_)[lane]
                             : HomeThread{};
  }
  // The lanes that have a thread.
  [[nodiscard]] LaneMask present() const { return present_; }

  // All of a home's threads come, each into the lane of its number. The row is empty.
  void hold(ThreadHome& home) {
    whole_ = &home;
    present_ = lanes_of(home);
  }
  // A thread comes into an empty lane.
  void put(unsigned lane, const HomeThread& thread);
  // The thread in a lane goes elsewhere.
  void take(unsigned lane);
  // Threads have exited.
  void exited(LaneMask lanes) { present_ &= ~lanes; }

  [[nodiscard]] static LaneMask lanes_of(const ThreadHome& home) {
    return home.threads == 0 ? 0 : ~LaneMask{0} >> (isa::kLanes - home.threads);
  }

 private:
  void look_at_each_lane();

  ThreadHome* whole_ = nullptr;
  LaneMask present_ = 0;
  std::unique_ptr<std::array<HomeThread, isa::kLanes>> lanes_;  // made when it is first wanted
};

}  // namespace heddle::hw
