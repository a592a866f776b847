// The ODGS paper's pictures: cores, warps, channels and threads over time and over the grid.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "studies/reproduce/figures/odgs_study.hpp"

namespace heddle::studies::odgs {
namespace {

using Matrix = RunSeries::Matrix;

double largest(const Matrix& rows) {
  double most = 0;
  for (const std::vector<double>& row : rows) {
    most = row.empty() ? most : std::max(most, *std::max_element(row.begin(), row.end()));
  }
  return most;
}

// A panel for each machine that has something to show; white is the largest of them all.
pages::ImagePanels over_time(const Study& study, const Results& results, std::size_t benchmark, const std::string& what,
                             const std::function<Matrix(const RunSeries&)>& rows_of) {
  pages::ImagePanels pictures;
  pictures.title = fmt::format("{} of {}", what, study.of().at(benchmark).label);
  std::vector<Matrix> all(study.machines().size());
  double top = 0;
  for (std::size_t machine = 0; machine != all.size(); ++machine) {
    if (const RunSeries* const series = study.series(results, machine, benchmark)) {
      all[machine] = rows_of(*series);
      top = std::max(top, largest(all[machine]));
    }
  }
  for (std::size_t machine = 0; machine != all.size(); ++machine) {
    if (largest(all[machine]) > 0) {
      pictures.panels.push_back(pages::grey_panel(
          fmt::format("{}, {}: {} over {} cycles, black 0 to white {:.3g}", study.of()[benchmark].label,
                      study.machines()[machine].label, what, study.series(results, machine, benchmark)->cycles, top),
          all[machine], top));
    }
  }
  return pictures;
}

// Points of a map as rows, each over the grid from its first thread on.
Matrix points_of(const std::vector<double>& values, unsigned columns) {
  Matrix rows;
  for (std::size_t first = 0; first + columns <= values.size(); first += columns) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
    rows.emplace_back(begin, begin + columns);
  }
  return rows;
}

}  // namespace

pages::ImagePanels ipc_pictures(const Study& study, const Results& results, std::size_t benchmark) {
  return over_time(study, results, benchmark, "instructions per cycle of each core",
                   [](const RunSeries& series) { return series.core_ipc; });
}

pages::ImagePanels block_pictures(const Study& study, const Results& results, std::size_t benchmark) {
  return over_time(study, results, benchmark, "blocks of each core",
                   [](const RunSeries& series) { return series.core_blocks; });
}

pages::ImagePanels band_pictures(const Study& study, const Results& results, std::size_t benchmark) {
  return over_time(study, results, benchmark, "share of instructions by active threads (full warps at the top)",
                   [](const RunSeries& series) { return Matrix(series.bands.rbegin(), series.bands.rend()); });
}

pages::ImagePanels channel_pictures(const Study& study, const Results& results, std::size_t benchmark) {
  return over_time(study, results, benchmark, "use of each memory channel's bus",
                   [](const RunSeries& series) { return series.channel_bus; });
}

pages::ImagePanels thread_pictures(const Study& study, const Results& results, std::size_t benchmark, bool paths) {
  pages::ImagePanels pictures;
  pictures.title = fmt::format("threads of {}", study.of().at(benchmark).label);
  pictures.square = true;
  double top = 0;
  for (std::size_t machine = 0; machine != study.machines().size(); ++machine) {
    const RunSeries* const series = study.series(results, machine, benchmark);
    if (series == nullptr || series->maps.empty()) {
      continue;
    }
    const RunSeries::Map& map = series->maps.front();
    if (paths && pictures.panels.empty()) {
      if (!series->pictures.empty()) {
        const RunSeries::Picture& picture = series->pictures.front();
        pictures.panels.push_back({"output", picture.width, picture.height, picture.rgb});
      }
      const Matrix lengths = points_of(map.instructions, map.columns);
      pictures.panels.push_back(pages::grey_panel("path lengths", lengths, largest(lengths)));
    }
    top = std::max(top, largest(points_of(map.divergences, map.columns)));
  }
  for (std::size_t machine = 0; machine != study.machines().size(); ++machine) {
    const RunSeries* const series = study.series(results, machine, benchmark);
    if (series != nullptr && !series->maps.empty()) {
      const RunSeries::Map& map = series->maps.front();
      pictures.panels.push_back(
          pages::grey_panel(fmt::format("divergences, {} (white {:.0f})", study.machines()[machine].label, top),
                            points_of(map.divergences, map.columns), top));
    }
  }
  return pictures;
}

}  // namespace heddle::studies::odgs
