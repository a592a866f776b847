// An EXPLORATION.toml as it was read: which runs there are to do, and under which limits. Format: docs/explorations.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/parameter.hpp"
#include "studies/sweep/expression.hpp"

namespace heddle::studies::sweep {

// What a point sets: a parameter of the machine by its path ("core.warp_size"), or one of run_settings().
struct Setting {
  std::string name;
  ParameterValue value;
  SourceLocation where;
};

struct Axis {
  std::string name;
  SourceLocation where;
  std::vector<ParameterValue> values;  // distinct
  std::vector<SourceLocation> places;  // of each value; a range's all have the range's
};

// What one run may take; 0: no limit. A run that takes more is ended and marked, and the sweep goes on.
struct RunLimits {
  double wall_seconds = 3600;
  double cpu_seconds = 0;
  std::uint64_t memory_mib = 0;  // address space
};

struct SlurmSettings {
  std::vector<std::string> options;  // handed on to sbatch, before all others
  std::uint64_t runs_per_task = 0;   // 0: few enough tasks for one job array
  std::uint64_t at_a_time = 0;       // tasks of one array that run at a time; 0: no limit
};

struct Sample {
  std::uint64_t points = 0;
  std::uint64_t seed = 1;
};

struct Exploration {
  std::string path;
  std::string name;  // the file's, without its ending
  std::string text;
  std::string description;
  std::vector<Setting> base;               // every point's, unless an axis or a listed point says otherwise
  std::vector<std::vector<Setting>> list;  // [[points]]; each is combined with all of the axes. Never empty.
  std::vector<Axis> axes;                  // in the order of the file
  std::vector<Expression> constraints;
  std::optional<Sample> sample;
  std::uint64_t repetitions = 1;  // with seeds seed, seed + 1 ...
  RunLimits limits;
  SlurmSettings slurm;

  // Names that differ between points, in order: the list's names, then the axes.
  [[nodiscard]] std::vector<std::string> varied() const;
  // The folder of the file, from which its paths start.
  [[nodiscard]] std::string folder() const;
};

// A setting of a run that is no parameter of the machine (docs/explorations.md says what each is).
struct RunSetting {
  std::string_view name;
  std::string_view type;          // "string", "integer" or "number"
  ParameterValue otherwise = {};  // when no point sets it; config and workload must be set, temperature is the table's
  double low = 0, high = 0;       // of numbers
};
inline constexpr std::string_view kTemperature = "temperature";
[[nodiscard]] const std::vector<RunSetting>& run_settings();
// Null: there is none of the name.
[[nodiscard]] const RunSetting* find_run_setting(std::string_view name);

// What may stand at the top of an exploration.
[[nodiscard]] const std::vector<std::string>& exploration_keys();

// Throws InputError with file, line, column, key and nearest valid name for everything that is wrong with the file
// itself. Machines that contradict themselves are no mistake: their points are refused one by one.
[[nodiscard]] Exploration read_exploration(const std::string& path);
[[nodiscard]] Exploration parse_exploration(std::string_view text, const std::string& path);

// Multiplies the scale of every point, and says so at the end of the text, which then is another exploration's. Throws
// InputError when a scale leaves its range, or a point has none because it runs a LAUNCH.toml.
void scale_all(Exploration& exploration, double factor);

// Whether a workload is the path of a LAUNCH.toml, which says its input and its pointers itself.
[[nodiscard]] bool is_launch_file(std::string_view workload);
// A LAUNCH.toml among the workloads of a listed point and what it is combined with; null: none.
[[nodiscard]] const std::string* launch_file_of(const Exploration& exploration, const std::vector<Setting>& listed);

// Workload as a run gets it: a name stays, a LAUNCH.toml's path starts at the exploration's folder.
[[nodiscard]] std::string workload_of(const Exploration& exploration, const std::string& value);

// A value as a person reads it: 64, 0.5, two-level.
[[nodiscard]] std::string value_text(const ParameterValue& value);
[[nodiscard]] Scalar scalar_of(const ParameterValue& value);
[[nodiscard]] Scalar scalar_of(const ParameterReference& parameter);

}  // namespace heddle::studies::sweep
