// hash_join: 512K rows of an outer table joined with 128K of an inner one by a hash table of chained buckets, built and
// probed on the GPU (thesis 9.2.3 leaves the efficiency of hash joins open).
//
//   cond_acc         gathers the pairs by the conditional accumulate instruction instead of ballot and popc
//   matches=N        percentage of the outer rows whose key is in the inner table; the usual is 50
//   duplicates=N     inner rows of each key
//   load=N           inner rows per bucket on the mean
#include <algorithm>
#include <bit>

#include "base/registry.hpp"
#include "workloads/joined.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

// Different for different numbers: the finalizer of MurmurHash3 (Appleby), each step of which can be undone.
std::uint32_t scattered_key(std::uint32_t number) {
  number = (number ^ number >> 16U) * 0x85ebca6bU;
  number = (number ^ number >> 13U) * 0xc2b2ae35U;
  return number ^ number >> 16U;
}

class HashJoin final : public KernelWorkload {
 public:
  explicit HashJoin(const tb::WorkloadOptions& options)
      : KernelWorkload("hash_join", options,
                       {{"cond_acc"}, {"matches", 50, 0, 100}, {"duplicates", 1, 1, 64}, {"load", 1, 1, 64}}) {}
  [[nodiscard]] std::uint64_t threads() const override { return resident_threads(); }
  // The order of the atomics says in which order rows hang in a bucket and where a warp's pairs go.
  [[nodiscard]] bool order_dependent() const override { return true; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const std::uint32_t outer_rows = scaled(512U << 10U, resident_threads(), kLanes);
    const std::uint32_t inner_rows = scaled(128U << 10U, kLeastRows);
    const std::uint32_t distinct = std::max(1U, inner_rows / variants().number("duplicates"));
    const auto seed = static_cast<std::uint32_t>(options().seed << 20U);
    Random random(options().seed);
    std::vector<std::uint32_t> inner(inner_rows);
    for (std::uint32_t i = 0; i < inner_rows; ++i) {
      inner[i] = scattered_key(seed + i % distinct);
    }
    std::vector<std::uint32_t> outer(outer_rows);
    for (std::uint32_t& key : outer) {
      const bool there = random.below(100) < variants().number("matches");
      key = scattered_key(seed + random.below(distinct) + (there ? 0 : distinct));
    }
    const std::vector<RowPair> expected = join(outer, inner);

    const std::uint32_t buckets = std::bit_ceil(std::max(2U, inner_rows / variants().number("load")));
    const std::uint32_t shift = 32 - static_cast<std::uint32_t>(std::countr_zero(buckets));
    const auto room = static_cast<std::uint32_t>(expected.size());
    const std::uint64_t outer_buffer = upload(executor, "outer", outer);
    const std::uint64_t inner_buffer = upload(executor, "inner", inner);
    const std::uint64_t heads = allocate(executor, "heads", buckets * sizeof(std::uint32_t));
    const std::uint64_t before = allocate(executor, "before", inner_rows * sizeof(std::uint32_t));
    const std::uint64_t output = allocate(executor, "output", std::max<std::uint64_t>(1, room) * 2 * sizeof(room));
    const std::uint64_t used = allocate(executor, "used", sizeof(std::uint32_t));
    const isa::Module& module = executor.module();
    executor.plan({3, 3 * blocks()});
    launch(executor, "clear", {blocks()}, {kBlock}, tb::Arguments(module, "clear").pointer(heads).value(buckets));
    launch(executor, "build", {blocks()}, {kBlock},
           tb::Arguments(module, "build")
               .pointer(inner_buffer)
               .value(inner_rows)
               .pointer(heads)
               .pointer(before)
               .value(shift));
    const std::string probe = variants().flag("cond_acc") ? "probe_accumulate" : "probe_scan";
    launch(executor, probe, {blocks()}, {kBlock},
           tb::Arguments(module, probe)
               .pointer(outer_buffer)
               .value(outer_rows)
               .pointer(inner_buffer)
               .pointer(heads)
               .pointer(before)
               .value(shift)
               .pointer(output)
               .value(room)
               .pointer(used));
    return compare_pairs(download_pairs(executor, output, room, used), expected);
  }

 private:
  static constexpr std::uint32_t kLanes = 32;
  static constexpr std::uint32_t kLeastRows = 64;

  // By sorting the inner table: nothing of the kernels' way.
  [[nodiscard]] static std::vector<RowPair> join(const std::vector<std::uint32_t>& outer,
                                                 const std::vector<std::uint32_t>& inner) {
    std::vector<RowPair> sorted;  // key, row
    for (std::uint32_t i = 0; i < inner.size(); ++i) {
      sorted.emplace_back(inner[i], i);
    }
    std::sort(sorted.begin(), sorted.end());
    std::vector<RowPair> pairs;
    for (std::uint32_t i = 0; i < outer.size(); ++i) {
      auto at = std::lower_bound(sorted.begin(), sorted.end(), RowPair{outer[i], 0});
      for (; at != sorted.end() && at->first == outer[i]; ++at) {
        pairs.emplace_back(i, at->second);
      }
    }
    return pairs;
  }
};

const Register<tb::Workload, HashJoin> hash_join_entry{
    "hash_join", "join by a hash table; variants cond_acc, matches=50, duplicates=1, load=1"};

}  // namespace
}  // namespace heddle::workloads
