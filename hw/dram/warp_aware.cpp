// Warp-aware memory scheduling (thesis 9.2.4) on top of first ready, first come, first served: a warp goes on when its
// last line has come, so requests of the warp with the fewest outstanding misses go first.
//
//   outstanding  Of a warp (core and group, as MemoryExtension has them) those requests are counted that wait in this
//                channel's queue now. One that has started needs nothing of the scheduler any more. Since the count is
//                the present one, a warp that is being served has ever fewer and keeps its turn: two warps with as many
//                misses are served one after the other, not interleaved. Lines in the L2 and requests of other channels
//                are not known here. (Chatterjee, O'Connor, Loh, Jayasena and Balasubramonian, "Managing DRAM Latency
//                Divergence in Irregular GPGPU Applications", SC 2014, schedule the groups of a warp's requests by
//                their expected completion in one controller, too, and let controllers coordinate on top.)
//   whose        A request is of the warp that missed the line first; warps that merged into its MSHR do not count.
//                Writes, and reads that a store caused, are of no warp: none waits for them
//                (MemoryExtension::posted).
//   order        1. rows held for hints and the write drain (DramView::may_start); 2. nothing but the oldest request of
//                the channel once it has waited for dram.starvation_bound; 3. of the banks' next requests the one that
//                can start first. A bank's next request, and which goes first on a tie: 4. one that its row was opened
//                for; 5. row hits, then fewest outstanding misses of its warp, requests of no warp last - or the other
//                way round (warp_aware.first); 6. the older one. A request whose line an older one waits for lets the
//                older one go in its place.
#include "hw/dram/warp_aware.hpp"

#include <fmt/format.h>

#include <limits>
#include <vector>

#include "hw/dram/policy.hpp"
#include "hw/parameters/cost.hpp"
#include "tlm/memory_extension.hpp"

namespace heddle::hw {

namespace {

class WarpAware final : public DramScheduler {
 public:
  using Parameters = WarpAwareParameters;

  static void cost(const CostShape& shape, CostLines& lines) {
    const std::uint64_t queue = shape.machine.dram.queue;
    const std::uint64_t channels = shape.machine.dram.channels;
    const std::uint64_t cores = shape.machine.gpu.cores;
    lines.mechanism("warp-aware memory scheduling");
    lines.add(CostLine::Kind::estimated, "warps of waiting requests and their misses",
              fmt::format("{} channels x dram.queue {} x (log2({} cores) + log2({} warps) + log2({} requests)) / {} "
                          "cores",
                          channels, queue, cores, shape.pool, queue + 1, cores),
              channels * queue * (index_bits(cores) + index_bits(shape.pool) + index_bits(queue + 1)) / cores,
              "own estimate: in the controllers, a core's share");
  }

  explicit WarpAware(const Setup& setup)
      : rows_first_(setup.parameters.policies.of<Parameters>().first == "row-hits") {}

  void admitted(DramRequest& request) override {
    const link::MemoryExtension* const from = request.extension;
    if (request.write || from == nullptr || from->posted) {
      return;
    }
    const std::uint64_t key = std::uint64_t{from->core} << 32U | from->group;
    std::size_t place = warps_.size();
    for (std::size_t i = 0; i != warps_.size(); ++i) {
      if (warps_[i].misses == 0) {
        place = i;  // free, should it have none
      } else if (warps_[i].key == key) {
        place = i;
        break;
      }
    }
    if (place == warps_.size()) {
      warps_.emplace_back();
    }
    warps_[place].key = key;
    ++warps_[place].misses;
    request.warp = static_cast<std::uint32_t>(place);
  }

  void started(const DramRequest& request, Cycle) override {
    if (request.warp != kNoWarp) {
      --warps_[request.warp].misses;
    }
  }

  [[nodiscard]] DramChoice choose(const DramView& view) override {
    if (view.waiting.empty()) {
      return {};
    }
    DramRequest& oldest = view.waiting.front();
    if (view.starving(oldest) && view.may_start(oldest)) {
      return chosen({&oldest, false, false, 0, view.earliest_start(oldest)});
    }
    view.ask_again(view.starves_at(oldest));
    Candidate best;
    for (const unsigned index : view.waiting.banks()) {
      Candidate candidate = next_of(view, index);
      if (candidate.request == nullptr) {
        continue;
      }
      candidate.start = view.earliest_start(*candidate.request);
      if (best.request == nullptr || candidate.start < best.start ||
          (candidate.start == best.start && before(candidate, best))) {
        best = candidate;
      }
    }
    return best.request != nullptr ? chosen(best) : DramChoice{};
  }

 private:
  static constexpr std::uint32_t kNoWarp = ~0U;
  struct Warp {
    std::uint64_t key = 0;
    unsigned misses = 0;  // that wait; 0: the place is free
  };
  struct Candidate {
    DramRequest* request = nullptr;
    bool begun = false;  // its row was opened for it and still is
    bool hit = false;
    unsigned misses = 0;  // of its warp
    Cycle start = kNever;
  };

  [[nodiscard]] unsigned misses_of(const DramRequest& request) const {
    return request.warp == kNoWarp ? std::numeric_limits<unsigned>::max() : warps_[request.warp].misses;
  }
  [[nodiscard]] DramChoice chosen(const Candidate& candidate) const {
    DramRequest& request = *candidate.request;
    request.warp_misses = request.warp == kNoWarp ? 0 : warps_[request.warp].misses;
    return {&request, candidate.start};
  }
  [[nodiscard]] bool before(const Candidate& a, const Candidate& b) const {
    if (a.begun != b.begun) {
      return a.begun;
    }
    if (rows_first_ && a.hit != b.hit) {
      return a.hit;
    }
    if (a.misses != b.misses) {
      return a.misses < b.misses;
    }
    return a.hit != b.hit ? a.hit : a.request->serial < b.request->serial;
  }
  [[nodiscard]] Candidate next_of(const DramView& view, unsigned index) const {
    DramRequest* const first = view.waiting.bank(index).first;
    Candidate best;
    for (DramRequest* request = first; request != nullptr; request = request->next_of_bank) {
      if (!view.may_start(*request)) {
        continue;
      }
      const bool hit = view.timing.row_hit(*request);
      const Candidate candidate{request, hit && !request->first_step, hit, misses_of(*request), kNever};
      if (best.request == nullptr || before(candidate, best)) {
        best = candidate;
      }
    }
    // Requests to one address start in the order of their arrival.
    for (DramRequest* older = first; older != best.request && best.request != nullptr; older = older->next_of_bank) {
      if (older->location == best.request->location) {
        best.request = view.may_start(*older) ? older : nullptr;
        break;
      }
    }
    return best;
  }

  const bool rows_first_;
  std::vector<Warp> warps_;  // warps that wait for requests in the queue
};

const Register<DramScheduler, WarpAware> warp_aware_entry{
    "warp-aware", "row hits first, then requests of the warp with the fewest that wait; dram.starvation_bound"};

}  // namespace

}  // namespace heddle::hw
