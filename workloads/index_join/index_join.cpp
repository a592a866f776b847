// index_join: 128K rows of an outer table joined with an inner one by look-ups in its index (thesis 9.2.3), the tree of
// index_search.
//
//   tree_traverse, row_hints, levels=N    as in index_search
//   matches=N                             percentage of the outer rows whose key is in the index; the usual is 50
#include "base/registry.hpp"
#include "workloads/index_search/index_workload.hpp"
#include "workloads/joined.hpp"

namespace heddle::workloads {
namespace {

class IndexJoin final : public IndexWorkload {
 public:
  explicit IndexJoin(const tb::WorkloadOptions& options)
      : IndexWorkload("index_join", options, IndexTree::kMostLevels, 2, {{"matches", 50, 0, 100}}) {}
  [[nodiscard]] std::uint64_t threads() const override { return resident_threads(); }
  // The order of the atomics says where a warp's pairs go.
  [[nodiscard]] bool order_dependent() const override { return true; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const IndexTree tree(levels(), options().seed);
    const std::uint32_t rows = scaled(128U << 10U, resident_threads(), kLanes);
    Random random(options().seed + 1);
    std::vector<std::uint32_t> keys(rows);
    std::vector<bool> absent(rows);
    std::uint32_t room = 0;
    for (std::uint32_t i = 0; i < rows; ++i) {
      const std::uint32_t rank = random.below(tree.keys());
      absent[i] = random.below(100) >= variants().number("matches");
      keys[i] = absent[i] ? tree.absent(rank) : tree.key(rank);
      room += absent[i] ? 0 : 1;
    }
    const std::uint64_t nodes = place(executor, tree);
    const std::uint64_t outer = upload(executor, "outer", keys);
    const std::uint64_t output =
        allocate(executor, "output", std::max<std::uint64_t>(1, room) * 2 * sizeof(std::uint32_t));
    const std::uint64_t used = allocate(executor, "used", sizeof(std::uint32_t));
    const std::string name = kernel("join");
    executor.plan({1, blocks()});
    launch(executor, name, {blocks()}, {kBlock},
           tb::Arguments(executor.module(), name)
               .pointer(nodes)
               .value(levels())
               .pointer(outer)
               .value(rows)
               .pointer(output)
               .value(room)
               .pointer(used));

    // Keys are unique: a pair is right when the row's key stands at its place, and every such row has one pair.
    const std::vector<RowPair> pairs = download_pairs(executor, output, room, used);
    std::vector<RowPair> expected;
    for (std::uint32_t i = 0; i < rows; ++i) {
      if (!absent[i]) {
        expected.emplace_back(i, keys[i]);
      }
    }
    std::vector<RowPair> found;
    for (const auto& [row, at] : pairs) {
      found.emplace_back(row, at < tree.words() ? tree.word(at) : kNowhere);
    }
    tb::Verdict verdict = compare_pairs(std::move(found), std::move(expected));
    verdict.detail += fmt::format(" ({} rows, {} keys)", rows, tree.keys());
    return verdict;
  }

 private:
  static constexpr std::uint32_t kLanes = 32;
};

const Register<tb::Workload, IndexJoin> index_join_entry{
    "index_join", "join by look-ups in an index; variants tree_traverse, row_hints, levels=3, matches=50"};

}  // namespace
}  // namespace heddle::workloads
