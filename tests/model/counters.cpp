#include "tests/model/counters.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <type_traits>
#include <vector>

#include "tb/measure/summary.hpp"

namespace heddle::test {

std::string counters_of(tb::Device& device) {
  std::string counters;
  const tb::Summary summary = tb::summarise(device.totals(), device.machine(), device.retirement().total());
  summary.describe([&](const char* field, const auto& value, const char*, const char*) {
    using Value = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, tb::IdleByCause>) {
      counters += fmt::format("{} {}\n", field, fmt::join(value.cycles, " "));
    } else if constexpr (std::is_same_v<Value, std::vector<std::uint64_t>>) {
      counters += fmt::format("{} {}\n", field, fmt::join(value, " "));
    } else {
      counters += fmt::format("{} {}\n", field, value);
    }
  });
  for (const StatisticsRegistry::Scalar& scalar : device.statistics().scalars()) {
    counters += fmt::format("{} {} {}\n", scalar.declaration.module, scalar.declaration.name, *scalar.value);
  }
  for (const StatisticsRegistry::Histogram& histogram : device.statistics().histograms()) {
    counters += fmt::format("{} {} {}\n", histogram.declaration.module, histogram.declaration.name,
                            fmt::join(*histogram.values, " "));
  }
  return counters;
}

}  // namespace heddle::test
