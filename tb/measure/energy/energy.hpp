// What a run costs in energy: an energy per count of the counters that units declare (hw/gpu/totals.hpp), and a leakage
// power per unit, from a table that a user names. The format is in docs/user-guide.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/statistics.hpp"
#include "hw/gpu/totals.hpp"
#include "hw/parameters/cost.hpp"
#include "hw/parameters/machine.hpp"

namespace heddle::tb {

// The largest numbers that a table may hold: far above any unit's, and no sum of them overflows.
inline constexpr double kMostPicojoules = 1e15;
inline constexpr double kMostMilliwatts = 1e12;

// A number of a table: one for every unit of its kind, or one for each of the sizes that its section names.
using EnergyFigure = std::vector<double>;

struct EnergyTable {
  struct Kind {
    std::string source;                      // where its numbers come from; never empty
    std::vector<double> bytes;               // sizes of a unit's storage, ascending, that lists are for; or empty
    std::map<std::string, EnergyFigure> pj;  // by activity, a counter of the kind: pJ per count
    EnergyFigure leakage_mw = {0};           // of each unit, all the time
  };
  // How leakage goes with the temperature: by exp(per_kelvin * (celsius - at_celsius)), the same for all units.
  struct Leakage {
    std::string source;
    double at_celsius = 0;  // where each kind's leakage_mw holds
    double per_kelvin = 0;
    double celsius = 0;  // of the machine
    [[nodiscard]] double factor() const;
  };
  std::string name;                   // of its file, without folder and ending
  std::string description;            // may be empty
  std::map<std::string, Kind> kinds;  // by kind of unit, as Totals::each_kind names it
  std::optional<Leakage> leakage;     // none: leakage_mw is of every temperature
};

// Sets the temperature of the machine, by --temperature. Throws InputError: the table does not say how its leakage goes
// with it, or no machine is so cold or hot.
void set_temperature(EnergyTable& table, double celsius, const SourceLocation& where);

// What a temperature may be, in degrees Celsius.
inline constexpr double kColdest = -273.15;
inline constexpr double kHottest = 500;

// A kind of unit with its activities: its counters that add up over units, in the order of their declarations. The
// others (the largest of something, series, histograms) are no activities.
struct EnergyKind {
  std::string name;
  std::vector<std::string> activities;
  std::vector<std::string> others;
  bool counted = true;  // its units are modules with counters of their own
};

// The tables of each core's mechanisms: structures of which a cost line says what accesses them
// (hw/parameters/cost.hpp). They have no counters of their own; their one activity is what the core's counters make of
// these cost lines.
inline constexpr const char* kMechanisms = "mechanisms";
inline constexpr const char* kAccessedBits = "accessed_bits";

// Parts that are no modules and have no counters of their own: each goes with the units of a counted kind, whose
// counter says how often it is used (DWS report 3.3 has the decoder, the result bus and the clock as parts of the
// pipeline).
struct EnergyPart {
  const char* name;      // a kind of the table
  const char* activity;  // its one activity
  const char* of;        // the kind whose units have one each
  const char* counter;   // the activity is this counter of theirs; null: the cycles of the run
};
[[nodiscard]] const std::vector<EnergyPart>& energy_parts();
// All kinds: counted kinds, parts, the tables of mechanisms.
[[nodiscard]] const std::vector<EnergyKind>& energy_kinds();

// How many units of a kind a machine has. InternalError for a kind that it does not know.
[[nodiscard]] std::uint64_t unit_count(std::string_view kind, const hw::Machine& machine);

// What one unit of a kind stores, in bytes; none: such a unit is no storage, or of no fixed size.
[[nodiscard]] std::optional<double> unit_bytes(std::string_view kind, const hw::Machine& machine);

// A figure for a unit of `bytes`. Between two sizes, and beyond the first and the last as between the two nearest, it
// is a power of the size: a straight line where both axes are logarithmic, as CACTI's results nearly are.
[[nodiscard]] double figure_at(const EnergyFigure& figure, const std::vector<double>& sizes, double bytes);

// The energy of a run. Every sum is that of its parts, added up in this order.
struct Energy {
  struct Activity {
    std::string name;
    std::uint64_t count = 0;
    double pj_per_count = 0;
    double pj = 0;
  };
  struct Kind {
    std::string name;
    std::string source;
    std::vector<Activity> activities;  // that the table prices
    std::uint64_t units = 0;
    double leakage_mw = 0;  // of one unit
    double leakage_pj = 0;  // of all units
    double pj = 0;
  };
  // A unit's part of its kind's energy: the units of a kind add up to it, to a double's last digits.
  struct Module {
    std::string name;  // hierarchical SystemC name
    std::string kind;
    double leakage_pj = 0;
    double pj = 0;  // activities and leakage
  };
  std::string table;
  std::string description;
  std::optional<EnergyTable::Leakage> leakage;  // as the table has it
  std::vector<Kind> kinds;                      // that the table prices, in the order of energy_kinds()
  std::uint64_t cycles = 0;                     // Totals::cycles
  std::vector<hw::CostAccess> accesses;         // of a core's mechanisms, if they are priced
  std::vector<Module> modules;                  // of these kinds, if asked for by add_modules()
  double pj = 0;
  double nanoseconds = 0;    // Totals::cycles at gpu.clock_ghz
  double average_mw = 0;     // pj / nanoseconds; 0 for no time
  double delay_product = 0;  // pj * nanoseconds: what a mechanism that saves energy by taking longer does not lower
};
[[nodiscard]] Energy energy_of(const EnergyTable& table, const hw::Totals& totals, const hw::Machine& machine);

// What a unit's counters cost, by the figures of `Energy`: units of kinds that it has, and parts that go with them.
struct ModulePrice {
  struct Term {
    std::string module;        // whose counter it is
    std::string counter;       // empty: the cycles of the run
    std::uint64_t factor = 1;  // of each count
  };
  struct Activity {
    std::vector<Term> terms;  // counts of the activity: their sum
    double pj_per_count = 0;
  };
  std::string name;  // as Energy::Module
  std::string kind;
  std::vector<Activity> activities;
  double leakage_mw = 0;
};
[[nodiscard]] std::vector<ModulePrice> module_prices(const Energy& energy, const std::vector<hw::CountedUnit>& units);

// Takes the energy of each kind apart into that of its units, by their own counters.
void add_modules(Energy& energy, const std::vector<hw::CountedUnit>& units, const StatisticsRegistry& counters);

// The table `text`; `file` names it in messages. Throws InputError with file, line and column, and the nearest name
// that is declared, for whatever does not fit.
[[nodiscard]] EnergyTable parse_energy_table(std::string_view text, const std::string& file);

// The table's file by path (anything with a '/' or ending in ".toml"; a relative one starts at `from_folder`), or by
// name in the folders energy/ of the folders that hold machines (find_config, tb/config/config.hpp). Throws InputError,
// which blames `where`.
[[nodiscard]] std::string find_energy_table(const std::string& name_or_path, const std::string& from_folder = {},
                                            const SourceLocation& where = {"--energy"});
// Its text. Throws InputError: missing, a folder, too large.
[[nodiscard]] std::string read_energy_text(const std::string& path);
[[nodiscard]] EnergyTable read_energy_table(const std::string& name_or_path);

}  // namespace heddle::tb
