// needleman: the Needleman-Wunsch alignment of two DNA sequences of 2048 letters (thesis table 5.2, after Rodinia): the
// whole matrix of scores, from which an alignment is traced back.
#include <string_view>

#include "base/registry.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

class Needleman final : public KernelWorkload {
 public:
  explicit Needleman(const tb::WorkloadOptions& options)
      : KernelWorkload("needleman", options, {{"pthreads"}, {kTileBlocks}}) {}
  [[nodiscard]] std::uint64_t threads() const override {
    return pthreads() ? team() : grid(length() / kTile) * std::uint64_t{block()};
  }
  [[nodiscard]] double demo_scale() const override { return 0.25; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const std::uint32_t length = this->length();
    const std::vector<std::uint8_t> down = letters(length, 2 * options().seed);
    const std::vector<std::uint8_t> across = letters(length, 2 * options().seed + 1);
    // Scores of an empty prefix stand ready, as in Rodinia; the others are to be found.
    const Layout layout = this->layout();
    std::vector<std::int32_t> scores(layout.words, 0);
    for (std::uint32_t i = 0; i <= length; ++i) {
      scores[layout.place(i, 0)] = kGap * static_cast<std::int32_t>(i);
      scores[layout.place(0, i)] = kGap * static_cast<std::int32_t>(i);
    }
    const std::uint64_t device_down = upload(executor, "down", down);
    const std::uint64_t device_across = upload(executor, "across", across);
    const std::uint64_t device_scores = upload(executor, "scores", scores);
    if (pthreads()) {
      executor.plan({1, 1});
      launch_team(executor, "needleman",
                  tb::Arguments(executor.module(), "needleman")
                      .pointer(device_down)
                      .pointer(device_across)
                      .pointer(device_scores)
                      .value(length));
    } else {
      launch_tiles(executor, device_down, device_across, device_scores);
    }

    // Row by row, each cell by the definition of the recurrence.
    for (std::size_t i = 1; i <= length; ++i) {
      for (std::size_t j = 1; j <= length; ++j) {
        const std::int32_t pair =
            scores[layout.place(i - 1, j - 1)] + (down[i - 1] == across[j - 1] ? kMatch : kMismatch);
        scores[layout.place(i, j)] =
            std::max({pair, scores[layout.place(i - 1, j)] + kGap, scores[layout.place(i, j - 1)] + kGap});
      }
    }
    tb::Verdict verdict =
        compare("cells of the matrix", download<std::int32_t>(executor, device_scores, scores.size()), scores);
    verdict.detail += fmt::format(" (score {})", scores[layout.place(length, length)]);
    return verdict;
  }

 private:
  static constexpr const char* kTileBlocks = "tile_blocks";
  static constexpr std::uint32_t kTile = 16;
  static constexpr std::uint32_t kLead = 31;  // words before the first cell of a row
  static constexpr std::int32_t kMatch = 5;
  static constexpr std::int32_t kMismatch = -4;
  static constexpr std::int32_t kGap = -10;

  // Where the score of the first i letters of one sequence and the first j of the other one is, in words.
  struct Layout {
    bool by_diagonals;  // else by rows
    std::size_t pitch;
    std::size_t words;
    [[nodiscard]] std::size_t place(std::size_t i, std::size_t j) const {
      return by_diagonals ? (i + j) * pitch + i : i * pitch + kLead + j;
    }
  };
  [[nodiscard]] Layout layout() const {
    const std::size_t cells = length() + std::size_t{1};  // of a row
    if (pthreads()) {
      return {true, cells, (2 * cells - 1) * cells};
    }
    // The cell of two empty prefixes ends a line, so that the tiles' cells start one.
    return {false, cells + kLead, (cells + kLead) * cells};
  }

  void launch_tiles(tb::Executor& executor, std::uint64_t down, std::uint64_t across, std::uint64_t scores) const {
    const auto pitch = static_cast<std::uint32_t>(layout().pitch);
    const std::uint32_t length = this->length();
    const std::uint32_t side = length / kTile;
    const auto tiles_of = [side](std::uint32_t diagonal) { return std::min(diagonal + 1, 2 * side - 1 - diagonal); };
    tb::Executor::Plan plan{2 * side - 1};
    for (std::uint32_t diagonal = 0; diagonal < 2 * side - 1; ++diagonal) {
      plan.blocks += grid(tiles_of(diagonal));
    }
    executor.plan(plan);
    for (std::uint32_t diagonal = 0; diagonal < 2 * side - 1; ++diagonal) {
      const std::uint32_t row = std::min(diagonal, side - 1);
      const std::uint32_t column = diagonal - row;
      const std::uint32_t tiles = tiles_of(diagonal);
      const char* const kernel = tile_blocks() ? "align_tile" : "align";
      tb::Arguments arguments(executor.module(), kernel);
      arguments.pointer(down).pointer(across).pointer(scores + kLead * sizeof(std::int32_t));
      arguments.value(pitch).value(row).value(column);
      if (!tile_blocks()) {
        arguments.value(tiles);
      }
      launch(executor, kernel, {grid(tiles)}, {kTile, block() / kTile}, arguments);
    }
  }

  static std::vector<std::uint8_t> letters(std::uint32_t length, std::uint64_t seed) {
    constexpr std::string_view kBases = "ACGT";
    Random random(seed);
    std::vector<std::uint8_t> sequence(length);
    for (std::uint8_t& letter : sequence) {
      letter = static_cast<std::uint8_t>(kBases[random.below(4)]);
    }
    return sequence;
  }
  // Blocks for so many tiles.
  [[nodiscard]] std::uint32_t grid(std::uint32_t tiles) const { return (tiles * kTile + block() - 1) / block(); }
  [[nodiscard]] std::uint32_t block() const { return tile_blocks() ? kTile : kBlock; }
  // A block for each tile, as in the suite (NW of the warp-size study).
  [[nodiscard]] bool tile_blocks() const { return variants().flag(kTileBlocks); }
  // Of each sequence. The work grows with its square; whole tiles.
  [[nodiscard]] std::uint32_t length() const {
    const auto tiles = static_cast<std::uint32_t>(std::lround(2048.0 / kTile * std::sqrt(scale())));
    return std::max(1U, tiles) * kTile;
  }
};

const Register<tb::Workload, Needleman> needleman_entry{
    "needleman", "alignment of two DNA sequences of 2048 letters; variants pthreads, tile_blocks"};

}  // namespace
}  // namespace heddle::workloads
