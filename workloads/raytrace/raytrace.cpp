// raytrace: a picture of 256 x 256 pixels of mirroring spheres over a chequered floor by recursive ray tracing with
// shadows and up to five reflections (RAY of the ODGS paper's table 1, from GPGPU-Sim's benchmarks): blocks of 16 x 8
// threads, a barrier in each. The scene is Heddle's own.
#include "base/error.hpp"
#include "base/registry.hpp"
#include "tb/device/picture.hpp"
#include "workloads/raytrace/oracle.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

class Raytrace final : public KernelWorkload {
 public:
  explicit Raytrace(const tb::WorkloadOptions& options) : KernelWorkload("raytrace", options) {}
  [[nodiscard]] std::uint64_t threads() const override { return std::uint64_t{side()} * side(); }
  [[nodiscard]] double demo_scale() const override { return 0.5; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const std::uint32_t side = this->side();
    const raytrace::Scene scene = draw_scene();
    set_scene(executor, scene);
    const std::size_t pixels = std::size_t{side} * side;
    const std::uint64_t picture = allocate(executor, "picture", pixels * sizeof(std::uint32_t));
    const isa::Dim3 grid{side / kWide, side / kHigh};
    executor.plan({1, grid.count()});
    launch(executor, "render", grid, {kWide, kHigh},
           tb::Arguments(executor.module(), "render").pointer(picture).value(side).value(kBodies));
    tb::show_picture(executor, "picture", picture, {side, side, tb::PixelFormat::rgba, isa::Type::u32});
    return raytrace::judge(download<std::uint32_t>(executor, picture, pixels), side, scene, kBodies);
  }

 private:
  static constexpr std::uint32_t kWide = 16;  // of a block
  static constexpr std::uint32_t kHigh = 8;
  static constexpr std::uint32_t kRing = 6;  // spheres around a large one
  static constexpr std::uint32_t kBodies = kRing + 2;
  static_assert(kBodies <= raytrace::kMostBodies);

  // The work goes with the square of the side.
  [[nodiscard]] std::uint32_t side() const {
    return kWide * std::max(2U, static_cast<std::uint32_t>(std::lround(256.0 / kWide * std::sqrt(scale()))));
  }

  // No two bodies touch, whatever the seed.
  [[nodiscard]] raytrace::Scene draw_scene() const {
    Random random(options().seed);
    const auto between = [&random](double low, double high) {
      return static_cast<float>(low + (high - low) * random.unit());
    };
    raytrace::Scene scene{{}, {0, 1.75F, 3}, {6, 9, 4}};
    scene.bodies[0] = {12, 0, 0, 0, 0.9F, 0.85F, 0.8F, 0.25F};
    scene.bodies[1] = {0, 1.25F, -3, 1, 0.9F, 0.9F, 0.95F, 0.75F};
    for (std::uint32_t i = 0; i < kRing; ++i) {
      const double angle = 2 * 3.14159265358979 * (i + 0.5) / kRing;
      raytrace::Body& body = scene.bodies[2 + i];
      body.radius = between(0.35, 0.65);
      body.x = static_cast<float>(2 * std::cos(angle));
      body.y = body.radius + between(0.05, 1);
      body.z = static_cast<float>(-3 + 2 * std::sin(angle));
      body.red = between(0.2, 1);
      body.green = between(0.2, 1);
      body.blue = between(0.2, 1);
      body.mirror = between(0.3, 0.8);
    }
    return scene;
  }

  // Into the kernel's __constant__ variable.
  static void set_scene(tb::Executor& executor, const raytrace::Scene& scene) {
    for (const isa::Variable& variable : executor.module().variables) {
      if (variable.name == "scene") {
        if (variable.size != sizeof(scene)) {
          throw InternalError("the scene of raytrace's kernel has another size than the host's");
        }
        executor.set_constants(variable.address, std::as_bytes(std::span(&scene, 1)));
        return;
      }
    }
    throw InternalError("raytrace's kernel has no scene");
  }
};

const Register<tb::Workload, Raytrace> raytrace_entry{
    "raytrace", "256 x 256 pixels of mirroring spheres, by ray tracing with up to 5 reflections"};

}  // namespace
}  // namespace heddle::workloads
