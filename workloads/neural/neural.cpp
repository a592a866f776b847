// neural: 28 pictures of digits through a convolutional neural network of four layers (NN of the ODGS paper's table 1,
// from GPGPU-Sim's benchmarks), in the paper's blocks: (6,28) of 13 x 13 threads, (50,28) of 5 x 5, (100,28) and
// (10,28) of one. The pictures are drawn here, the weights pseudo-random: what the network says of a digit means
// nothing.
//
//   by_places    the second layer goes by the places of a window, the six maps before it written out at each, as in the
//                benchmark, so that it takes a smaller part of the work
#include "base/registry.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

// A layer in which a unit looks at a window of each map before it. Layers that look at everything have maps of one
// unit, whose window is a map.
struct Layer {
  const char* kernel;
  const char* buffer;
  std::uint32_t maps_before, side_before;  // side: of a map, in units
  std::uint32_t maps, side;
  std::uint32_t window, step;
  bool by_places = false;  // of a map's weights those of one place lie side by side

  [[nodiscard]] std::size_t units() const { return std::size_t{maps} * side * side; }  // of a picture
  [[nodiscard]] std::size_t units_before() const { return std::size_t{maps_before} * side_before * side_before; }
  // Of a map, without its bias.
  [[nodiscard]] std::size_t weights() const { return std::size_t{maps_before} * window * window; }
};

class Neural final : public KernelWorkload {
 public:
  explicit Neural(const tb::WorkloadOptions& options) : KernelWorkload("neural", options, {{kByPlaces}}) {}
  [[nodiscard]] std::uint64_t threads() const override {
    const auto largest = [](const Layer& a, const Layer& b) { return a.units() < b.units(); };
    const std::vector<Layer> all = layers();
    return std::max_element(all.begin(), all.end(), largest)->units() * pictures();
  }
  [[nodiscard]] double demo_scale() const override { return 0.05; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const std::vector<Layer> layers = this->layers();
    Random random(options().seed);
    std::vector<float> before = draw(random);
    std::uint64_t device_before = upload(executor, "pictures", before);
    tb::Executor::Plan plan{layers.size()};
    for (const Layer& layer : layers) {
      plan.blocks += std::uint64_t{layer.maps} * pictures();
    }
    executor.plan(plan);
    tb::Verdict verdict{true, {}};
    for (const Layer& layer : layers) {
      const std::vector<float> weights = draw_weights(layer, random);
      const std::uint64_t device_weights = upload(executor, std::string("weights_of_") + layer.buffer,
                                                  layer.by_places ? by_places(layer, weights) : weights);
      const std::size_t count = layer.units() * pictures();
      const std::uint64_t device_units = allocate(executor, layer.buffer, count * sizeof(float));
      tb::Arguments arguments(executor.module(), layer.kernel);
      arguments.pointer(device_before).pointer(device_weights).pointer(device_units);
      if (layer.maps_before > 1 && !layer.by_places) {
        arguments.value(layer.side == 1 ? static_cast<std::uint32_t>(layer.units_before()) : layer.maps_before);
      }
      launch(executor, layer.kernel, {layer.maps, pictures()}, {layer.side, layer.side}, arguments);
      // Each layer is judged by the units before it as the GPU left them.
      const std::vector<float> units = download<float>(executor, device_units, count);
      const tb::Verdict judged = judge(layer, before, weights, units);
      verdict = verdict.detail.empty() ? judged : both(verdict, judged);
      before = units;
      device_before = device_units;
    }
    return verdict;
  }

 private:
  static constexpr const char* kByPlaces = "by_places";
  static constexpr std::uint32_t kPixels = 29;
  static constexpr std::uint32_t kPictures = 28;
  static constexpr std::uint32_t kHidden = 100;

  [[nodiscard]] std::uint32_t pictures() const { return scaled(kPictures, 1); }
  // Less than a picture: fewer units in the third layer, which has most of the work.
  [[nodiscard]] std::uint32_t hidden() const {
    return std::clamp(static_cast<std::uint32_t>(std::lround(kHidden * kPictures * scale())), 10U, kHidden);
  }
  [[nodiscard]] std::vector<Layer> layers() const {
    const bool by_places = variants().flag(kByPlaces);
    return {{"first_layer", "first", 1, kPixels, 6, 13, 5, 2},
            {by_places ? "second_layer_by_places" : "second_layer", "second", 6, 13, 50, 5, 5, 2, by_places},
            {"full_layer", "third", 50, 5, hidden(), 1, 5, 1},
            {"full_layer", "fourth", hidden(), 1, 10, 1, 1, 1}};
  }

  // Digits of the seven strokes of a calculator's, moved, of different brightness, on a noisy ground: -1 to 1.
  [[nodiscard]] std::vector<float> draw(Random& random) const {
    // Strokes of each digit: top, upper left, upper right, middle, lower left, lower right, bottom.
    constexpr std::array<std::uint8_t, 10> kStrokes = {0b1110111, 0b0100100, 0b1011101, 0b1101101, 0b0101110,
                                                       0b1101011, 0b1111011, 0b0100101, 0b1111111, 0b1101111};
    struct Stroke {
      std::uint32_t left, top, width, height;
    };
    constexpr std::array<Stroke, 7> kPlaces = {
        {{0, 0, 11, 3}, {0, 0, 3, 11}, {8, 0, 3, 11}, {0, 8, 11, 3}, {0, 8, 3, 11}, {8, 8, 3, 11}, {0, 16, 11, 3}}};
    std::vector<float> all;
    for (std::uint32_t picture = 0; picture < pictures(); ++picture) {
      const std::uint32_t left = 4 + random.below(11);
      const std::uint32_t top = 2 + random.below(7);
      const auto ink = static_cast<float>(0.5 + 0.5 * random.unit());
      const std::size_t first = all.size();
      for (std::uint32_t i = 0; i < kPixels * kPixels; ++i) {
        all.push_back(static_cast<float>(-1 + 0.25 * random.unit()));
      }
      for (std::size_t stroke = 0; stroke < kPlaces.size(); ++stroke) {
        const Stroke& place = kPlaces.at(stroke);
        if ((kStrokes.at(picture % 10) >> stroke & 1U) == 0) {
          continue;
        }
        for (std::uint32_t i = 0; i < place.width * place.height; ++i) {
          const std::uint32_t x = left + place.left + i % place.width;
          const std::uint32_t y = top + place.top + i / place.width;
          all[first + std::size_t{y} * kPixels + x] = ink;
        }
      }
    }
    return all;
  }

  // Such that sums are about 1 (LeCun): evenly spread, with a variance of one in the number of a unit's inputs.
  static std::vector<float> draw_weights(const Layer& layer, Random& random) {
    const double most = std::sqrt(3.0 / static_cast<double>(layer.weights() + 1));
    std::vector<float> weights(layer.maps * (layer.weights() + 1));
    for (float& weight : weights) {
      weight = static_cast<float>(most * (2 * random.unit() - 1));
    }
    return weights;
  }

  static std::vector<float> by_places(const Layer& layer, const std::vector<float>& weights) {
    const std::size_t per_map = layer.weights() + 1;
    const std::size_t places = std::size_t{layer.window} * layer.window;
    std::vector<float> all(weights);
    for (std::size_t map = 0; map != layer.maps; ++map) {
      for (std::size_t from = 0; from != layer.maps_before; ++from) {
        for (std::size_t place = 0; place != places; ++place) {
          all[map * per_map + 1 + place * layer.maps_before + from] =
              weights[map * per_map + 1 + from * places + place];
        }
      }
    }
    return all;
  }

  // In double, from the units before: each of them adds its part to all units whose window it is in. A sum of n
  // products in single precision is off by at most n + 1 roundings of the sum of their magnitudes (Higham, Accuracy and
  // Stability of Numerical Algorithms, 3.1); squashing makes at most 1.15 times that of it, and some roundings.
  [[nodiscard]] tb::Verdict judge(const Layer& layer, const std::vector<float>& before,
                                  const std::vector<float>& weights, const std::vector<float>& units) const {
    const std::size_t per_map = layer.weights() + 1;
    double widest = 0;
    for (std::uint32_t picture = 0; picture < pictures(); ++picture) {
      std::vector<double> sums(layer.units());
      std::vector<double> magnitudes(layer.units());
      const auto add = [&](std::uint32_t map, std::uint32_t x, std::uint32_t y, double part) {
        const std::size_t unit = (std::size_t{map} * layer.side + y) * layer.side + x;
        sums[unit] += part;
        magnitudes[unit] += std::abs(part);
      };
      for (std::uint32_t map = 0; map < layer.maps; ++map) {
        for (std::uint32_t i = 0; i < layer.side * layer.side; ++i) {
          add(map, i % layer.side, i / layer.side, weights[map * per_map]);
        }
      }
      for (std::uint32_t input = 0; input < layer.units_before(); ++input) {
        const double value = before[picture * layer.units_before() + input];
        const std::uint32_t x = input % layer.side_before;
        const std::uint32_t y = input / layer.side_before % layer.side_before;
        const std::uint32_t from = input / layer.side_before / layer.side_before;
        for (std::uint32_t row = y % layer.step; row <= y && row < layer.window; row += layer.step) {
          for (std::uint32_t column = x % layer.step; column <= x && column < layer.window; column += layer.step) {
            const std::uint32_t unit_x = (x - column) / layer.step;
            const std::uint32_t unit_y = (y - row) / layer.step;
            if (unit_x >= layer.side || unit_y >= layer.side) {
              continue;
            }
            const std::size_t weight = 1 + (std::size_t{from} * layer.window + row) * layer.window + column;
            for (std::uint32_t map = 0; map < layer.maps; ++map) {
              add(map, unit_x, unit_y, weights[map * per_map + weight] * value);
            }
          }
        }
      }
      for (std::size_t unit = 0; unit < sums.size(); ++unit) {
        const double expected = 1.7159 * std::tanh(2.0 / 3 * sums[unit]);
        const double tolerance =
            1.15 * 0x1p-24 * static_cast<double>(per_map + 1) * magnitudes[unit] + 16 * 0x1p-24 * std::abs(expected);
        const double actual = units[picture * sums.size() + unit];
        if (!(std::abs(actual - expected) <= tolerance)) {
          return {false, fmt::format("{} layer, unit [{}] of picture {}: {} instead of {}", layer.buffer, unit, picture,
                                     actual, expected)};
        }
        widest = std::max(widest, tolerance);
      }
    }
    return {true, fmt::format("{} units of the {} layer within {:.1g} of the host's in double", units.size(),
                              layer.buffer, widest)};
  }
};

const Register<tb::Workload, Neural> neural_entry{
    "neural", "28 digits through a convolutional neural network of 4 layers; variant by_places"};

}  // namespace
}  // namespace heddle::workloads
