// nearest: the distances of 42,764 places of hurricanes from a target, of which the host takes the nearest ten (NNC of
// the warp-size study, after Rodinia's nn with filelist_4).
#include "base/registry.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

struct Place {
  float latitude = 0, longitude = 0;
};

class Nearest final : public KernelWorkload {
 public:
  explicit Nearest(const tb::WorkloadOptions& options) : KernelWorkload("nearest", options) {}
  [[nodiscard]] std::uint64_t threads() const override { return std::uint64_t{grid()} * kBlock; }
  [[nodiscard]] double demo_scale() const override { return 1; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    Random random(options().seed);
    std::vector<Place> places(count());
    for (Place& place : places) {
      // Tenths of degrees, as the records have them.
      place.latitude = static_cast<float>(70 + random.below(580)) / 10;
      place.longitude = static_cast<float>(random.below(3600)) / 10;
    }
    const std::uint64_t device_places = upload(executor, "places", places);
    const std::uint64_t device_distances = allocate(executor, "distances", places.size() * sizeof(float));
    executor.plan({1, grid()});
    launch(executor, "nearest", {grid()}, {kBlock},
           tb::Arguments(executor.module(), "nearest")
               .pointer(device_places)
               .pointer(device_distances)
               .value(count())
               .value(kLatitude)
               .value(kLongitude));
    const auto distances = download<float>(executor, device_distances, places.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
      const double expected =
          std::hypot(double{kLatitude} - places[i].latitude, double{kLongitude} - places[i].longitude);
      // Differences, squares, sum and root are rounded once each: three units in the last place at most.
      if (!(std::abs(distances[i] - expected) <= 3 * 0x1p-23 * expected)) {
        return {false, fmt::format("distance [{}]: {} instead of {}", i, distances[i], expected)};
      }
    }
    std::vector<float> nearest(10);
    std::partial_sort_copy(distances.begin(), distances.end(), nearest.begin(), nearest.end());
    return {true, fmt::format("{} distances within three units in the last place of the host's in double; the nearest "
                              "ten within {:.1f} degrees",
                              distances.size(), nearest.back())};
  }

 private:
  static constexpr float kLatitude = 30;
  static constexpr float kLongitude = 90;

  [[nodiscard]] std::uint32_t count() const { return scaled(42'764, 8192); }
  [[nodiscard]] std::uint32_t grid() const { return (count() + kBlock - 1) / kBlock; }
};

const Register<tb::Workload, Nearest> nearest_entry{"nearest", "distances of 42,764 places from a target"};

}  // namespace
}  // namespace heddle::workloads
