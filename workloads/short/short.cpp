// short: the path of highest gain through 6 steps of 150,000 choices each (the DWS report's Short, table 2), by dynamic
// programming, a launch per step. The report says no more of the game; the gains are random. With the variant `padded`
// the runs of choices that threads take lie an odd number of lines apart in every row.
#include "base/error.hpp"
#include "base/registry.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

class ShortPath final : public KernelWorkload {
 public:
  explicit ShortPath(const tb::WorkloadOptions& options)
      : KernelWorkload("short", options, {{"interleaved"}, {kPadded}}, Loops::always) {
    if (padded() && variants().flag("interleaved")) {
      throw InputError({}, "workload 'short' has no form that is both padded and interleaved",
                       "'padded' is of threads that have runs of neighbouring choices: give one of them");
    }
  }
  [[nodiscard]] std::uint64_t threads() const override { return loop_threads(); }
  [[nodiscard]] double demo_scale() const override { return 0.1; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const std::uint32_t choices = scaled(150'000, 2);
    Random random(options().seed);
    std::vector<std::int32_t> gains(std::size_t{kSteps} * choices);
    for (std::int32_t& gain : gains) {
      gain = static_cast<std::int32_t>(random.below(2001)) - 1000;
    }
    const std::uint32_t stride = padded() ? place_of(choices - 1, choices) + 1 : choices;  // of a row
    const std::uint64_t row = std::uint64_t{stride} * sizeof(std::int32_t);
    const std::uint64_t device_gains = upload(executor, "gains", spread(gains, choices, stride));
    // The first step's scores are its gains.
    std::vector<std::int32_t> scores(gains.size(), 0);
    std::copy_n(gains.begin(), choices, scores.begin());
    const std::uint64_t device_scores = upload(executor, "scores", spread(scores, choices, stride));
    const std::uint64_t device_moves =
        upload(executor, "moves", std::vector<std::int32_t>(std::size_t{kSteps} * stride, 0));
    executor.plan({kSteps - 1, (kSteps - 1) * groups()});
    const std::string kernel = padded() ? "step_padded" : "step";
    for (std::uint32_t step = 1; step < kSteps; ++step) {
      tb::Arguments arguments(executor.module(), kernel);
      arguments.pointer(device_scores + (step - 1) * row)
          .pointer(device_gains + step * row)
          .pointer(device_scores + step * row)
          .pointer(device_moves + step * row);
      if (padded()) {
        arguments.value(busy_of(choices)).value(gap_of(choices));
      }
      launch_loop(executor, kernel, arguments, choices);
    }
    const std::size_t all = std::size_t{kSteps} * stride;
    return judge(gains, gathered(download<std::int32_t>(executor, device_scores, all), choices, stride),
                 gathered(download<std::int32_t>(executor, device_moves, all), choices, stride));
  }

 private:
  static constexpr std::uint32_t kSteps = 6;
  static constexpr const char* kPadded = "padded";
  [[nodiscard]] bool padded() const { return variants().flag(kPadded); }
  // Choices of a thread at most (parallel::my_tasks).
  [[nodiscard]] std::uint32_t part_of(std::uint32_t choices) const { return (choices + groups() - 1) / groups(); }
  [[nodiscard]] std::uint32_t run_of(std::uint32_t choices) const { return (part_of(choices) + group() - 1) / group(); }
  [[nodiscard]] std::uint32_t busy_of(std::uint32_t choices) const {
    return (part_of(choices) + run_of(choices) - 1) / run_of(choices);
  }
  [[nodiscard]] std::uint32_t gap_of(std::uint32_t choices) const {
    return gap_behind(run_of(choices), sizeof(std::int32_t));
  }
  // Where a choice lies in its row: behind the gaps of the threads before that have choices, as for step_padded.
  [[nodiscard]] std::uint32_t place_of(std::uint32_t choice, std::uint32_t choices) const {
    const std::uint32_t part = part_of(choices);
    const std::uint32_t threads_before = choice / part * busy_of(choices) + choice % part / run_of(choices);
    return padded() ? choice + threads_before * gap_of(choices) : choice;
  }
  // Rows of choices at their places in rows of `stride`, and back.
  [[nodiscard]] std::vector<std::int32_t> spread(const std::vector<std::int32_t>& rows, std::uint32_t choices,
                                                 std::uint32_t stride) const {
    std::vector<std::int32_t> all(std::size_t{kSteps} * stride, 0);
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
      all[std::size_t{i / choices} * stride + place_of(i % choices, choices)] = rows[i];
    }
    return all;
  }
  [[nodiscard]] std::vector<std::int32_t> gathered(const std::vector<std::int32_t>& all, std::uint32_t choices,
                                                   std::uint32_t stride) const {
    std::vector<std::int32_t> rows(std::size_t{kSteps} * choices);
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
      rows[i] = all[std::size_t{i / choices} * stride + place_of(i % choices, choices)];
    }
    return rows;
  }

  // The other way round: each choice offers its score to the choices that can follow it.
  static std::vector<std::int32_t> best_scores(const std::vector<std::int32_t>& gains, std::size_t choices) {
    std::vector<std::int32_t> best(gains.begin(), gains.begin() + static_cast<std::ptrdiff_t>(choices));
    std::vector<std::int32_t> all = best;
    for (std::size_t step = 1; step < kSteps; ++step) {
      std::vector<std::int32_t> offered(choices, std::numeric_limits<std::int32_t>::min());
      for (std::size_t from = 0; from < choices; ++from) {
        for (std::size_t to = from == 0 ? 0 : from - 1; to <= std::min(from + 1, choices - 1); ++to) {
          offered[to] = std::max(offered[to], best[from]);
        }
      }
      for (std::size_t i = 0; i < choices; ++i) {
        best[i] = offered[i] + gains[step * choices + i];
      }
      all.insert(all.end(), best.begin(), best.end());
    }
    return all;
  }

  // Of several best ways to a choice any is right, so that the moves are judged by where they lead.
  static tb::Verdict judge(const std::vector<std::int32_t>& gains, const std::vector<std::int32_t>& scores,
                           const std::vector<std::int32_t>& moves) {
    const std::size_t choices = gains.size() / kSteps;
    tb::Verdict verdict = compare("scores", scores, best_scores(gains, choices));
    if (!verdict.correct) {
      return verdict;
    }
    for (std::size_t i = 0; i < choices; ++i) {
      if (moves[i] != 0) {
        return {false, fmt::format("move [{}]: {} instead of none in the first step", i, moves[i])};
      }
    }
    for (std::size_t i = choices; i < gains.size(); ++i) {
      const std::int64_t from = static_cast<std::int64_t>(i % choices) + moves[i];
      if (std::abs(moves[i]) > 1 || from < 0 || from >= static_cast<std::int64_t>(choices)) {
        return {false, fmt::format("move [{}]: {} instead of -1, 0 or 1 within the step", i, moves[i])};
      }
      const std::int32_t before = scores[(i / choices - 1) * choices + static_cast<std::size_t>(from)];
      if (before + gains[i] != scores[i]) {
        return {false, fmt::format("move [{}] leads to {} instead of {}", i, before + gains[i], scores[i])};
      }
    }
    const auto won = std::max_element(scores.end() - static_cast<std::ptrdiff_t>(choices), scores.end());
    return {true, fmt::format("{}, and {} moves lead there; the winning path gains {}", verdict.detail,
                              moves.size() - choices, *won)};
  }
};

const Register<tb::Workload, ShortPath> short_entry{
    "short", "the path of highest gain through 6 x 150,000 choices; variants interleaved, padded"};

}  // namespace
}  // namespace heddle::workloads
