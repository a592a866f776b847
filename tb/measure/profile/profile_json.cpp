#include "tb/measure/profile/profile_json.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <map>
#include <optional>
#include <string>

#include "base/base64.hpp"
#include "isa/instruction.hpp"
#include "tb/measure/energy/by_instruction.hpp"

namespace heddle::tb {
namespace {

namespace json = boost::json;

json::array dim_json(const isa::Dim3& dim) {
  return {dim.x, dim.y, dim.z};
}

// The source files of all kernels by name, in the order in which instructions name them first.
class Files {
 public:
  [[nodiscard]] std::int64_t index(const std::string& name) {
    const auto [entry, is_new] = numbers_.emplace(name, static_cast<std::int64_t>(names_.size()));
    if (is_new) {
      names_.push_back(name);
    }
    return entry->second;
  }
  [[nodiscard]] json::array to_json(const SourceFiles* sources) const {
    json::array out;
    for (const std::string& name : names_) {
      const std::optional<std::string> text = sources != nullptr ? sources->text(name) : std::nullopt;
      out.push_back({{"name", name}, {"text", text ? json::value(*text) : json::value(nullptr)}});
    }
    return out;
  }

 private:
  std::map<std::string, std::int64_t> numbers_;
  std::vector<std::string> names_;
};

// Where an instruction comes from: its file and line, by the line table, else its line of the PTX; -1 and 0: made by
// the compiler.
json::array place_json(const Profile::KernelProfile& kernel, std::size_t pc, bool has_sources, Files& files) {
  const isa::LineInfo line = pc < kernel.kernel.lines.size() ? kernel.kernel.lines[pc] : isa::LineInfo{};
  if (has_sources) {
    const bool known = line.source_file != 0 && line.source_file < kernel.source_files.size() && line.source_line != 0;
    return {known ? files.index(kernel.source_files[line.source_file]) : -1, known ? line.source_line : 0};
  }
  const bool known = line.ptx_line != 0 && !kernel.module.empty();
  return {known ? files.index(kernel.module) : -1, known ? line.ptx_line : 0};
}

json::object instruction_json(const Profile::KernelProfile& kernel, std::size_t pc, bool has_sources, Files& files) {
  const std::optional<isa::Instruction> instruction = isa::decode(kernel.kernel.words[pc]);
  const isa::LineInfo line = pc < kernel.kernel.lines.size() ? kernel.kernel.lines[pc] : isa::LineInfo{};
  return {{"text", instruction ? isa::disassemble(*instruction) : "(no instruction)"},
          {"place", place_json(kernel, pc, has_sources, files)},
          {"ptx_line", line.ptx_line}};
}

template <class Use>
void each_want_of_room(Use use) {
  for (std::size_t cause = 0; cause != hw::kIdleCauseCount; ++cause) {
    if (hw::is_want_of_room(static_cast<hw::IdleCause>(cause))) {
      use(cause);
    }
  }
}

std::string held_counter(std::size_t cause) {
  return "held_" + std::string(hw::kIdleCauses[cause].name);
}

// `energy`: null, or what is shared out to this instruction.
json::array counters_json(const InstructionCounters& counters, const InstructionEnergy* energy) {
  json::array out;
  InstructionCounters::describe(counters, [&](std::string_view, std::uint64_t value) { out.push_back(value); });
  for (std::size_t state = 1; state != hw::kGroupStates; ++state) {
    out.push_back(counters.warp_cycles[state]);
  }
  each_want_of_room([&](std::size_t cause) { out.push_back(counters.held_cycles[cause]); });
  if (energy != nullptr) {
    out.push_back(energy->activities_pj);
    out.push_back(energy->leakage_pj);
  }
  return out;
}

json::array counter_names(bool with_energy) {
  json::array out;
  const InstructionCounters none;
  InstructionCounters::describe(none, [&](std::string_view name, std::uint64_t) { out.push_back(json::string(name)); });
  for (std::size_t state = 1; state != hw::kGroupStates; ++state) {
    out.push_back(json::string(kGroupStateNames[state]));
  }
  each_want_of_room([&](std::size_t cause) { out.push_back(json::string(held_counter(cause))); });
  if (with_energy) {
    out.emplace_back("energy_activities");
    out.emplace_back("energy_leakage");
  }
  return out;
}

// `energy`: of its instructions; null: of none.
json::object kernel_json(const Profile::KernelProfile& kernel, Files& files,
                         const std::vector<InstructionEnergy>* energy) {
  const isa::Kernel& code = kernel.kernel;
  const bool has_sources = std::any_of(code.lines.begin(), code.lines.end(),
                                       [](const isa::LineInfo& line) { return line.source_file != 0; });
  json::array instructions;
  json::array counters;
  for (std::size_t pc = 0; pc != code.words.size(); ++pc) {
    instructions.push_back(instruction_json(kernel, pc, has_sources, files));
  }
  for (std::size_t pc = 0; pc != kernel.counters.size(); ++pc) {
    counters.push_back(counters_json(kernel.counters[pc], energy == nullptr ? nullptr : &(*energy)[pc]));
  }
  return {{"name", code.name},
          {"module", kernel.module},
          {"launches", kernel.launches},
          {"cycles", kernel.cycles},
          {"registers", code.registers},
          {"shared_bytes", code.shared_bytes},
          {"local_bytes", code.local_bytes},
          {"instructions", std::move(instructions)},
          {"counters", std::move(counters)}};
}

// Rows of the buckets; buckets after the run's end are left out.
class Rows {
 public:
  explicit Rows(const Profile& profile)
      : buckets_(profile.buckets()),
        used_(
            std::min<std::size_t>((profile.cycles() + buckets_.width() - 1) / buckets_.width(), TimeBuckets::kCount)) {}
  [[nodiscard]] std::size_t used() const { return used_; }
  [[nodiscard]] json::array row(std::size_t row) const {
    const auto values = buckets_.row(row);
    return json::array(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(used_));
  }
  [[nodiscard]] json::array rows(std::size_t first, std::size_t count) const {
    json::array out;
    for (std::size_t i = 0; i != count; ++i) {
      out.push_back(row(first + i));
    }
    return out;
  }

 private:
  const TimeBuckets& buckets_;
  std::size_t used_;
};

template <class Value>
json::array matrix(unsigned rows, unsigned columns, Value value) {
  json::array out;
  for (unsigned row = 0; row != rows; ++row) {
    json::array line;
    for (unsigned column = 0; column != columns; ++column) {
      line.push_back(value(row, column));
    }
    out.push_back(std::move(line));
  }
  return out;
}

// Up to the last that has something.
unsigned bands_used(const Profile& profile) {
  unsigned used = Profile::kThreadBands;
  while (used != 0 && profile.buckets().total(profile.band_row(used - 1)) == 0) {
    --used;
  }
  return used;
}

json::object thread_map_json(const ThreadMap& map) {
  return {{"kernel", map.kernel()},
          {"launches", map.launches()},
          {"width", map.width()},
          {"height", map.height()},
          {"block", dim_json(map.block())},
          {"cell", map.cell_side()},
          {"columns", map.columns()},
          {"instructions", json::array(map.instructions().begin(), map.instructions().end())},
          {"divergences", json::array(map.divergences().begin(), map.divergences().end())}};
}

json::object picture_json(const Picture& picture) {
  return {
      {"name", picture.name}, {"width", picture.width}, {"height", picture.height}, {"rgb", base64(picture.pixels)}};
}

template <class Things, class Made>
json::array array_of(const Things& things, Made made) {
  json::array out;
  for (const auto& thing : things) {
    out.push_back(made(thing));
  }
  return out;
}

json::object time_json(const Profile& profile, const Rows& rows) {
  json::object out{{"bucket_cycles", profile.buckets().width()}, {"buckets", rows.used()}};
  for (std::size_t row = 0; row != Profile::kRows; ++row) {
    out[Profile::kRowNames[row]] = rows.row(row);
  }
  json::object idle;
  for (std::size_t cause = 0; cause != hw::kIdleCauseCount; ++cause) {
    idle[hw::kIdleCauses[cause].name] = rows.row(profile.idle_row(cause));
  }
  out["idle_cycles"] = std::move(idle);
  json::object states;
  for (std::size_t state = 1; state != hw::kGroupStates; ++state) {
    states[kGroupStateNames[state]] = rows.row(profile.state_row(state));
  }
  out["warp_cycles"] = std::move(states);
  out["core_busy_cycles"] = rows.rows(profile.core_row(0), profile.core_count());
  out["lane_busy_cycles"] = rows.rows(profile.lane_row(0), profile.lanes());
  out["warp_issues"] = rows.rows(profile.warp_row(0), profile.warp_rows());
  out["core_instructions"] = rows.rows(profile.instruction_row(0), profile.core_count());
  out["core_block_cycles"] = rows.rows(profile.block_row(0), profile.core_count());
  out["threads_per_band"] = profile.threads_per_band();
  out["fetched_by_band"] = rows.rows(profile.band_row(0), bands_used(profile));
  return out;
}

}  // namespace

boost::json::object profile_json(const Profile& profile, const SourceFiles* sources, const Energy* energy) {
  const Rows rows(profile);
  Files files;
  json::array kernels;
  std::optional<EnergyByInstruction> shared;
  if (energy != nullptr) {
    shared = energy_by_instruction(*energy, profile.kernels());
  }
  for (std::size_t i = 0; i != profile.kernels().size(); ++i) {
    kernels.push_back(kernel_json(profile.kernels()[i], files, shared ? &shared->kernels[i] : nullptr));
  }
  json::array launches;
  for (const Profile::Launch& launch : profile.launches()) {
    launches.push_back({{"kernel", launch.kernel},
                        {"grid", dim_json(launch.grid)},
                        {"block", dim_json(launch.block)},
                        {"warp_size", launch.warp_size},
                        {"begin", launch.begin},
                        {"end", launch.end},
                        {"complete", launch.complete}});
  }
  return {{"cycles", profile.cycles()},
          {"clock_cycles", profile.clock()},
          {"cores", profile.core_count()},
          {"lanes", profile.lanes()},
          {"launch_count", profile.launch_count()},
          {"launches", std::move(launches)},
          {"time", time_json(profile, rows)},
          {"warps_per_row", profile.groups_per_row()},
          {"core_warp_issues", matrix(profile.core_count(), profile.warp_rows(),
                                      [&](unsigned core, unsigned row) { return profile.issued_by(core, row); })},
          {"core_lane_cycles", matrix(profile.core_count(), profile.lanes(),
                                      [&](unsigned core, unsigned lane) { return profile.lane_active(core, lane); })},
          {"thread_maps", array_of(profile.thread_maps(), thread_map_json)},
          {"pictures", array_of(profile.pictures(), picture_json)},
          {"counters", counter_names(shared.has_value())},
          {"kernels", std::move(kernels)},
          {"files", files.to_json(sources)}};
}

}  // namespace heddle::tb
