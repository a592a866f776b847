#include "studies/reproduce/run_series.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <fstream>
#include <iterator>

#include "base/base64.hpp"
#include "base/error.hpp"
#include "tb/measure/recorded_value.hpp"

namespace heddle::studies {
namespace {

namespace json = boost::json;
using Matrix = RunSeries::Matrix;

std::vector<double> numbers(const tb::RecordedValue& array) {
  std::vector<double> out;
  for (const tb::RecordedValue& one : array.entries()) {
    out.push_back(one.number());
  }
  return out;
}

// Counts of stretches of so many cycles, the last of which ends with the run, per cycle.
std::vector<double> per_cycle(std::vector<double> counts, double stretch, double end) {
  for (std::size_t i = 0; i != counts.size(); ++i) {
    const double begin = static_cast<double>(i) * stretch;
    counts[i] /= std::max(1.0, std::min(end, begin + stretch) - begin);
  }
  return counts;
}

Matrix rows_per_cycle(const tb::RecordedValue& rows, double stretch, double end) {
  Matrix out;
  for (const tb::RecordedValue& row : rows.entries()) {
    out.push_back(per_cycle(numbers(row), stretch, end));
  }
  return out;
}

// Each column's parts of its sum.
void to_shares(Matrix& rows) {
  const std::size_t columns = rows.empty() ? 0 : rows.front().size();
  for (std::size_t column = 0; column != columns; ++column) {
    double sum = 0;
    for (const std::vector<double>& row : rows) {
      sum += row.at(column);
    }
    for (std::vector<double>& row : rows) {
      row[column] = sum == 0 ? 0 : row[column] / sum;
    }
  }
}

// The channels' own series. Channels that stopped earlier may have narrower stretches: they are added up.
Matrix buses_of(const tb::RecordedValue& modules, double clock) {
  std::vector<tb::RecordedValue> channels;
  double widest = 1;
  for (const std::string& name : modules.keys()) {
    const tb::RecordedValue module = modules.at(name);
    if (module.has("bus_series")) {
      channels.push_back(module);
      widest = std::max(widest, module.at("series_bucket_cycles").number());
    }
  }
  Matrix out;
  const auto stretches = static_cast<std::size_t>((clock + widest - 1) / widest);
  for (const tb::RecordedValue& channel : channels) {
    const auto each = static_cast<std::size_t>(widest / std::max(1.0, channel.at("series_bucket_cycles").number()));
    std::vector<double> sums(std::max<std::size_t>(1, stretches));
    const std::vector<double> own = numbers(channel.at("bus_series"));
    for (std::size_t i = 0; i != own.size() && i / each < sums.size(); ++i) {
      sums[i / each] += own[i];
    }
    out.push_back(per_cycle(std::move(sums), widest, clock));
  }
  return out;
}

RunSeries::Map map_of(const tb::RecordedValue& map) {
  return {map.at("kernel").text(), static_cast<unsigned>(std::max<std::uint64_t>(1, map.at("columns").count())),
          numbers(map.at("instructions")), numbers(map.at("divergences"))};
}

RunSeries::Picture picture_of(const tb::RecordedValue& picture) {
  RunSeries::Picture out{picture.at("name").text(),
                         static_cast<unsigned>(picture.at("width").count()),
                         static_cast<unsigned>(picture.at("height").count()),
                         {}};
  const std::optional<std::vector<std::uint8_t>> pixels = from_base64(picture.at("rgb").text());
  if (!pixels || pixels->size() != std::size_t{3} * out.width * out.height) {
    throw InputError(picture.where(), "the picture '" + out.name + "' has not as many pixels as its sides say");
  }
  out.rgb = *pixels;
  return out;
}

}  // namespace

RunSeries read_series(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw InputError({path}, "is missing or cannot be read");
  }
  json::value text;
  try {
    text = json::parse(std::string{std::istreambuf_iterator<char>(in), {}});
  } catch (const std::exception& error) {
    throw InputError({path}, std::string("is not JSON: ") + error.what());
  }
  const tb::RecordedValue root(text, path);
  const tb::RecordedValue profile = root.at("profile");
  const tb::RecordedValue time = profile.at("time");
  const double stretch = time.at("bucket_cycles").number();
  RunSeries series;
  series.cycles = profile.at("cycles").count();
  const auto end = static_cast<double>(series.cycles);
  series.core_ipc = rows_per_cycle(time.at("core_instructions"), stretch, end);
  series.core_blocks = rows_per_cycle(time.at("core_block_cycles"), stretch, end);
  series.threads_per_band = static_cast<unsigned>(time.at("threads_per_band").count());
  series.bands = rows_per_cycle(time.at("fetched_by_band"), stretch, end);
  to_shares(series.bands);
  series.channel_bus = buses_of(root.at("stats").at("modules"), profile.at("clock_cycles").number());
  for (const tb::RecordedValue& map : profile.at("thread_maps").entries()) {
    series.maps.push_back(map_of(map));
  }
  for (const tb::RecordedValue& picture : profile.at("pictures").entries()) {
    series.pictures.push_back(picture_of(picture));
  }
  return series;
}

}  // namespace heddle::studies
