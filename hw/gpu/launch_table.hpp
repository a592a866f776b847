// Which block of which launch goes to which core: what the grid dispatcher keeps of launches that run side by side.
//
// A core belongs to one launch at a time, as in GPGPU-Sim unless told otherwise. The first launch begins with all
// cores. A launch that joins gets the cores that the earlier ones leave: cores that none of their blocks is in any
// more, and that they have no further blocks for. Such a core writes back what its L1 holds before it changes hands.
// Earlier launches come first, and spread their blocks over as many cores as they have blocks; so what a launch gets
// depends on the order of the launches and their progress, and on nothing else.
//
// Blocks of a launch go out in order of their number, one after the other to the next place in turn that has a free
// slot. Places are the cores, in order, and behind them further ones that blocks can begin in, which belong to the
// first launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace heddle::hw {

class LaunchTable {
 public:
  using Index = std::size_t;  // of a launch, in the order of begin() and join()

  // Forgets everything. The first launch has `blocks` blocks, and room[i] slots for them in place i; the first `cores`
  // places are cores.
  void begin(std::uint64_t blocks, const std::vector<unsigned>& room, std::size_t cores);
  // A launch of `blocks` blocks, of which each core holds `room`.
  Index join(std::uint64_t blocks, unsigned room);
  [[nodiscard]] std::size_t launches() const { return launches_.size(); }

  struct Block {
    unsigned place = 0;
    unsigned slot = 0;  // in the place
    Index launch = 0;
    std::uint64_t number = 0;
  };
  // Hands out a block, of the first launch that has one and a place for it, among the first `launches` ones.
  [[nodiscard]] std::optional<Block> next(Index launches);
  [[nodiscard]] std::optional<Block> next() { return next(launches()); }
  // Some launch has blocks that have not been handed out.
  [[nodiscard]] bool blocks_left() const;
  // A block is done, and its slot free again; returns its number.
  std::uint64_t finish(unsigned place, unsigned slot);
  [[nodiscard]] std::uint64_t finished() const { return finished_; }  // blocks of all launches
  [[nodiscard]] std::uint64_t finished(Index launch) const { return launches_[launch].finished; }
  [[nodiscard]] std::uint64_t blocks(Index launch) const { return launches_[launch].blocks; }
  // Every block of the launch, or of all, is done.
  [[nodiscard]] bool over(Index launch) const { return launches_[launch].finished == launches_[launch].blocks; }
  [[nodiscard]] bool over() const;

  // A core that is to write back what it holds, since a launch waits for it or its own launch is over; it counts as
  // told.
  [[nodiscard]] std::optional<unsigned> leaving();
  // All cores that have not been told to, if all launches are over.
  [[nodiscard]] std::vector<unsigned> remaining();
  void written_back(unsigned core) { places_[core].state = State::free; }
  [[nodiscard]] bool all_written_back() const;

  struct HandOver {
    unsigned core = 0;
    Index from = 0, to = 0;
  };
  // A core that changes hands; `take` it once it has.
  [[nodiscard]] std::optional<HandOver> hand_over();
  void take(unsigned core);
  [[nodiscard]] Index owner(unsigned place) const { return places_[place].owner; }
  [[nodiscard]] bool holds_blocks(unsigned place) const { return places_[place].used != 0; }

  // A launch that is over, and whose cores have written back, while another goes on; each once.
  [[nodiscard]] std::optional<Index> ended();

 private:
  enum class State {
    working,
    leaving,  // writes back
    free,     // has written back
    changing  // is handed over
  };
  struct Slot {
    bool used = false;
    std::uint64_t block = 0;
  };
  struct Place {
    Index owner = 0;
    State state = State::working;
    std::vector<Slot> slots;
    std::size_t used = 0;
  };
  struct Entry {
    std::uint64_t blocks = 0;
    unsigned room = 0;
    std::uint64_t next = 0;
    std::uint64_t finished = 0;
    bool told = false;
    [[nodiscard]] std::uint64_t left() const { return blocks - next; }
  };
  // Further cores that a launch would put a block in at once.
  [[nodiscard]] std::size_t wanted(Index launch) const;

  std::vector<Entry> launches_;
  std::vector<Place> places_;
  std::size_t cores_ = 0;
  unsigned next_place_ = 0;
  std::uint64_t finished_ = 0;
};

}  // namespace heddle::hw
