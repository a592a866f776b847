// odgs-ipc, odgs-pm, odgs-synthetic, odgs-latency, odgs-context: what the ODGS paper reports of its oracle.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/nearest.hpp"
#include "tb/studies/reproduce/figures/odgs_study.hpp"

namespace heddle::tb::odgs {
namespace {

enum Machine : std::size_t { pod, mimd, dwf, oracle };

std::vector<Variant> machines() {
  return {{"POD", "odgs-pod", {}}, {"MIMD", "odgs-mimd", {}}, {"DWF", "odgs-dwf", {}}, {"ODGS", "odgs", {}}};
}

constexpr const char* kCaveat =
    "Inputs are smaller than the paper's, and the kernels are our own of the same algorithms: WP is another "
    "microphysics of the same form. Registers are limited so that as many blocks fit a core as in table 1.";

std::string times(double ratio) {
  return std::isfinite(ratio) ? fmt::format("{:.2f}", ratio) : "-";
}

// Table 3.
struct Reported {
  const char* benchmark;
  double mimd, dwf, odgs;
};
constexpr std::array<Reported, 5> kTable3 = {{{"MUM", 2.71, 1.95, 4.4},
                                              {"BFS", 1.92, 1.64, 2.6},
                                              {"RAY", 1.05, 0.76, 1.10},
                                              {"NN", 1.52, 0.98, 10.6},
                                              {"WP", 1.02, 0.24, 0.4}}};

class Ipc final : public Claim {
 public:
  explicit Ipc(const Setup&) : study_(machines()) {}
  [[nodiscard]] ClaimText text() const override {
    return {.rank = 6020,
            .statement =
                "With perfect memory ODGS has 4.4, 2.6, 1.1 and 10.6 times POD's IPC on MUM, BFS, RAY and NN, more "
                "than MIMD and DWF, and 0.4 times on WP",
            .paper = "4.4, 2.6, 1.10, 10.6, 0.4",
            .source = "ODGS paper, section 3.7, figure 11, table 3",
            .caveat = kCaveat};
  }
  [[nodiscard]] std::vector<Run> runs() const override { return study_.runs(); }
  [[nodiscard]] Finding judge(const Results& results) const override {
    Finding finding;
    if (!study_.count(results, finding)) {
      return finding;
    }
    const auto gain = [&](std::size_t machine, std::size_t benchmark) {
      return study_.ratio(results, machine, pod, benchmark, instructions_per_cycle);
    };
    for (std::size_t i = 0; i != study_.of().size(); ++i) {
      const Reported& theirs = kTable3.at(i);
      const double ours = gain(oracle, i);
      finding.ours += (i == 0 ? "" : ", ") + times(ours);
      const bool gains = theirs.odgs > 1;
      finding.checks.push_back(
          main_check(fmt::format("ODGS {} on {}", gains ? "beats POD" : "loses to POD", theirs.benchmark), times(ours),
                     gains ? ours > 1.01 : ours < 0.99));
      finding.checks.push_back(check(fmt::format("its gain on {} is of a size with the paper's {:.2f} (half to twice)",
                                                 theirs.benchmark, theirs.odgs),
                                     times(ours), of_a_size(ours - 1, theirs.odgs - 1)));
      if (gains) {
        finding.checks.push_back(check(fmt::format("ODGS beats MIMD and DWF on {}", theirs.benchmark),
                                       fmt::format("{} and {}", times(gain(mimd, i)), times(gain(dwf, i))),
                                       ours > gain(mimd, i) && ours > gain(dwf, i)));
      }
    }
    finding.charts.push_back(study_.bars("IPC with perfect memory", "over POD's", gain));
    finding.tables.push_back(study_.table("IPC over POD's", "{:.2f}", gain));
    finding.tables.push_back(study_.table("Thousands of times that a warp's threads went both ways", "{:.1f}",
                                          [&](std::size_t machine, std::size_t benchmark) {
                                            return study_.at(results, machine, benchmark, [](const Summary& summary) {
                                              return static_cast<double>(summary.divergent_branches) / 1e3;
                                            });
                                          }));
    return finding;
  }

 private:
  Study study_;
};

class PerfectMemory final : public Claim {
 public:
  explicit PerfectMemory(const Setup&)
      : study_({{"perfect", "odgs-pod", {}}, {"DRAM", "odgs-pod-memory", {}}}, {benchmarks().front()}) {}
  [[nodiscard]] ClaimText text() const override {
    return {.rank = 6005,
            .statement =
                "Under POD, MUM runs 2.25 times as long with a memory that takes its time as with a perfect one, and "
                "its DRAM channels are used for 30 to 60 % of the time",
            .paper = "2.25; 30 to 60 %",
            .source = "ODGS paper, section 3.3, figures 3 and 4",
            .caveat = "The simulator's texture cache, in which MUM's tree and reference lie there, is left out."};
  }
  [[nodiscard]] std::vector<Run> runs() const override { return study_.runs(); }
  [[nodiscard]] Finding judge(const Results& results) const override {
    Finding finding;
    if (!study_.count(results, finding)) {
      return finding;
    }
    const double longer =
        study_.ratio(results, 1, 0, 0, [](const Summary& summary) { return static_cast<double>(summary.cycles); });
    const double bus = study_.at(results, 1, 0, [](const Summary& summary) { return summary.dram_bus_utilisation; });
    finding.ours = fmt::format("{}; {:.0f} %", times(longer), 100 * bus);
    finding.checks.push_back(main_check("longer with memory, by a size with 2.25 (half to twice the difference)",
                                        times(longer), of_a_size(longer - 1, 1.25)));
    finding.checks.push_back(check("the channels are used for 30 to 60 % of the time",
                                   fmt::format("{:.0f} %", 100 * bus), bus >= 0.3 && bus <= 0.6));
    return finding;
  }

 private:
  Study study_;
};

class Synthetic final : public Claim {
 public:
  explicit Synthetic(const Setup&) : study_(machines(), pictures()) {}
  [[nodiscard]] ClaimText text() const override {
    return {
        .rank = 6010,
        .statement =
            "On the picture of two colours ODGS has 30 % more IPC than POD, and no warp diverges at the second "
            "branch; on those of four colours fewer do than under POD",
        .paper = "+30 %; none",
        .source = "ODGS paper, section 3.6, figures 9 and 10",
        .caveat =
            "Figure 9 is lost: code and pictures are our own, with two branches of equal arms, and warps of two rows "
            "of 16 pixels. Divergences are those of both branches: half as many as under POD is none at the "
            "second."};
  }
  [[nodiscard]] std::vector<Run> runs() const override { return study_.runs(); }
  [[nodiscard]] Finding judge(const Results& results) const override {
    Finding finding;
    if (!study_.count(results, finding)) {
      return finding;
    }
    const auto gain = [&](std::size_t machine, std::size_t picture) {
      return study_.ratio(results, machine, pod, picture, instructions_per_cycle);
    };
    const Grid::Figure diverged = [](const Summary& summary) {
      return static_cast<double>(summary.divergent_branches);
    };
    const double left = study_.ratio(results, oracle, pod, 0, diverged);
    finding.ours = fmt::format("{}; {:.0f} % of POD's divergences", gain_text(gain(oracle, 0)), 100 * left);
    finding.checks.push_back(
        main_check("ODGS beats POD on picture 1", gain_text(gain(oracle, 0)), gain(oracle, 0) > 1.01));
    finding.checks.push_back(
        check("by a size with 30 % (half to twice)", gain_text(gain(oracle, 0)), of_a_size(gain(oracle, 0) - 1, 0.3)));
    finding.checks.push_back(main_check("half of POD's divergences at most on picture 1, those of the first branch",
                                        fmt::format("{:.0f} %", 100 * left), left <= 0.5));
    bool fewer = true;
    std::string measured;
    for (std::size_t picture = 1; picture != study_.of().size(); ++picture) {
      const double ratio = study_.ratio(results, oracle, pod, picture, diverged);
      fewer = fewer && ratio < 0.99;
      measured += fmt::format("{}{:.0f} %", picture == 1 ? "" : ", ", 100 * ratio);
    }
    finding.checks.push_back(check("fewer than POD's on pictures 2 to 5", measured, fewer));
    finding.charts.push_back(study_.bars("IPC by picture", "over POD's", gain));
    finding.tables.push_back(study_.table("IPC over POD's", "{:.2f}", gain));
    finding.tables.push_back(study_.table(
        "Times that a warp's threads went both ways", "{:.0f}",
        [&](std::size_t machine, std::size_t picture) { return study_.at(results, machine, picture, diverged); }));
    return finding;
  }

 private:
  static std::vector<Benchmark> pictures() {
    return {{"picture 1", {"synthetic:image=1", 1}},
            {"picture 2", {"synthetic:image=2", 1}},
            {"picture 3", {"synthetic:image=3", 1}},
            {"picture 4", {"synthetic:image=4", 1}},
            {"picture 5", {"synthetic:image=5", 1}}};
  }
  Study study_;
};

constexpr std::array<unsigned, 6> kLatencies = {0, 32, 64, 128, 256, 512};

class Latency final : public Claim {
 public:
  explicit Latency(const Setup&) : study_(latencies()) {}
  [[nodiscard]] ClaimText text() const override {
    return {.rank = 6030,
            .statement =
                "MUM and BFS lose IPC when handling a diverged warp takes more than 128 to 256 cycles; RAY and NN are "
                "insensitive",
            .paper = "drop beyond 128 to 256",
            .source = "ODGS paper, section 3.8, figure 13",
            .caveat = kCaveat};
  }
  [[nodiscard]] std::vector<Run> runs() const override { return study_.runs(); }
  [[nodiscard]] Finding judge(const Results& results) const override {
    Finding finding;
    if (!study_.count(results, finding)) {
      return finding;
    }
    const auto left = [&](std::size_t latency, std::size_t benchmark) {
      return study_.ratio(results, latency, 0, benchmark, instructions_per_cycle);
    };
    constexpr std::size_t kAt128 = 3;
    constexpr std::size_t kAt512 = 5;
    for (std::size_t i = 0; i != study_.of().size(); ++i) {
      const std::string label = study_.of()[i].label;
      finding.ours += fmt::format("{}{} {} at 128, {} at 512", i == 0 ? "" : "; ", label, times(left(kAt128, i)),
                                  times(left(kAt512, i)));
      const std::string measured = fmt::format("{} at 128, {} at 512", times(left(kAt128, i)), times(left(kAt512, i)));
      if (label == "MUM" || label == "BFS") {
        finding.checks.push_back(
            main_check(label + " loses most of what it loses by 512 cycles beyond 128", measured,
                       left(kAt512, i) < 0.95 && 1 - left(kAt128, i) < left(kAt128, i) - left(kAt512, i)));
      } else if (label != "WP") {
        finding.checks.push_back(main_check(label + " loses 10 % at most", measured, left(kAt512, i) >= 0.9));
      }
    }
    LineChart chart;
    chart.title = "IPC by handling latency";
    chart.unit = "over that without latency";
    for (const unsigned latency : kLatencies) {
      chart.places.push_back(fmt::format("{}", latency));
    }
    for (std::size_t i = 0; i != study_.of().size(); ++i) {
      LineChart::Series series{study_.of()[i].label, {}};
      for (std::size_t latency = 0; latency != kLatencies.size(); ++latency) {
        series.values.push_back(left(latency, i));
      }
      chart.series.push_back(std::move(series));
    }
    finding.charts.emplace_back(std::move(chart));
    finding.tables.push_back(study_.table("IPC over that without latency, by cycles", "{:.2f}", left));
    return finding;
  }

 private:
  static std::vector<Variant> latencies() {
    std::vector<Variant> all;
    for (const unsigned latency : kLatencies) {
      Variant variant{fmt::format("{}", latency), "odgs", {}};
      if (latency != 0) {
        variant.settings.push_back(fmt::format("odgs.handling_latency={}", latency));
      }
      all.push_back(std::move(variant));
    }
    return all;
  }
  Study study_;
};

class Context final : public Claim {
 public:
  explicit Context(const Setup&) : study_(std::vector<Variant>{{"ODGS", "odgs", {}}}) {}
  [[nodiscard]] ClaimText text() const override {
    return {
        .rank = 6035,
        .statement =
            "The contexts of MUM's diverged warps, 2 KB each, take about 150 bytes per cycle and core to the "
            "global scheduler; those of the other benchmarks much less",
        .paper = "2 KB; 150 bytes per cycle and core",
        .source = "ODGS paper, section 3.8, figure 14",
        .caveat = "Ours is half of what travels, there and back; registers of the kernels as our compiler gives them."};
  }
  [[nodiscard]] std::vector<Run> runs() const override { return study_.runs(); }
  [[nodiscard]] Finding judge(const Results& results) const override {
    Finding finding;
    if (!study_.count(results, finding)) {
      return finding;
    }
    constexpr double kCores = 28;
    const auto bytes = [&](std::size_t machine, std::size_t benchmark) {
      return study_.at(results, machine, benchmark, [](const Summary& summary) {
        return static_cast<double>(summary.context_bytes) / 2 / static_cast<double>(summary.cycles) / kCores;
      });
    };
    finding.ours = fmt::format("{:.0f} bytes per cycle and core", bytes(0, 0));
    finding.checks.push_back(main_check("MUM's are of a size with 150 bytes per cycle and core (half to twice)",
                                        fmt::format("{:.0f}", bytes(0, 0)), of_a_size(bytes(0, 0), 150)));
    for (std::size_t i = 2; i != study_.of().size(); ++i) {
      finding.checks.push_back(check(fmt::format("{}'s are half of them at most", study_.of()[i].label),
                                     fmt::format("{:.0f}", bytes(0, i)), bytes(0, i) <= bytes(0, 0) / 2));
    }
    finding.tables.push_back(study_.table("Bytes of context per cycle and core, one way", "{:.1f}", bytes));
    return finding;
  }

 private:
  Study study_;
};

const Register<Claim, PerfectMemory> pm_entry{"odgs-pm", "MUM with perfect memory and with DRAM"};
const Register<Claim, Synthetic> synthetic_entry{"odgs-synthetic", "Two branches over pictures"};
const Register<Claim, Ipc> ipc_entry{"odgs-ipc", "Warps re-formed from the whole grid"};
const Register<Claim, Latency> latency_entry{"odgs-latency", "Latency of handling diverged warps"};
const Register<Claim, Context> context_entry{"odgs-context", "Contexts of diverged warps"};

}  // namespace
}  // namespace heddle::tb::odgs
