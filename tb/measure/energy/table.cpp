#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <set>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/nearest.hpp"
#include "tb/config/search.hpp"
#include "tb/config/toml_text.hpp"
#include "tb/measure/energy/energy.hpp"

namespace heddle::tb {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestTable = 1U << 20U;  // a table takes some kilobytes; keeps endless files out
constexpr std::string_view kTableSuffix = ".toml";
constexpr const char* kSourceKey = "source";
constexpr const char* kLeakageKey = "leakage_mw";
constexpr const char* kSizesKey = "bytes";
constexpr double kMostBytes = 1e12;
constexpr const char* kLeakageSection = "leakage";
// Of machines, and of figures about them. With the largest share per kelvin, no leakage overflows.
constexpr double kMostPerKelvin = 0.2;

SourceLocation table_place(const toml::source_region& region, const std::string& file) {
  return {file, region.begin.line, region.begin.column};
}

std::string table_text(const toml::node& node, const std::string& path, const std::string& file) {
  const auto* const text = node.as_string();
  if (text == nullptr) {
    throw InputError(table_place(node.source(), file), path + " must be a string");
  }
  return text->get();
}

double table_number(const toml::node& node, const std::string& path, const char* unit, double most,
                    const std::string& file, double least = 0) {
  double value = NAN;
  if (const auto* const whole = node.as_integer()) {
    value = static_cast<double>(whole->get());
  } else if (const auto* const number = node.as_floating_point()) {
    value = number->get();
  }
  if (!(value >= least && value <= most)) {
    throw InputError(table_place(node.source(), file),
                     fmt::format("{} must be a number from {:g} to {:g} ({})", path, least, most, unit));
  }
  return value + 0.0;  // no negative zero
}

// A number, or a list of one for each size that the section names.
EnergyFigure table_figure(const toml::node& node, const std::string& path, const char* unit, double most,
                          std::size_t sizes, const std::string& file) {
  const toml::array* const list = node.as_array();
  if (list == nullptr || sizes == 0) {
    return {table_number(node, path, unit, most, file)};
  }
  EnergyFigure figure;
  for (const toml::node& one : *list) {
    figure.push_back(table_number(one, path, unit, most, file));
    if (figure.back() == 0) {
      throw InputError(table_place(one.source(), file), path + " must be above 0 where it depends on the size");
    }
  }
  if (figure.size() != sizes) {
    throw InputError(table_place(node.source(), file),
                     fmt::format("{} has {} of {} numbers", path, figure.size(), sizes),
                     fmt::format("give one for each size in {}, or a single number for all", kSizesKey));
  }
  return figure;
}

class TableReader {
 public:
  explicit TableReader(const std::string& file) : file_(file) {}

  EnergyTable read(const toml::table& text) {
    EnergyTable table;
    table.name = fs::path(file_).stem().string();
    for (const auto& [key, node] : in_file_order(text)) {
      const std::string name(key->str());
      if (name == "description") {
        table.description = table_text(*node, name, file_);
        continue;
      }
      const bool leakage = name == kLeakageSection;
      const EnergyKind* const kind = leakage ? nullptr : &declared(name, table_place(key->source(), file_));
      const auto* const section = node->as_table();
      if (section == nullptr) {
        throw InputError(table_place(key->source(), file_), fmt::format("{} is a section, not a value", name),
                         fmt::format("write [{}] and its keys below", name));
      }
      if (leakage) {
        table.leakage = read_leakage(*section, table_place(key->source(), file_));
      } else {
        table.kinds[name] = read_kind(*kind, *section, table_place(key->source(), file_));
      }
    }
    if (table.kinds.empty()) {
      throw InputError({file_}, "the energy table has no section",
                       "name a kind of unit, as in [dram], with its activities and their source");
    }
    return table;
  }

 private:
  [[nodiscard]] const EnergyKind& declared(const std::string& name, const SourceLocation& where) const {
    std::vector<std::string> names = {"description", kLeakageSection};
    for (const EnergyKind& kind : energy_kinds()) {
      if (kind.name == name) {
        return kind;
      }
      names.push_back(kind.name);
    }
    throw InputError(where, fmt::format("there is no kind of unit '{}'", excerpt(name)),
                     suggest(name, names, "known: " + join(names)));
  }

  // How leakage goes with the temperature.
  [[nodiscard]] EnergyTable::Leakage read_leakage(const toml::table& section, const SourceLocation& where) const {
    const std::vector<std::string> keys = {"at_celsius", "per_kelvin", "celsius", kSourceKey};
    std::map<std::string, double> numbers;
    EnergyTable::Leakage read;
    for (const auto& [key, node] : in_file_order(section)) {
      const std::string name(key->str());
      const std::string path = std::string(kLeakageSection) + "." + name;
      if (name == kSourceKey) {
        read.source = table_text(*node, path, file_);
      } else if (name == "per_kelvin") {
        numbers[name] = table_number(*node, path, "of the leakage, per kelvin", kMostPerKelvin, file_);
      } else if (name == "at_celsius" || name == "celsius") {
        numbers[name] = table_number(*node, path, "degrees Celsius", kHottest, file_, kColdest);
      } else {
        throw InputError(table_place(key->source(), file_),
                         fmt::format("{} has no key '{}'", kLeakageSection, excerpt(name)),
                         suggest(name, keys, "known here: " + join(keys)));
      }
    }
    if (read.source.find_first_not_of(" \t\r\n") == std::string::npos) {
      throw InputError(where, fmt::format("[{}] names no source", kLeakageSection),
                       "say where its numbers come from: source = \"paper, section\"");
    }
    for (const char* const needed : {"at_celsius", "per_kelvin"}) {
      if (!numbers.contains(needed)) {
        throw InputError(where, fmt::format("[{}] has no {}", kLeakageSection, needed),
                         "leakage goes by exp(per_kelvin * (celsius - at_celsius))");
      }
    }
    read.at_celsius = numbers["at_celsius"];
    read.per_kelvin = numbers["per_kelvin"];
    read.celsius = numbers.contains("celsius") ? numbers["celsius"] : read.at_celsius;
    return read;
  }

  [[nodiscard]] EnergyTable::Kind read_kind(const EnergyKind& kind, const toml::table& section,
                                            const SourceLocation& where) const {
    EnergyTable::Kind read;
    if (const toml::node* const sizes = section.get(kSizesKey)) {
      read.bytes = read_sizes(kind, *sizes);
    }
    bool numbers = false;
    for (const auto& [key, node] : in_file_order(section)) {
      const std::string name(key->str());
      const std::string path = kind.name + "." + name;
      if (name == kSizesKey) {
        continue;
      }
      if (name == kSourceKey) {
        read.source = table_text(*node, path, file_);
        continue;
      }
      if (name == kLeakageKey) {
        read.leakage_mw = table_figure(*node, path, "mW per unit", kMostMilliwatts, read.bytes.size(), file_);
      } else {
        check_activity(kind, name, table_place(key->source(), file_));
        read.pj[name] = table_figure(*node, path, "pJ per count", kMostPicojoules, read.bytes.size(), file_);
      }
      numbers = true;
    }
    if (read.source.find_first_not_of(" \t\r\n") == std::string::npos) {
      throw InputError(where, fmt::format("[{}] names no source", kind.name),
                       "say where its numbers come from: source = \"paper, section\"");
    }
    if (!numbers) {
      throw InputError(where, fmt::format("[{}] has no number", kind.name),
                       fmt::format("give it {} or an activity: {}", kLeakageKey, join(kind.activities)));
    }
    return read;
  }

  // Of two storages at least, each larger than the one before.
  [[nodiscard]] std::vector<double> read_sizes(const EnergyKind& kind, const toml::node& node) const {
    const std::string path = kind.name + "." + kSizesKey;
    const SourceLocation where = table_place(node.source(), file_);
    if (!unit_bytes(kind.name, hw::Machine{})) {
      throw InputError(where, fmt::format("{}: such a unit is no storage", path), "give single numbers");
    }
    std::vector<double> sizes;
    if (const toml::array* const list = node.as_array()) {
      for (const toml::node& one : *list) {
        sizes.push_back(table_number(one, path, "bytes", kMostBytes, file_));
      }
    }
    const bool ascend = std::adjacent_find(sizes.begin(), sizes.end(), std::greater_equal<>()) == sizes.end();
    if (sizes.size() < 2 || sizes.front() == 0 || !ascend) {
      throw InputError(where, path + " must be a list of two sizes or more, each larger than the one before");
    }
    return sizes;
  }

  static void check_activity(const EnergyKind& kind, const std::string& name, const SourceLocation& where) {
    if (std::find(kind.activities.begin(), kind.activities.end(), name) != kind.activities.end()) {
      return;
    }
    std::vector<std::string> keys = {kSourceKey, kLeakageKey};
    if (unit_bytes(kind.name, hw::Machine{})) {
      keys.emplace_back(kSizesKey);
    }
    keys.insert(keys.end(), kind.activities.begin(), kind.activities.end());
    const bool other = std::find(kind.others.begin(), kind.others.end(), name) != kind.others.end();
    throw InputError(where,
                     other ? fmt::format("{}.{} is no activity: it is not one count that adds up", kind.name, name)
                           : fmt::format("{} has no activity '{}'", kind.name, excerpt(name)),
                     other ? "known here: " + join(keys) : suggest(name, keys, "known here: " + join(keys)));
  }

  const std::string& file_;
};

}  // namespace

EnergyTable parse_energy_table(std::string_view text, const std::string& file) {
  return TableReader(file).read(parse_toml(text, file));
}

void set_temperature(EnergyTable& table, double celsius, const SourceLocation& where) {
  if (!table.leakage) {
    throw InputError(where,
                     fmt::format("the energy table {} does not say how leakage goes with the temperature", table.name),
                     fmt::format("give it a section [{}] with at_celsius, per_kelvin and source", kLeakageSection));
  }
  if (!(celsius >= kColdest && celsius <= kHottest)) {
    throw InputError(where, fmt::format("{:g} is not from {:g} to {:g} degrees Celsius", celsius, kColdest, kHottest));
  }
  table.leakage->celsius = celsius;
}

std::string find_energy_table(const std::string& name_or_path, const std::string& from_folder,
                              const SourceLocation& where) {
  if (name_or_path.empty()) {
    throw InputError(where, "the energy table's name is empty", "name a table or its file");
  }
  if (is_config_path(name_or_path)) {
    return (fs::path(from_folder) / name_or_path).string();  // an absolute path replaces the folder
  }
  std::set<std::string> known;
  for (const std::string& folder : config_folders()) {
    std::error_code error;
    for (const auto& file : fs::directory_iterator(fs::path(folder) / "energy", error)) {
      std::error_code unreadable;
      if (file.path().extension() != kTableSuffix || !fs::is_regular_file(file.path(), unreadable)) {
        continue;
      }
      if (file.path().stem() == name_or_path) {
        return file.path().string();
      }
      known.insert(file.path().stem().string());
    }
  }
  const std::vector<std::string> names(known.begin(), known.end());
  throw InputError(where, fmt::format("there is no energy table called '{}'", excerpt(name_or_path)),
                   suggest(name_or_path, names, "give a path, or one of the names " + join(names)));
}

std::string read_energy_text(const std::string& path) {
  return read_input_file(path, kLargestTable, "energy table");
}

EnergyTable read_energy_table(const std::string& name_or_path) {
  const std::string path = find_energy_table(name_or_path);
  return parse_energy_table(read_energy_text(path), path);
}

}  // namespace heddle::tb
