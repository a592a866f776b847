// Counters of the interconnect.
#pragma once

#include <cstdint>

namespace heddle::hw {

struct InterconnectStatistics {
  std::uint64_t requests = 0;
  std::uint64_t responses = 0;
  std::uint64_t request_wait_cycles = 0;
  std::uint64_t response_wait_cycles = 0;
  std::uint64_t request_stalls = 0;
  std::uint64_t response_stalls = 0;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("requests", requests, "requests", "requests handed to memory channels");
    visit("responses", responses, "responses", "responses handed to caches");
    visit("request_wait_cycles", request_wait_cycles, "cycles", "waited by requests beyond the link latency, summed");
    visit("response_wait_cycles", response_wait_cycles, "cycles",
          "waited by responses beyond the link latency, summed");
    visit("request_stalls", request_stalls, "requests", "requests that found their input queue full");
    visit("response_stalls", response_stalls, "responses", "responses that found their input queue full");
  }
};

// Answers of an L2 of several partitions (hw/noc/partitions.hpp).
struct PartitionStatistics {
  std::uint64_t near = 0;
  std::uint64_t copies = 0;
  std::uint64_t far = 0;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("near", near, "responses", "of lines whose home is in the core's partition of the L2");
    visit("copies", copies, "responses",
          "to loads of lines of another partition, of which the core's partition had a copy");
    visit("far", far, "responses", "that crossed from another partition");
  }
};

}  // namespace heddle::hw
