// An L2 of several partitions (l2.partitions), as the interconnect sees it: which partition a core and a slice belong
// to, and which answers cross from one to another. Plain C++.
//
// Cores and slices are dealt out to the partitions in runs of neighbours. A line has its home in the slice that its
// address says, whose partition alone has its latest bytes; other partitions keep copies of what their cores have read
// ("Each L2 partition localizes and caches data for memory accesses from SMs in the GPCs directly connected to the
// partition", A100 white paper, 2020). So an answer crosses
//
//   to a load              when its line's home is in another partition than the core, and the core's has no copy
//   to a store, an atomic  when the home is in another partition than the core; all copies of the line are dropped
//
// Here the copies are tags: data is read at home, which orders what is done to a line. Each partition has room for
// l2.bytes / l2.partitions of tags, those of lines at home and of copies together, least recently used first out; a
// copy is of a whole line, and takes no room in the slices' stores.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/noc/statistics.hpp"
#include "hw/parameters/beyond_core.hpp"

namespace heddle::hw {

class L2Partitions {
 public:
  L2Partitions(const L2Parameters& parameters, unsigned cores, unsigned slices);

  [[nodiscard]] unsigned of_core(unsigned core) const { return core * count_ / cores_; }
  [[nodiscard]] unsigned of_slice(unsigned slice) const { return slice * count_ / slices_; }
  // Of an answer to a core from a slice, in the order in which answers leave the slices. `reads`: to a load.
  [[nodiscard]] bool crosses(unsigned core, unsigned slice, std::uint64_t address, bool reads);
  // The L2 is empty again.
  void forget();
  [[nodiscard]] PartitionStatistics& statistics() { return statistics_; }

 private:
  // Which lines a partition has: a set of ways by a hash of the line's number.
  class Lines {
   public:
    Lines(std::uint64_t lines, unsigned ways);
    // A core has read it. Whether it was there already; it is now.
    bool read(std::uint64_t line);
    void drop(std::uint64_t line);
    void forget();

   private:
    struct Way {
      std::uint64_t line = 0;
      std::uint64_t used = 0;  // 0: there is none
    };
    [[nodiscard]] Way* set_of(std::uint64_t line);
    [[nodiscard]] Way* find(Way* set, std::uint64_t line) const;
    unsigned ways_;
    std::vector<Way> all_;
    std::uint64_t uses_ = 0;
  };

  unsigned count_;
  unsigned cores_;
  unsigned slices_;
  std::uint64_t line_bytes_;
  std::vector<Lines> lines_;  // by partition
  PartitionStatistics statistics_;
};

}  // namespace heddle::hw
