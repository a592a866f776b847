// What the banks and the bus of memory channels do over a window of cycles (thesis figure 7.2), as figures and as a
// file; drawn by studies/pages/report/timeline_picture.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::tb {

struct BankTimeline {
  enum class Kind : std::uint8_t {
    hit,       // an access that found its row open, until its data is complete
    conflict,  // one that did not
    hold,      // a row held open for a hint, until the hit came
    lost,      // one that ended without a hit
    transfer   // the bus moves data
  };
  static constexpr std::size_t kKinds = 5;
  struct Span {
    Kind kind = Kind::hit;
    unsigned bank = 0;        // not of transfers
    std::uint64_t begin = 0;  // cycles: first, and first after
    std::uint64_t end = 0;
    std::uint64_t row = 0;  // of an access
  };
  struct Panel {
    std::string label;  // "dram0", or what the reader should compare
    unsigned banks = 0;
    std::vector<Span> spans;  // of a bank, and of the bus, in order of their ends; accesses of a bank may overlap
  };
  std::string title;
  std::uint64_t begin = 0;  // the window: cycles
  std::uint64_t end = 0;
  std::vector<Panel> panels;  // one below the other, on one scale
};

// For another program, and back. Throws InputError, naming `path`.
[[nodiscard]] std::string timeline_json(const BankTimeline& timeline);
[[nodiscard]] BankTimeline read_timeline(const std::string& path);

}  // namespace heddle::tb
