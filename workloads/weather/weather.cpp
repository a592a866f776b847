// weather: ten steps of a weather model's microphysics over 72 x 64 columns of 28 levels (WP of the ODGS paper's table
// 1, from GPGPU-Sim's benchmarks), in the paper's (9,8) blocks of 8 x 8 threads: a thread per column, long code with
// many short branches. The physics and the weather are Heddle's own: updraughts in a moist atmosphere with some rain,
// snow and ice from the start.
#include "base/registry.hpp"
#include "workloads/support.hpp"
#include "workloads/weather/oracle.hpp"

namespace heddle::workloads {
namespace {

class Weather final : public KernelWorkload {
 public:
  explicit Weather(const tb::WorkloadOptions& options)
      : KernelWorkload("weather", options, {{kStepCount, kSteps, 1, kSteps}}) {}
  [[nodiscard]] std::uint64_t threads() const override { return columns(); }
  [[nodiscard]] double demo_scale() const override { return 0.05; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    weather::Air air = make_air();
    const std::uint64_t temperature = upload(executor, "temperature", air.temperature);
    std::array<std::uint64_t, 5> water{};
    for (std::size_t kind = 0; kind < water.size(); ++kind) {
      water.at(kind) = upload(executor, weather::kWaters.at(kind), air.water.at(kind));
    }
    const std::uint64_t pressure = upload(executor, "pressure", air.pressure);
    const std::uint64_t thickness = upload(executor, "thickness", air.thickness);
    const std::uint64_t mass = upload(executor, "mass", air.mass);
    const std::uint64_t updraft = upload(executor, "updraft", air.updraft);
    const std::uint64_t ground = upload(executor, "ground", air.ground);
    const std::uint64_t falls = allocate(executor, "falls", columns() * sizeof(std::uint32_t));
    executor.plan({steps(), steps() * grid().count()});
    weather::Columns expected(air, columns());
    for (std::uint32_t step = 0; step < steps(); ++step) {
      tb::Arguments arguments(executor.module(), "microphysics");
      arguments.pointer(temperature);
      for (const std::uint64_t kind : water) {
        arguments.pointer(kind);
      }
      arguments.pointer(pressure).pointer(thickness).pointer(mass).pointer(updraft).pointer(ground).pointer(falls);
      arguments.value(static_cast<std::uint32_t>(weather::kLevels)).value(kSeconds);
      launch(executor, "microphysics", grid(), {kBlockSide, kBlockSide}, arguments);
      const std::string wrong = expected.step(kSeconds, download<std::uint32_t>(executor, falls, columns()));
      if (!wrong.empty()) {
        return {false, fmt::format("step {}: {}", step, wrong)};
      }
    }
    const std::size_t cells = weather::kLevels * columns();
    air.temperature = download<float>(executor, temperature, cells);
    for (std::size_t kind = 0; kind < water.size(); ++kind) {
      air.water.at(kind) = download<float>(executor, water.at(kind), cells);
    }
    air.ground = download<float>(executor, ground, columns());
    return expected.judge(air);
  }

 private:
  static constexpr std::uint32_t kBlockSide = 8;
  static constexpr std::uint32_t kSteps = 10;
  static constexpr const char* kStepCount = "steps";
  static constexpr float kSeconds = 60;

  // 9 x 8 blocks, as the root of the scale, but 2 x 2 at least.
  [[nodiscard]] isa::Dim3 grid() const {
    const auto side = [this](double full) {
      return std::max(2U, static_cast<std::uint32_t>(std::lround(full * std::sqrt(scale()))));
    };
    return {side(9), side(8)};
  }
  [[nodiscard]] std::size_t columns() const { return grid().count() * kBlockSide * kBlockSide; }
  // Fewer where the blocks are more than the scale says.
  [[nodiscard]] std::uint32_t steps() const {
    const double share = 72 * scale() / static_cast<double>(grid().count());
    const std::uint32_t most = variants().number(kStepCount);
    return std::clamp(static_cast<std::uint32_t>(std::lround(kSteps * share)), std::min(2U, most), most);
  }

  // Levels that grow by 8 % from 120 m on, to 11 km; 6.5 K less per kilometre (the standard atmosphere's).
  [[nodiscard]] weather::Air make_air() const {
    struct Cloud {
      double x, y, radius, updraft;
    };
    const isa::Dim3 blocks = grid();
    const std::uint32_t wide = blocks.x * kBlockSide;
    const std::uint32_t deep = blocks.y * kBlockSide;
    Random random(options().seed);
    std::vector<Cloud> clouds;
    for (std::uint32_t i = 0; i < 2 + columns() / 512; ++i) {
      clouds.push_back({wide * random.unit(), deep * random.unit(), 3 + 6 * random.unit(), 1 + random.unit()});
    }
    weather::Air air;
    air.ground.assign(columns(), 0);
    double height = 0;
    double layer = 120;
    for (std::size_t level = 0; level < weather::kLevels; ++level, height += layer, layer *= 1.08) {
      const double middle = height + layer / 2;
      for (std::size_t column = 0; column < columns(); ++column) {
        double inside = 0;
        double lifts = -0.3;
        for (const Cloud& cloud : clouds) {
          const double x = (static_cast<double>(column % wide) - cloud.x) / cloud.radius;
          const double y = (static_cast<double>(column / wide) - cloud.y) / cloud.radius;
          const double near = std::exp(-x * x - y * y);
          inside = std::max(inside, near);
          lifts += cloud.updraft * near;
        }
        const double temperature = 298 - 0.0065 * middle + inside + 0.2 * random.unit();
        const double pressure = 1e5 * std::pow(1 - 0.0065 * middle / 298, 9.81 / (287.04 * 0.0065));
        const double partial = 611.2 * std::exp(17.67 * (temperature - 273.15) / (temperature - 29.65));
        const double wet = (0.6 + 0.42 * inside + 0.02 * random.unit()) * 0.622 * partial / (pressure - partial);
        // What falls already: rain below 4 km, snow from 3 km up, ice from 7 km up, in the clouds' hearts.
        const double heart = std::max(0.0, inside - 0.3);
        const double rain = 1e-3 * heart * std::clamp((4000 - middle) / 1000, 0.0, 1.0);
        const double snow = 1e-3 * heart * std::clamp((middle - 3000) / 1000, 0.0, 1.0);
        const double ice = 1e-4 * heart * std::clamp((middle - 7000) / 1000, 0.0, 1.0);
        air.temperature.push_back(static_cast<float>(temperature));
        air.pressure.push_back(static_cast<float>(pressure));
        air.thickness.push_back(static_cast<float>(layer));
        air.mass.push_back(static_cast<float>(pressure / (287.04 * temperature) * layer));
        air.updraft.push_back(static_cast<float>(lifts * std::sin(3.14159265358979 * std::min(1.0, middle / 12000))));
        const std::array<double, 5> water = {wet, 0, rain, ice, snow};
        for (std::size_t kind = 0; kind < water.size(); ++kind) {
          air.water.at(kind).push_back(static_cast<float>(water.at(kind)));
        }
      }
    }
    return air;
  }
};

const Register<tb::Workload, Weather> weather_entry{
    "weather", "ten steps of microphysics over 72 x 64 columns of air, 28 levels; variant steps=N"};

}  // namespace
}  // namespace heddle::workloads
