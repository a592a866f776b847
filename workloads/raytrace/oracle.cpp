#include "workloads/raytrace/oracle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace heddle::workloads::raytrace {
namespace {

constexpr double kUlp = 0x1p-23;   // twice the rounding of a single-precision operation
constexpr double kOff = 0x1p-10;   // as in the kernel: where rays from a surface begin
constexpr double kFaint = 0x1p-8;  // the light that is not followed any more
constexpr unsigned kReflections = 5;
constexpr double kLost = 0.05;  // error of a direction from which on nothing is said about what the ray meets
constexpr std::size_t kMostWays = 256;

struct Place {
  double x = 0, y = 0, z = 0;
};
Place operator+(const Place& a, const Place& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
Place operator-(const Place& a, const Place& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
Place operator*(double s, const Place& a) {
  return {s * a.x, s * a.y, s * a.z};
}
double inner(const Place& a, const Place& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
double length(const Place& a) {
  return std::hypot(a.x, a.y, a.z);
}
Place outer(const Place& a, const Place& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// A number and how far the kernel's may be from it.
struct Bounded {
  double value = 0;
  double error = 0;
};

struct Ray {
  Place origin, direction;
  double origin_error = 0, direction_error = 0;
};

// What the kernel may see in one pixel: the light of each colour, and how far its may be from that.
struct Light {
  std::array<double, 3> value{};
  double error = 0;
  bool lost = false;  // the ray's way was given up

  void add(double weight, const std::array<double, 3>& light, double light_error) {
    for (std::size_t i = 0; i < 3; ++i) {
      value.at(i) += weight * light.at(i);
    }
    error += weight * (light_error + 8 * kUlp);
  }
};

class Pixel {
 public:
  Pixel(const Scene& scene, std::uint32_t count) : scene_(scene), count_(count) {}

  // Every light that the roundings allow, the most likely first; too many of them: the last one is lost.
  std::vector<Light> lights(const Place& direction) {
    std::vector<Light> all;
    choices_.clear();
    do {
      next_ = 0;
      all.push_back(trace({place(scene_.eye), (1 / length(direction)) * direction, 0, 4 * kUlp}));
      if (all.size() == kMostWays) {
        all.back().lost = true;
        all.back().error = 1;
        break;
      }
    } while (other_way());
    return all;
  }

 private:
  static Place place(const float (&xyz)[3]) { return {xyz[0], xyz[1], xyz[2]}; }

  // Is the value above 0? Where its error leaves that open, both ways are taken, one after the other.
  bool above_zero(double value, double error) {
    if (std::abs(value) > error) {
      return value > 0;
    }
    if (next_ == choices_.size()) {
      choices_.push_back({value > 0, false});
    }
    return choices_[next_++].taken;
  }
  // Turns the last choice that can be turned; false: all ways have been gone.
  bool other_way() {
    while (!choices_.empty() && choices_.back().turned) {
      choices_.pop_back();
    }
    if (choices_.empty()) {
      return false;
    }
    choices_.back() = {!choices_.back().taken, true};
    return true;
  }

  // How far along the ray the body lies; infinitely far: it is not met.
  Bounded meeting(const Ray& ray, const Body& body) {
    constexpr Bounded kNever = {std::numeric_limits<double>::infinity(), 0};
    const Place& d = ray.direction;
    if (body.radius == 0) {
      const double steepest = ray.direction_error - d.y;
      const double edge = 1.5 * body.x + length(ray.origin);  // no point of the floor is farther
      if (steepest <= 0 || ray.origin.y - body.y - ray.origin_error > steepest * edge) {
        return kNever;
      }
      if (d.y >= -ray.direction_error) {  // on the floor, the kernel's ray may be anywhere
        lost_ = true;
        return kNever;
      }
      const double t = (double{body.y} - ray.origin.y) / d.y;
      const double error =
          (ray.origin_error + t * ray.direction_error + kUlp * std::abs(ray.origin.y)) / -d.y + 4 * kUlp * std::abs(t);
      const Place point = ray.origin + t * d;
      const double out = double{body.x} - std::max(std::abs(point.x), std::abs(point.z));
      return above_zero(out, point_error(ray, {t, error})) ? Bounded{t, error} : kNever;
    }
    const Place to = Place{body.x, body.y, body.z} - ray.origin;
    const double far = length(to);
    const double along = inner(to, d);
    const double along_error = ray.origin_error + far * ray.direction_error + 4 * kUlp * far;
    if (along < -along_error) {
      return kNever;
    }
    const double beside = length(outer(to, d));  // of the centre from the ray
    const double beside_error = ray.origin_error + far * ray.direction_error;
    const double depth = (body.radius - beside) * (body.radius + beside);
    const double depth_error = (2 * beside + beside_error) * beside_error + 8 * kUlp * far * far;
    if (!above_zero(depth, depth_error)) {
      return kNever;
    }
    const double most = std::sqrt(std::max(0.0, depth + depth_error));
    const double half = std::sqrt(std::max(0.0, depth));
    const double least = std::sqrt(std::max(0.0, depth - depth_error));
    return {along - half, along_error + (most - least) + 4 * kUlp * far};
  }
  static double point_error(const Ray& ray, const Bounded& t) {
    return ray.origin_error + t.value * ray.direction_error + t.error + 4 * kUlp * (length(ray.origin) + t.value);
  }

  bool lit(const Ray& ray, double distance, double distance_error) {
    for (std::uint32_t i = 0; i < count_; ++i) {
      const Bounded t = meeting(ray, scene_.bodies[i]);
      if (std::isfinite(t.value) && above_zero(distance - t.value, t.error + distance_error)) {
        return false;
      }
    }
    return true;
  }

  Light trace(Ray ray) {
    Light seen;
    double weight = 1;
    for (unsigned reflection = 0; reflection <= kReflections; ++reflection) {
      lost_ = ray.direction_error > kLost;
      Bounded nearest = {std::numeric_limits<double>::infinity(), 0};
      const Body* met = nullptr;
      for (std::uint32_t i = 0; i < count_; ++i) {
        const Bounded t = meeting(ray, scene_.bodies[i]);
        if (std::isfinite(t.value) &&
            (met == nullptr || above_zero(nearest.value - t.value, nearest.error + t.error))) {
          nearest = t;
          met = &scene_.bodies[i];
        }
      }
      if (lost_) {
        seen.add(weight, {0.5, 0.5, 0.5}, 1);  // the most that anything shows is 0.1 + 0.7 + 0.5
        seen.lost = true;
        break;
      }
      if (met == nullptr) {
        const double up = std::max(0.0, ray.direction.y);
        seen.add(weight, {0.75 - 0.5 * up, 0.85 - 0.4 * up, 1 - 0.2 * up}, 0.5 * ray.direction_error);
        break;
      }
      Place point = ray.origin + nearest.value * ray.direction;
      const double at_error = point_error(ray, nearest);
      Place normal{0, 1, 0};
      double normal_error = 0;
      double bright = 1;
      if (met->radius > 0) {
        normal = point - Place{met->x, met->y, met->z};
        normal = (1 / length(normal)) * normal;
        normal_error = at_error / met->radius + 4 * kUlp;
      } else if (odd(point.x, at_error) != odd(point.z, at_error)) {
        bright = 0.25;
      }
      point = point + kOff * normal;
      const double begin_error = at_error + kOff * normal_error + kUlp * length(point);
      const std::array<double, 3> colour = {bright * met->red, bright * met->green, bright * met->blue};
      seen_of(ray, point, normal, colour, begin_error, normal_error, weight * (1 - double{met->mirror}), seen);
      weight *= met->mirror;
      if (weight < kFaint) {
        break;
      }
      ray.origin = point;
      ray.origin_error = begin_error;
      ray.direction = ray.direction - 2 * inner(ray.direction, normal) * normal;
      ray.direction_error += 4 * normal_error + 8 * kUlp;
    }
    return seen;
  }
  // Is the square of the chequers odd?
  bool odd(double at, double error) {
    const double nearest = std::round(at);
    const bool beyond = above_zero(at - nearest, error);
    return std::fmod(std::abs(nearest - (beyond ? 0 : 1)), 2) != 0;
  }

  // Adds what a point shows by itself.
  void seen_of(const Ray& ray, const Place& point, const Place& normal, const std::array<double, 3>& colour,
               double point_error, double normal_error, double weight, Light& seen) {
    Bounded diffuse;
    Bounded highlight;
    const Place to_light = place(scene_.light) - point;
    const double distance = length(to_light);
    const Place light = (1 / distance) * to_light;
    const double light_error = 2 * point_error / distance + 4 * kUlp;
    const Bounded facing = {inner(normal, light), normal_error + light_error + 4 * kUlp};
    const Ray shadow = {point, light, point_error, light_error};
    if (above_zero(facing.value, facing.error) && lit(shadow, distance, point_error + 4 * kUlp * distance)) {
      diffuse = {0.7 * facing.value, 0.7 * facing.error};
      const Place between = light - ray.direction;
      const double size = length(between);
      const double glance = inner(normal, between) / size;
      const double error = normal_error + 2 * (light_error + ray.direction_error) / size + 8 * kUlp;
      const auto power = [](double x) { return std::pow(std::clamp(x, 0.0, 1.0), 32); };
      highlight = {0.5 * power(glance), 0.5 * (power(glance + error) - power(glance - error)) + 64 * kUlp};
    }
    if (lost_) {  // a shadow ray has been
      seen.add(weight, {0.5, 0.5, 0.5}, 1);
      seen.lost = true;
      return;
    }
    std::array<double, 3> shown{};
    for (std::size_t i = 0; i < 3; ++i) {
      shown.at(i) = (0.1 + diffuse.value) * colour.at(i) + highlight.value;
    }
    seen.add(weight, shown, diffuse.error + highlight.error);
  }

  struct Choice {
    bool taken;
    bool turned;  // the other way has been gone
  };
  const Scene& scene_;
  std::uint32_t count_;
  std::vector<Choice> choices_;
  std::size_t next_ = 0;
  bool lost_ = false;  // the ray that is traced has been
};

// Largest distance of a byte of the pixel from what it should be, in bytes beyond what the light's error explains.
double beyond(std::uint32_t pixel, const Light& light) {
  double worst = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const double shown = (pixel >> 8 * i) & 0xffU;
    const double expected = 255 * std::clamp(light.value.at(i), 0.0, 1.0);
    worst = std::max(worst, std::abs(shown - expected) - 255 * light.error);
  }
  return worst;
}

std::uint32_t pixel_of(const Light& light) {
  std::uint32_t pixel = 0xff000000U;
  for (std::size_t i = 0; i < 3; ++i) {
    pixel |= static_cast<std::uint32_t>(std::lround(255 * std::clamp(light.value.at(i), 0.0, 1.0))) << 8 * i;
  }
  return pixel;
}

}  // namespace

tb::Verdict judge(const std::vector<std::uint32_t>& picture, std::uint32_t side, const Scene& scene,
                  std::uint32_t count) {
  Pixel pixel(scene, count);
  std::size_t several = 0;
  std::size_t lost = 0;
  for (std::uint32_t row = 0; row < side; ++row) {
    for (std::uint32_t column = 0; column < side; ++column) {
      const std::uint32_t shown = picture[std::size_t{row} * side + column];
      const std::vector<Light> lights = pixel.lights({(column + 0.5) / side - 0.5, 0.5 - (row + 0.5) / side, -1});
      const bool right = std::any_of(lights.begin(), lights.end(),
                                     [shown](const Light& light) { return beyond(shown, light) <= 0.5 + 0x1p-10; });
      if (!right || shown >> 24U != 255) {
        return {false, fmt::format("pixel [{}, {}]: {:#010x} instead of {:#010x} (of {} that roundings allow)", column,
                                   row, shown, pixel_of(lights.front()), lights.size())};
      }
      several += lights.size() > 1 ? 1 : 0;
      lost += std::any_of(lights.begin(), lights.end(), [](const Light& light) { return light.lost; }) ? 1 : 0;
    }
  }
  // A host that knew nothing of the picture would find everything right.
  if (lost * 10 > picture.size()) {
    return {false, fmt::format("of {} pixels of {} the host cannot follow the rays, instead of a tenth at most", lost,
                               picture.size())};
  }
  return {true, fmt::format("{} pixels are the host's in double within what roundings explain ({} of several that they "
                            "allow, {} by their first reflections only)",
                            picture.size(), several, lost)};
}

}  // namespace heddle::workloads::raytrace
