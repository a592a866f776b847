// Microphysics of a weather model, a thread per column of air: how water changes between vapour, cloud droplets, rain,
// cloud ice and snow, what heat that takes or gives, and how rain and snow fall. Bulk parameterisations with a number
// per kind and cell, as Kessler (Meteorological Monographs 32, 1969), Lin, Farley and Orville (Journal of Climate and
// Applied Meteorology 22, 1983) and Hong, Dudhia and Chen (Monthly Weather Review 132, 2004) have them; the formulas
// here are simpler, their coefficients Heddle's own where no name stands beside them. All rates are continuous in the
// state, so that a rounding changes no result by more than roundings.
#include "workloads/branches.h"

constexpr float kFreezing = 273.15f;  // K
constexpr float kGravity = 9.81f;
constexpr float kHeat = 1004.5f;    // of air at constant pressure, J/(kg K)
constexpr float kGasAir = 287.04f;  // gas constants, J/(kg K)
constexpr float kGasVapour = 461.5f;
constexpr float kCondense = 2.5e6f / kHeat;  // K by which a kg of vapour that condenses warms a kg of air
constexpr float kFreeze = 3.34e5f / kHeat;
constexpr float kDeposit = kCondense + kFreeze;
constexpr float kLeast = 1e-9f;  // kg/kg: less is nothing
constexpr unsigned kMostFalls = 20;

// Arrays of levels x columns numbers, the lowest level first, neighbouring columns beside each other.
struct Column {
  float* temperature;  // K
  float* vapour;       // kg per kg of air, as the others
  float* cloud;
  float* rain;
  float* ice;
  float* snow;
  const float* pressure;   // Pa
  const float* thickness;  // m
  const float* air;        // kg/m2
  const float* updraft;    // m/s
};

// How many kg of vapour a kg of air has over water (Bolton, Monthly Weather Review 108, 1980) ...
__device__ __forceinline__ float saturation(float temperature, float pressure) {
  const float e = 611.2f * __expf(17.67f * (temperature - kFreezing) / (temperature - 29.65f));
  return kGasAir / kGasVapour * e / (pressure - e);
}
// ... and over ice (Murray, Journal of Applied Meteorology 6, 1967).
__device__ __forceinline__ float saturation_over_ice(float temperature, float pressure) {
  const float e = 611.2f * __expf(21.8745584f * (temperature - kFreezing) / (temperature - 7.66f));
  return kGasAir / kGasVapour * e / (pressure - e);
}

// m/s; rain by Kessler's power of the water in the air.
template <bool kOfSnow>
__device__ __forceinline__ float fall_speed(float water, float density) {
  if (water <= kLeast) {
    return 0;
  }
  const float thin = sqrtf(1.2f / density);
  return kOfSnow ? thin * 6.0f * __powf(0.001f * density * water, 0.11f)
                 : thin * 36.34f * __powf(0.001f * density * water, 0.1364f);
}

// Lets rain or snow fall for `seconds`, in as many steps as it passes levels; what reaches the ground is added to
// `ground`, in kg/m2. Returns the number of steps.
template <bool kOfSnow>
__device__ __forceinline__ unsigned fall(const Column& column, float* water, unsigned levels, unsigned pitch,
                                         float seconds, float& ground) {
  float fastest = 0;  // levels in `seconds`
  for (unsigned level = 0, at = 0; level < levels; ++level, at += pitch) {
    const float density = column.pressure[at] / (kGasAir * column.temperature[at]);
    fastest = fmaxf(fastest, fall_speed<kOfSnow>(water[at], density) * seconds / column.thickness[at]);
  }
  const unsigned steps = min(static_cast<unsigned>(ceilf(fastest)), kMostFalls);
  const float part = seconds / static_cast<float>(steps);
  for (unsigned step = 0; step < steps; ++step) {
    float from_above = 0;
    for (unsigned level = levels, at = levels * pitch; level-- > 0;) {
      at -= pitch;
      const float mine = water[at];
      const float density = column.pressure[at] / (kGasAir * column.temperature[at]);
      const float passed = fminf(fall_speed<kOfSnow>(mine, density) * part / column.thickness[at], 1.0f);
      const float falls = passed * mine * column.air[at];
      if (falls > 0 || from_above > 0) {
        water[at] = fmaxf(mine + (from_above - falls) / column.air[at], 0.0f);
      }
      from_above = falls;
    }
    ground += from_above;
  }
  return steps;
}

// One step of `seconds`. ground: kg/m2 of rain and snow of each column, so far. falls: of each column in how many steps
// rain fell, and 256 times the steps with snow.
extern "C" __global__ void __launch_bounds__(64)
    microphysics(float* temperatures, float* vapours, float* clouds, float* rains, float* ices, float* snows,
                 const float* __restrict__ pressures, const float* __restrict__ thicknesses,
                 const float* __restrict__ airs, const float* __restrict__ updrafts, float* __restrict__ ground,
                 unsigned* __restrict__ falls, unsigned levels, float seconds) {
  const unsigned pitch = gridDim.x * blockDim.x * gridDim.y * blockDim.y;
  const unsigned here =
      (blockIdx.y * blockDim.y + threadIdx.y) * (gridDim.x * blockDim.x) + blockIdx.x * blockDim.x + threadIdx.x;
  const Column column = {temperatures + here, vapours + here,   clouds + here,      rains + here, ices + here,
                         snows + here,        pressures + here, thicknesses + here, airs + here,  updrafts + here};
  float fallen = ground[here];
  const unsigned rain_falls = fall<false>(column, column.rain, levels, pitch, seconds, fallen);
  const unsigned snow_falls = fall<true>(column, column.snow, levels, pitch, seconds, fallen);
  ground[here] = fallen;
  falls[here] = rain_falls + 256 * snow_falls;

  for (unsigned level = 0, at = 0; level < levels; ++level, at += pitch) {
    float vapour = column.vapour[at];
    float cloud = column.cloud[at];
    float rain = column.rain[at];
    float ice = column.ice[at];
    float snow = column.snow[at];
    const float pressure = column.pressure[at];
    // Air that rises cools.
    float temperature = column.temperature[at] - kGravity / kHeat * seconds * column.updraft[at];
    const float density = pressure / (kGasAir * temperature);

    if (temperature > kFreezing) {
      if (snow > kLeast) {
        const float warmth = temperature - kFreezing;
        float melts = seconds * 2e-4f * warmth * sqrtf(density * snow);
        melts = fminf(fminf(melts, snow), warmth / kFreeze);
        snow -= melts;
        rain += melts;
        temperature -= kFreeze * melts;
      }
      if (ice > kLeast) {
        const float melts = fminf(ice, fmaxf(temperature - kFreezing, 0.0f) / kFreeze);
        ice -= melts;
        cloud += melts;
        temperature -= kFreeze * melts;
      }
    } else {
      const float cold = kFreezing - temperature;
      const float frost = fminf(cold, 1.0f);  // processes of ice set in over the first kelvin
      if (cloud > kLeast) {
        // Droplets freeze the sooner the larger they are (Bigg), below -40 degrees all droplets.
        float freezes = seconds * 1e-9f * (__expf(0.66f * cold) - 1.0f) * density * cloud * cloud;
        if (cold > 40) {
          freezes += fminf(cold - 40.0f, 1.0f) * cloud;
        }
        freezes = fminf(freezes, cloud);
        cloud -= freezes;
        ice += freezes;
        temperature += kFreeze * freezes;
      }
      if (rain > kLeast) {
        const float freezes = fminf(seconds * 1e-5f * (__expf(0.66f * cold) - 1.0f) * rain, rain);
        rain -= freezes;
        snow += freezes;
        temperature += kFreeze * freezes;
      }
      const float over_ice = saturation_over_ice(temperature, pressure);
      if (vapour > over_ice) {
        // New crystals of 1e-10 kg, as many as Cooper (Meteorological Monographs 43, 1986) found, half a million at
        // most.
        const float wanted = 1e-10f * fminf(5.0f * __expf(0.304f * cold), 5e5f) / density;
        if (ice < wanted) {
          const float made = frost * fminf(wanted - ice, 0.5f * (vapour - over_ice));
          vapour -= made;
          ice += made;
          temperature += kDeposit * made;
        }
      }
      const float excess = vapour / over_ice - 1.0f;
      if (ice > kLeast) {
        float grows = frost * seconds * 4e-5f * excess * sqrtf(density * ice);
        if (grows > 0) {
          grows = fminf(grows, 0.3f * (vapour - over_ice));
        } else {
          grows = fmaxf(fmaxf(grows, 0.3f * (vapour - over_ice)), -ice);
        }
        ice += grows;
        vapour -= grows;
        temperature += kDeposit * grows;
      }
      if (snow > kLeast) {
        const float open = 0.65f + 0.44f * __powf(density * snow, 0.25f);
        float grows = frost * seconds * 2e-5f * excess * open * sqrtf(density * snow);
        if (grows > 0) {
          grows = fminf(grows, 0.3f * fmaxf(vapour - over_ice, 0.0f));
        } else {
          grows = fmaxf(fmaxf(grows, 0.3f * fminf(vapour - over_ice, 0.0f)), -snow);
        }
        snow += grows;
        vapour -= grows;
        temperature += kDeposit * grows;
        if (cloud > kLeast) {  // riming
          const float caught = fminf(frost * seconds * 2.0f * cloud * __powf(density * snow + 1e-12f, 0.8f), cloud);
          cloud -= caught;
          snow += caught;
          temperature += kFreeze * caught;
        }
        if (ice > kLeast) {
          const float sticks = __expf(-0.025f * cold);
          const float caught =
              fminf(frost * seconds * 0.5f * sticks * ice * __powf(density * snow + 1e-12f, 0.8f), ice);
          ice -= caught;
          snow += caught;
        }
      }
      if (ice > 1e-5f) {  // crystals cling together
        const float made = frost * seconds * 1e-3f * __expf(-0.025f * cold) * (ice - 1e-5f);
        ice -= made;
        snow += made;
      }
    }

    if (cloud > kLeast) {
      float made = 0;
      if (cloud > 5e-4f) {  // Kessler's conversion
        branches::keep();
        made = seconds * 1e-3f * (cloud - 5e-4f);
      }
      if (rain > kLeast) {  // and collection
        made += seconds * 2.2f * cloud * __powf(rain, 0.875f);
      }
      made = fminf(made, cloud);
      cloud -= made;
      rain += made;
    }
    if (rain > kLeast) {
      const float most = saturation(temperature, pressure);
      if (vapour < most) {
        const float dries = seconds * 4e-4f * (1.0f - vapour / most) * __powf(density * rain, 0.525f);
        const float lost = fminf(fminf(dries, rain), 0.3f * (most - vapour));
        rain -= lost;
        vapour += lost;
        temperature -= kCondense * lost;
      }
    }
    // Droplets take what is beyond saturation, or give what is missing as long as there are any.
    for (unsigned pass = 0; pass < 2; ++pass) {
      const float most = saturation(temperature, pressure);
      const float steep = kCondense * 2.5e6f * most / (kGasVapour * temperature * temperature);
      const float beyond = (vapour - most) / (1.0f + steep);
      if (beyond > 0 || cloud > 0) {
        const float condenses = fmaxf(beyond, -cloud);
        vapour -= condenses;
        cloud += condenses;
        temperature += kCondense * condenses;
      }
    }

    column.temperature[at] = temperature;
    column.vapour[at] = vapour;
    column.cloud[at] = cloud;
    column.rain[at] = rain;
    column.ice[at] = ice;
    column.snow[at] = snow;
  }
}
