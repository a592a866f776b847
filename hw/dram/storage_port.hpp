// A DRAM controller's way to the memory behind it: performs a request's access once its timing is over. Any TLM-2.0
// base-protocol memory will do: it sees plain reads and writes.
//
//   direct memory  asked for at the first access to an address, kept in a map of grants and refusals until the memory
//                  takes it back, or says by the hint of a response that it would answer otherwise now; an access
//                  through it is done at once.
//   otherwise      non-blocking transport, any variant of the base protocol (BEGIN_RESP is accepted, and END_RESP sent
//                  in the cycle in which the answer counts); or, with dram.blocking_calls, so many blocking calls at
//                  once, each from a process of its own: a loosely timed memory behind the non-blocking interface of
//                  the standard's convenience socket ends a request with its response, so that it is one at a time.
//                  The memory's own time comes on top. Accesses to one line are kept in order; accesses to different
//                  lines overlap.
// A write with byte enables becomes pieces (dram.write_pieces, hw/dram/write_pieces.hpp); an atomic becomes a read of
// its line, the steps of its lanes in lane order (isa::global_atomic_step), and writes of the words that it touched.
// Each transfer has a payload of its own, which is used again when everybody on its way has released it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "hw/dram/request_queue.hpp"
#include "hw/dram/write_pieces.hpp"
#include "hw/parameters/machine.hpp"
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
  // The memory would grant direct access to this address: forgets an answer that does not.
  void hinted(std::uint64_t address, bool write);

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
  // A transfer that the memory has not answered.
  struct Unanswered {
    bool write = false;
    std::uint64_t address = 0;
    unsigned bytes = 0;
    Cycle since = 0;  // sent in this cycle
  };

  // Within the constructor of a module, whose processes it makes. `owner` is woken when the memory answered something:
  // its cycle then calls advance.
  StoragePort(::tlm::tlm_initiator_socket<>& socket, link::Waker& owner, link::Clock clock,
              const DramParameters& parameters, unsigned line_bytes);
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
  // Calls `overdue` with the oldest transfer when the memory has owed its answer for `limit` cycles, half a cycle
  // later, when every process of that cycle has run. Then no more until the memory has answered something.
  void watch(Cycle limit, std::function<void(const Unanswered&)> overdue);
  // The memory owes nothing for a while: leaves no event behind that a simulation would wait for.
  void rest();

  ::tlm::tlm_sync_enum nb_transport_bw(::tlm::tlm_generic_payload& payload, ::tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) override;

 private:
  struct Job;
  // A process that makes blocking calls, one at a time.
  struct Caller {
    sc_core::sc_event called;
    Job* job = nullptr;
  };
  // False: no direct memory for it.
  [[nodiscard]] bool access_directly(DramRequest& request, sc_core::sc_time& delay);
  [[nodiscard]] std::byte* direct_pointer(std::uint64_t address, unsigned length, bool read, bool write,
                                          sc_core::sc_time& latency);
  [[nodiscard]] Job& make_job(DramRequest& request);
  void free_job(Job& job);
  [[nodiscard]] static bool next_transfer(Job& job, WritePieces pieces);
  [[nodiscard]] static WritePiece read_span(const ::tlm::tlm_generic_payload& asked);
  [[nodiscard]] bool free_to_send() const;
  [[nodiscard]] bool can_send(Cycle now) const;
  void make_payload(Job& job);
  ::tlm::tlm_sync_enum forward(::tlm::tlm_generic_payload& payload, ::tlm::tlm_phase& phase, sc_core::sc_time& delay);
  // Sends what the job has to send; true: it is finished.
  [[nodiscard]] bool send(Job& job, sc_core::sc_time& delay);
  void take_answer(Job& job, sc_core::sc_time delay);
  void answered(Job& job, Cycle visible);
  [[nodiscard]] bool waits_for_line(const Job& job) const;
  [[nodiscard]] Job* job_of(::tlm::tlm_generic_payload& payload);
  void call(Caller& caller);
  void one_answered();
  void watch_for_answer();
  void watch_from(Cycle since);
  void look_for_overdue();

  ::tlm::tlm_initiator_socket<>& socket_;
  link::Waker& owner_;
  const link::Clock clock_;
  const unsigned line_bytes_;
  const WritePieces pieces_;
  DirectMemory direct_;
  link::PayloadPool pool_;
  link::LinePayload& question_;  // asks for direct memory
  std::vector<std::unique_ptr<Job>> jobs_;
  std::vector<Job*> free_jobs_;
  std::vector<Job*> active_;   // in order of arrival
  Job* in_request_ = nullptr;  // its request phase has not ended
  Cycle next_send_ = 0;
  std::vector<std::unique_ptr<Caller>> callers_;  // none: non-blocking transport
  std::vector<Caller*> free_callers_;

  std::size_t unanswered_ = 0;  // transfers
  Cycle limit_ = kNever;
  std::function<void(const Unanswered&)> overdue_;
  bool watching_ = false;  // watch_event_ is notified
  bool told_ = false;      // of an overdue answer, and no answer since
  sc_core::sc_event watch_event_;
};

}  // namespace heddle::hw
