// hotspot: the temperatures of a chip of 512 x 512 cells over time (thesis table 5.2, after Rodinia), in overlapping
// tiles held in the scratchpad. The table gives no number of steps; kIterations brings the work into the 100 to 200
// million thread instructions of thesis section 5.1. With the variant `dws` the DWS report's HotSpot (table 2): 300 x
// 300 cells, 100 steps.
#include "base/registry.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

// The chip: silicon of 0.5 mm, cells of (16 mm / 512) squared, whatever the scale.
constexpr double kThickness = 0.5e-3;     // m
constexpr double kCell = 16e-3 / 512;     // m
constexpr double kConductivity = 100;     // W/(m K)
constexpr double kSpecificHeat = 1.75e6;  // J/(m^3 K)
constexpr double kLumped = 0.5;           // share of the capacity that one lumped cell has
constexpr double kPowerDensity = 3e6;     // W/m^2 at most
constexpr double kAmbient = 300;          // K
constexpr double kCapacity = kLumped * kSpecificHeat * kThickness * kCell * kCell;     // J/K
constexpr double kStep = 1e-3 * kLumped * kSpecificHeat * kThickness / kPowerDensity;  // s: at most 1 mK by power
constexpr double kSideways = 2 * kConductivity * kThickness;                           // W/K, to a neighbour
constexpr double kUpwards = kConductivity * kCell * kCell / kThickness;                // W/K, to the package

class Hotspot final : public KernelWorkload {
 public:
  explicit Hotspot(const tb::WorkloadOptions& options)
      : KernelWorkload("hotspot", options, {{"pthreads"}, {"dws"}, {"interleaved"}}) {}
  [[nodiscard]] std::uint64_t threads() const override {
    return pthreads() ? team() : dws() ? loop_threads() : std::uint64_t{tiles()} * tiles() * kBlock;
  }
  [[nodiscard]] double demo_scale() const override { return dws() ? 0.1 : 1; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const std::uint32_t side = this->side();
    Random random(options().seed);
    std::vector<float> power(std::size_t{side} * side);
    std::vector<float> temperature(power.size());
    for (std::size_t i = 0; i < power.size(); ++i) {
      power[i] = static_cast<float>(kPowerDensity * kCell * kCell * random.unit());
      temperature[i] = static_cast<float>(320 + 20 * random.unit());
    }
    const std::uint64_t device_power = upload(executor, "power", power);
    std::uint64_t source = upload(executor, "temperature", temperature);
    std::uint64_t target = allocate(executor, "temperature_between", temperature.size() * sizeof(float));
    const auto arguments = [&] {
      tb::Arguments all(executor.module(), "hotspot");
      all.pointer(device_power).pointer(source).pointer(target).value(side);
      all.value(static_cast<float>(kStep / kCapacity)).value(static_cast<float>(kSideways * kStep / kCapacity));
      all.value(static_cast<float>(kUpwards * kStep / kCapacity)).value(static_cast<float>(kAmbient));
      return all;
    };
    if (pthreads()) {
      executor.plan({1, 1});
      launch_team(executor, "hotspot", arguments().value(steps()));
      source = steps() % 2 == 0 ? source : target;
    } else if (dws()) {
      executor.plan({steps(), std::uint64_t{steps()} * groups()});
      for (std::uint32_t step = 0; step < steps(); ++step) {
        tb::Arguments all = arguments();
        launch_loop(executor, "hotspot", all, side * side);
        std::swap(source, target);
      }
    } else {
      const std::uint64_t launches = (kIterations + kStepsPerLaunch - 1) / kStepsPerLaunch;
      executor.plan({launches, launches * tiles() * tiles()});
      for (unsigned done = 0; done < kIterations; done += kStepsPerLaunch) {
        launch(executor, "hotspot", {tiles(), tiles()}, {kTile, kTile}, arguments());
        std::swap(source, target);
      }
    }
    return judge(download<float>(executor, source, temperature.size()), expected(power, temperature));
  }

 private:
  static constexpr std::uint32_t kTile = 16;
  static constexpr std::uint32_t kStepsPerLaunch = 2;
  static constexpr std::uint32_t kInner = kTile - 2 * kStepsPerLaunch;
  static constexpr std::uint32_t kIterations = 6;
  static_assert(kIterations % kStepsPerLaunch == 0, "whole launches");
  static constexpr std::uint32_t kPthreadsIterations = 14;  // without tiles a step takes fewer instructions

  // The DWS report's. A scale below 1 takes steps away, and cells below a tenth: a small grid would lie in the caches.
  static constexpr double kDwsIterations = 100;
  static constexpr double kDwsSide = 300;

  [[nodiscard]] std::uint32_t steps() const {
    if (dws()) {
      return static_cast<std::uint32_t>(std::clamp(std::round(kDwsIterations * scale()), 4.0, kDwsIterations));
    }
    return pthreads() ? kPthreadsIterations : kIterations;
  }

  // Whole-grid steps in double precision: the heat that flows through each face of the grid, summed up per cell.
  [[nodiscard]] std::vector<double> expected(const std::vector<float>& power, const std::vector<float>& start) const {
    const std::size_t n = side();
    std::vector<double> temperature(start.begin(), start.end());
    std::vector<double> gain(temperature.size());
    for (unsigned step = 0; step < steps(); ++step) {
      for (std::size_t i = 0; i < gain.size(); ++i) {
        gain[i] = power[i] + (kAmbient - temperature[i]) * kUpwards;
      }
      const auto flow = [&](std::size_t from, std::size_t to) {
        const double heat = (temperature[from] - temperature[to]) * kSideways;
        gain[from] -= heat;
        gain[to] += heat;
      };
      for (std::size_t y = 0; y < n; ++y) {
        for (std::size_t x = 0; x < n; ++x) {
          if (x + 1 < n) {
            flow(y * n + x, y * n + x + 1);
          }
          if (y + 1 < n) {
            flow(y * n + x, (y + 1) * n + x);
          }
        }
      }
      for (std::size_t i = 0; i < gain.size(); ++i) {
        temperature[i] += gain[i] * kStep / kCapacity;
      }
    }
    return temperature;
  }

  // A step takes a weighted mean of a cell and its neighbours, which lets no error grow, and rounds: at most one unit
  // in the last place of a temperature below 512 K, 2^-15 K.
  [[nodiscard]] tb::Verdict judge(const std::vector<float>& actual, const std::vector<double>& expected) const {
    const double tolerance = steps() * 0x1p-15;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (!(std::abs(actual[i] - expected[i]) <= tolerance)) {  // catches NaN, too
        return {false, fmt::format("temperature [{}]: {} K instead of {:.6f} K", i, actual[i], expected[i])};
      }
    }
    return {true, fmt::format("{} temperatures within {:.2g} K of the host's in double", expected.size(), tolerance)};
  }
  [[nodiscard]] std::uint32_t side() const {
    const double wide =
        dws() ? kDwsSide * std::sqrt(std::max(std::min(1.0, 10 * scale()), scale())) : 512 * std::sqrt(scale());
    return std::max(kInner, static_cast<std::uint32_t>(std::lround(wide)));
  }
  [[nodiscard]] std::uint32_t tiles() const { return (side() + kInner - 1) / kInner; }
};

const Register<tb::Workload, Hotspot> hotspot_entry{
    "hotspot", "temperatures of a chip of 512 x 512 cells; variants pthreads, dws"};

}  // namespace
}  // namespace heddle::workloads
