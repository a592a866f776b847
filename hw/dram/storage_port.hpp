// A DRAM controller's way to the memory behind it: performs a request's access once its timing is over. Any TLM-2.0
// base-protocol memory will do: it sees plain reads and writes without byte enables.
//
//   direct memory  asked for at the first access to an address, kept in a map of grants and refusals until the memory
//                  takes it back; an access through it is done at once.
//   otherwise      non-blocking transport, any variant of the base protocol; the memory's own time comes on top.
//                  Accesses to one line are kept in order; those to different lines overlap.
// A write with byte enables becomes one write per run of enabled bytes; an atomic becomes a read of its line, the steps
// of its lanes in lane order (isa::atomic_step), and writes of the words that it touched.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "hw/dram/request_queue.hpp"
#include "tlm/clock.hpp"
#include "tlm/payload_pool.hpp"

namespace heddle::hw {

// Direct-memory grants and refusals of one memory.
class DirectMemory {
 public:
  struct Range {
    std::uint64_t end = 0;         // last byte
    std::byte* pointer = nullptr;  // to the range's first byte; none: refused
    bool readable = false;
    bool writable = false;
    sc_core::sc_time read_latency;
    sc_core::sc_time write_latency;
  };
  // The range that holds the address; none when the memory was not asked yet.
  [[nodiscard]] const Range* find(std::uint64_t address, std::uint64_t& begin);
  void add(std::uint64_t begin, const Range& range);
  void invalidate(std::uint64_t begin, std::uint64_t end);

 private:
  // Ranges by first byte, and in front of it a direct-mapped table of whole granules with their pointer.
  static constexpr unsigned kGranuleBits = 16;
  static constexpr std::size_t kEntries = 2048;
  struct Entry {
    std::uint64_t granule = ~std::uint64_t{0};
    std::uint64_t begin = 0;
    const Range* range = nullptr;
  };
  std::map<std::uint64_t, Range> ranges_;
  std::array<Entry, kEntries> entries_{};
};

class StoragePort final : public ::tlm::tlm_bw_transport_if<> {
 public:
  // `owner` is woken when the memory answered something: its cycle then calls advance.
  StoragePort(::tlm::tlm_initiator_socket<>& socket, link::Waker& owner, link::Clock clock, unsigned line_bytes);
  ~StoragePort() override;

  // Performs the access and sets the payload's response status. True: finished, `delay` after now (added to by the
  // memory). False: advance will report it. The payload must lie within one line.
  [[nodiscard]] bool access(DramRequest& request, sc_core::sc_time& delay);
  // Takes up what the memory answered by this cycle and sends what waits. Appends finished requests in order of
  // arrival; returns the next cycle that it wants.
  Cycle advance(Cycle now, std::vector<DramRequest*>& finished);
  [[nodiscard]] bool idle() const { return active_.empty(); }
  // A hint that the access will come: brings the host's cache lines near. Changes nothing in the model.
  void prefetch(const DramRequest& request);

  ::tlm::tlm_sync_enum nb_transport_bw(::tlm::tlm_generic_payload& payload, ::tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) override;

 private:
  struct Job;
  // False: no direct memory for it.
  [[nodiscard]] bool access_directly(DramRequest& request, sc_core::sc_time& delay);
  [[nodiscard]] std::byte* direct_pointer(std::uint64_t address, unsigned length, bool read, bool write,
                                          sc_core::sc_time& latency);
  [[nodiscard]] Job& make_job(DramRequest& request);
  void free_job(Job& job);
  [[nodiscard]] bool next_transfer(Job& job);
  [[nodiscard]] bool run(Job& job, sc_core::sc_time& delay);
  [[nodiscard]] bool waits_for_line(const Job& job) const;

  ::tlm::tlm_initiator_socket<>& socket_;
  link::Waker& owner_;
  const link::Clock clock_;
  const unsigned line_bytes_;
  DirectMemory direct_;
  link::PayloadPool pool_;
  link::LinePayload& question_;  // asks for direct memory
  std::vector<std::unique_ptr<Job>> jobs_;
  std::vector<Job*> free_jobs_;
  std::vector<Job*> active_;   // in order of arrival
  Job* in_request_ = nullptr;  // its request phase has not ended
  Cycle next_send_ = 0;
};

}  // namespace heddle::hw
