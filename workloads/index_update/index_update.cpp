// index_update: 128K rows of a table get a new value of an un-indexed attribute; each is looked up by its key (thesis
// 9.2.3). No key is updated twice, so that the order does not matter; one key in 1024 is not there and changes nothing.
//
//   tree_traverse, row_hints    as in index_search
//   levels=N                    as in index_search, but at most 2: the attribute of 888M rows exceeds 32-bit addresses
#include "base/registry.hpp"
#include "workloads/index_search/index_workload.hpp"

namespace heddle::workloads {
namespace {

class IndexUpdate final : public IndexWorkload {
 public:
  explicit IndexUpdate(const tb::WorkloadOptions& options) : IndexWorkload("index_update", options, 2, 1) {}
  [[nodiscard]] std::uint64_t threads() const override { return resident_threads(); }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const IndexTree tree(levels(), options().seed);
    const std::uint32_t updates = std::min(scaled(128U << 10U, resident_threads() / 32), tree.keys());
    Random random(options().seed + 1);
    // Every key of a stretch in turn, far apart: kStep and the number of keys, whose factors are 2, 3, 5, 13 and 37,
    // have none in common.
    constexpr std::uint64_t kStep = 611'953;
    const std::uint32_t start = random.below(tree.keys());
    std::vector<std::uint32_t> keys(updates);
    std::vector<std::uint32_t> values(updates);
    std::vector<RowPair> changes;  // key, value
    for (std::uint32_t i = 0; i < updates; ++i) {
      const auto rank = static_cast<std::uint32_t>((start + i * kStep) % tree.keys());
      const bool absent = random.below(1024) == 0;
      keys[i] = absent ? tree.absent(rank) : tree.key(rank);
      values[i] = random.next32();
      if (!absent) {
        changes.emplace_back(keys[i], values[i]);
      }
    }
    std::sort(changes.begin(), changes.end());
    std::vector<std::uint32_t> attributes(tree.words());
    std::generate(attributes.begin(), attributes.end(), [&] { return random.next32(); });

    const std::uint64_t nodes = place(executor, tree);
    const std::uint64_t key_buffer = upload(executor, "keys", keys);
    const std::uint64_t value_buffer = upload(executor, "values", values);
    const std::uint64_t column = upload(executor, "attributes", attributes);
    const std::string name = kernel("update");
    executor.plan({1, blocks()});
    launch(executor, name, {blocks()}, {kBlock},
           tb::Arguments(executor.module(), name)
               .pointer(nodes)
               .value(levels())
               .pointer(key_buffer)
               .pointer(value_buffer)
               .value(updates)
               .pointer(column));

    // By going through the table: which rows have a key that is among the changes?
    for (std::uint32_t row = 0; row < attributes.size(); ++row) {
      const std::uint32_t key = tree.word(row);
      const auto change = std::lower_bound(changes.begin(), changes.end(), RowPair{key, 0});
      if (key != IndexTree::kNoKey && change != changes.end() && change->first == key) {
        attributes[row] = change->second;
      }
    }
    tb::Verdict verdict =
        compare("attributes", download<std::uint32_t>(executor, column, attributes.size()), attributes);
    verdict.detail += fmt::format(" ({} of them new)", changes.size());
    return verdict;
  }

 private:
  using RowPair = std::pair<std::uint32_t, std::uint32_t>;
};

const Register<tb::Workload, IndexUpdate> index_update_entry{
    "index_update", "updates of rows that an index finds; variants tree_traverse, row_hints, levels=2"};

}  // namespace
}  // namespace heddle::workloads
