// Between cores: threads that leave one for another, and what happens to a block's threads where they are guests.
// Where a global scheduler has the blocks' homes (hw/gpu/global_scheduler.hpp), it is what a core's messages go to and
// come from: its number is that of the cores.
// Non-blocking; the network (hw/gpu/thread_network.hpp) hands a message on to core `to`, which looks at it in the next
// cycle, messages of one cycle in the order of the cores that they come from.
//
//   group    to any core      threads that stand at one PC become a group there. Whoever sends it knows that there is
//                             room: a register lane for each (Places::find), and a group
//   arrival  to the home      threads of a guest have come to a barrier of their block
//   release  to a core        the block's barrier has completed for these sub-warps of the core
//   exit     to the home      threads of a guest have exited
//   place    to the global scheduler: the place of a warp is empty, of which no thread is left
//   past     to the global scheduler: a warp that was bound to its core will access its block's scratchpad no more
#pragma once

#include <cstdint>
#include <optional>
#include <tlm>
#include <vector>

#include "hw/core/warps/places.hpp"
#include "hw/state/block_home.hpp"

namespace heddle::hw {

struct HomeMessage {
  enum class Kind : std::uint8_t { group, arrival, release, exit, place, past };
  Kind kind = Kind::group;
  unsigned from = 0;  // cores
  unsigned to = 0;
  std::uint32_t pc = 0;  // group: where it stands; arrival: of the barrier operation
  // group
  unsigned warp_in_block = 0;  // of the group that it was
  std::uint32_t merge_points = 0;
  std::uint32_t progress = 0;
  std::uint32_t progress_before = 0;
  std::vector<Traveller> threads;
  bool bound = false;                      // Group::bound
  bool begins_block = false;               // the first warp of a block whose part of the scratchpad is the core's
  unsigned empties_places = 0;             // to the global scheduler: register rows that have no thread then
  std::optional<BarrierArrival> waits_at;  // to the global scheduler: the barrier; `arrival` without sub-warp
  // all but `group`: of which block
  BlockHome* block = nullptr;
  BarrierArrival arrival;      // arrival
  HomeThread thread;           // arrival: the first thread that has come
  BlockHome::Release release;  // release
  unsigned exited = 0;         // exit: how many
};

enum class HomePhase : std::uint8_t { message };

struct HomeProtocol {
  using tlm_payload_type = HomeMessage;
  using tlm_phase_type = HomePhase;
};

// A core sends by the forward path and is sent to by the backward path.
using HomeInitiatorSocket = ::tlm::tlm_initiator_socket<32, HomeProtocol>;
using HomeTargetSocket = ::tlm::tlm_target_socket<32, HomeProtocol>;

}  // namespace heddle::hw
