#include "tb/config/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "base/nearest.hpp"
#include "base/parameter.hpp"
#include "hw/check/dram.hpp"
#include "hw/check/machine.hpp"
#include "tb/config/search.hpp"
#include "tb/config/toml_text.hpp"

namespace heddle::tb {
namespace {

namespace fs = std::filesystem;

// What a user says a machine is: values, and where each came from, for the messages of hw::check.
struct Reading {
  hw::Machine machine;
  std::vector<ParameterReference> parameters = parameters_of(machine);
  std::map<std::string, SourceLocation> set_at;
  std::vector<std::string> files;  // the machine's own first

  Reading() = default;
  Reading(const Reading&) = delete;  // the references point into this very object
  Reading& operator=(const Reading&) = delete;

  [[nodiscard]] std::vector<std::string> sections() const {
    std::vector<std::string> names;
    for (const ParameterReference& parameter : parameters) {
      if (names.empty() || names.back() != parameter.section) {
        names.push_back(parameter.section);
      }
    }
    return names;
  }
  [[nodiscard]] const ParameterReference* find(std::string_view section, std::string_view key) const {
    const auto found = std::find_if(parameters.begin(), parameters.end(), [&](const ParameterReference& parameter) {
      return parameter.section == section && parameter.key == key;
    });
    return found == parameters.end() ? nullptr : &*found;
  }
  void set(const ParameterReference& parameter, const ParameterValue& value, const SourceLocation& where) {
    // A text that is cut is no choice any more, as it was none before; the refusal repeats less of it.
    const auto* text = std::get_if<std::string>(&value);
    assign(parameter, text != nullptr && parameter.limits.choices ? ParameterValue(excerpt(*text)) : value, where);
    set_at[parameter.path()] = where;
  }
  // Throws: there is no section `name`.
  [[noreturn]] void refuse_section(const std::string& name, const SourceLocation& where) const;
  // Throws: nothing is called `key`. `section` is empty for a key outside every section.
  [[noreturn]] void refuse_key(const std::string& section, const std::string& key, const SourceLocation& where) const;
};

// Stands where a file's name stands for what comes from a file.
constexpr std::string_view kSettingPlace = "--set ";

const std::vector<std::string> kTopKeys = {"description", "extends", "group", "energy"};

void Reading::refuse_section(const std::string& name, const SourceLocation& where) const {
  const std::vector<std::string> names = sections();
  throw ParameterError(name, where, fmt::format("there is no section '{}'", excerpt(name)),
                       suggest(name, names, "known: " + join(names)));
}

void Reading::refuse_key(const std::string& section, const std::string& key, const SourceLocation& where) const {
  const std::string path = section.empty() ? key : section + "." + key;
  const auto is_one_of = [&key](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), key) != names.end();
  };
  if (section.empty() && is_one_of(sections())) {  // a setting
    throw ParameterError(path, where, fmt::format("'{}' is a section", key),
                         "name a parameter in it: section.key=value");
  }
  if (section.empty() && is_one_of(kTopKeys)) {  // likewise
    throw ParameterError(path, where, fmt::format("'{}' is no parameter", key), "only a machine's file can have it");
  }
  const std::string message = section.empty()
                                  ? fmt::format("there is no section or key '{}'", excerpt(key))
                                  : fmt::format("there is no parameter '{}' in section '{}'", excerpt(key), section);
  std::vector<std::string> keys = section.empty() ? kTopKeys : std::vector<std::string>{};
  std::vector<std::string> elsewhere;
  for (const ParameterReference& parameter : parameters) {
    if (parameter.section == section) {
      keys.push_back(parameter.key);
    }
    if (parameter.key == key) {
      elsewhere.push_back("'" + parameter.path() + "'");
    }
  }
  if (!elsewhere.empty()) {  // right name, wrong place
    throw ParameterError(path, where, message, "did you mean " + join(elsewhere, " or ") + "?");
  }
  if (section.empty()) {
    const std::vector<std::string> names = sections();
    keys.insert(keys.end(), names.begin(), names.end());
    if (!nearest(key, keys)) {
      for (const ParameterReference& parameter : parameters) {
        keys.push_back(parameter.key);
      }
      if (const auto near = nearest(key, keys)) {
        const auto owner = std::find_if(parameters.begin(), parameters.end(),
                                        [&](const ParameterReference& parameter) { return parameter.key == *near; });
        throw ParameterError(path, where, message, "did you mean '" + owner->path() + "'?");
      }
      keys.resize(kTopKeys.size());
      keys.insert(keys.end(), names.begin(), names.end());
    }
  }
  throw ParameterError(path, where, message, suggest(key, keys, "known here: " + join(keys)));
}

SourceLocation location(const toml::source_region& region, const std::string& file) {
  return {file, region.begin.line, region.begin.column};
}

std::string_view type_text(toml::node_type type) {
  switch (type) {
    case toml::node_type::table:
      return "a section";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a number";
    case toml::node_type::boolean:
      return "a boolean";
    case toml::node_type::date:
      return "a date";
    case toml::node_type::time:
      return "a time";
    case toml::node_type::date_time:
      return "a date and time";
    case toml::node_type::none:
      break;
  }
  return "nothing";
}

// The value of a node; `path` and `wanted` word the refusal of a node that is no scalar.
ParameterValue scalar(const toml::node& node, std::string_view path, std::string_view wanted,
                      const SourceLocation& where) {
  if (std::optional<ParameterValue> value = scalar_value(node)) {
    return *std::move(value);
  }
  throw ParameterError(
      std::string(path), where,
      fmt::format("{} must be {} {}, not {}", path, wanted == "integer" ? "an" : "a", wanted, type_text(node.type())));
}

std::string top_string(const toml::table& table, std::string_view key, const std::string& file) {
  const toml::node* node = table.get(key);
  if (node == nullptr) {
    return {};
  }
  const auto* text = node->as_string();
  if (text == nullptr) {
    throw ParameterError(std::string(key), location(node->source(), file),
                         fmt::format("{} must be a string, not {}", key, type_text(node->type())));
  }
  return text->get();
}

void apply_section(Reading& reading, const std::string& section, const toml::table& table, const std::string& file) {
  for (const auto& [key, node] : in_file_order(table)) {
    const ParameterReference* parameter = reading.find(section, key->str());
    if (parameter == nullptr) {
      reading.refuse_key(section, std::string(key->str()), location(key->source(), file));
    }
    const SourceLocation where = location(node->source(), file);
    reading.set(*parameter, scalar(*node, parameter->path(), parameter->type_name(), where), where);
  }
}

// `chain`: the files being read, outermost first, to refuse cycles.
void apply_text(Reading& reading, std::string_view text, const std::string& file, std::vector<std::string> chain);

void apply_file(Reading& reading, const std::string& path, const SourceLocation& asked_at,
                std::vector<std::string> chain) {
  std::error_code error;
  const fs::path canonical = fs::weakly_canonical(path, error);
  const std::string identity = error ? path : canonical.string();
  if (std::find(chain.begin(), chain.end(), identity) != chain.end()) {
    std::vector<std::string> names;
    names.reserve(chain.size() + 1);
    for (const std::string& link : chain) {
      names.push_back(fs::path(link).filename().string());
    }
    names.push_back(canonical.filename().string());
    throw InputError(asked_at, "machines extend each other in a circle: " + join(names, " -> "));
  }
  chain.push_back(identity);
  reading.files.push_back(path);
  const std::string text = read_config_text(path);
  if (parse_toml(text, path).empty()) {  // cut off, or the wrong file
    throw InputError({path}, "the machine file says nothing",
                     "extends = \"baseline\" would do; heddle check baseline --show prints what can be set");
  }
  apply_text(reading, text, path, std::move(chain));
}

void apply_text(Reading& reading, std::string_view text, const std::string& file, std::vector<std::string> chain) {
  const toml::table table = parse_toml(text, file);
  const std::string base = top_string(table, "extends", file);
  if (const toml::node* node = table.get("extends")) {
    const SourceLocation where = location(node->source(), file);
    const std::string path = find_config_from(base, fs::path(file).parent_path().string(), where);
    apply_file(reading, path, where, std::move(chain));
  }
  reading.machine.name = fs::path(file).stem().string();
  reading.machine.description = top_string(table, "description", file);
  if (const std::string energy = top_string(table, "energy", file); !energy.empty()) {
    reading.machine.energy = is_config_path(energy) ? (fs::path(file).parent_path() / energy).string() : energy;
  }
  const std::vector<std::string> sections = reading.sections();
  for (const auto& [key, node] : in_file_order(table)) {
    const std::string name(key->str());
    if (std::find(kTopKeys.begin(), kTopKeys.end(), name) != kTopKeys.end()) {
      continue;
    }
    if (std::find(sections.begin(), sections.end(), name) == sections.end()) {
      const SourceLocation where = location(key->source(), file);
      if (node->is_table() && nearest(name, sections)) {
        reading.refuse_section(name, where);
      }
      reading.refuse_key({}, name, where);
    }
    const auto* section = node->as_table();
    if (section == nullptr) {
      throw ParameterError(name, location(key->source(), file), fmt::format("{} is a section, not a value", name),
                           "write [" + name + "] and its keys below");
    }
    apply_section(reading, name, *section, file);
  }
}

// The text right of '=' in --set, read as the parameter's type wants it: a string needs no quotes there.
ParameterValue setting_value(const ParameterReference& parameter, const std::string& text,
                             const SourceLocation& where) {
  if (parameter.type_name() == "string") {
    const bool quoted =
        text.size() >= 2 && text.front() == text.back() && (text.front() == '"' || text.front() == '\'');
    return quoted ? text.substr(1, text.size() - 2) : text;
  }
  try {
    const toml::table table = parse_toml("value = " + text, where.file);
    const toml::node* node = table.get("value");
    if (node != nullptr && table.size() == 1) {
      return scalar(*node, parameter.path(), parameter.type_name(), where);
    }
  } catch (const InputError&) {  // falls through: not a value
  }
  return text;  // refused by assign() as a string where another type is wanted
}

void apply_setting(Reading& reading, const std::string& setting) {
  const SourceLocation where{std::string(kSettingPlace) + excerpt(setting)};
  const std::size_t equals = setting.find('=');
  const std::size_t dot = setting.find('.');
  if (equals == std::string::npos) {
    throw InputError(where, "there is no '='", "write section.key=value, as in core.warp_size=64");
  }
  const std::string path = setting.substr(0, equals);
  if (dot == std::string::npos || dot > equals) {
    reading.refuse_key({}, path, where);
  }
  const std::string section = path.substr(0, dot);
  const std::string key = path.substr(dot + 1);
  const std::vector<std::string> sections = reading.sections();
  if (std::find(sections.begin(), sections.end(), section) == sections.end()) {
    reading.refuse_section(section, where);
  }
  const ParameterReference* parameter = reading.find(section, key);
  if (parameter == nullptr) {
    reading.refuse_key(section, key, where);
  }
  reading.set(*parameter, setting_value(*parameter, setting.substr(equals + 1), where), where);
}

bool names_parameter(const std::string& message, const std::string& path) {
  const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; };
  for (std::size_t at = message.find(path); at != std::string::npos; at = message.find(path, at + 1)) {
    const std::size_t end = at + path.size();
    if ((at == 0 || !in_word(message[at - 1])) && (end == message.size() || !in_word(message[end]))) {
      return true;
    }
  }
  return false;
}

// Where the user set what contradicts: a setting of the command line that the message names (the file made sense
// without it), else the key itself, else another key that the message names, else the file.
SourceLocation blame(const Reading& reading, const hw::Contradiction& contradiction, const std::string& file) {
  const SourceLocation* set = nullptr;
  const SourceLocation* key = nullptr;
  const SourceLocation* named = nullptr;
  for (const auto& [path, where] : reading.set_at) {
    const bool is_key = path == contradiction.key;
    if (!is_key && !names_parameter(contradiction.message, path)) {
      continue;
    }
    const bool by_setting = where.file.starts_with(kSettingPlace);
    if (by_setting && (set == nullptr || is_key)) {
      set = &where;
    }
    (is_key ? key : named) = &where;
  }
  const SourceLocation* const chosen = set != nullptr ? set : key != nullptr ? key : named;
  return chosen != nullptr ? *chosen : SourceLocation{file};
}

std::set<std::string> idle_keys(const hw::Machine& machine) {
  std::set<std::string> keys;
  for (const hw::WithoutEffect& one : hw::without_effect(machine)) {
    keys.insert(one.keys.begin(), one.keys.end());
  }
  return keys;
}

// What the user said in vain, by a setting or in the machine's own file, `file`. Of the file only what has no effect
// even without the settings: a setting that switches off what a file describes is no mistake.
std::vector<std::string> notes_on(const Reading& reading, const std::string& file,
                                  const std::set<std::string>& idle_in_file) {
  std::vector<std::string> notes;
  for (const hw::WithoutEffect& one : hw::without_effect(reading.machine)) {
    std::vector<std::string> said;
    for (const ParameterReference& parameter : reading.parameters) {
      const std::string key = parameter.path();
      const auto set = reading.set_at.find(key);
      if (set == reading.set_at.end() || std::find(one.keys.begin(), one.keys.end(), key) == one.keys.end()) {
        continue;
      }
      const std::string& place = set->second.file;
      if (place.starts_with(kSettingPlace) || (place == file && idle_in_file.count(key) != 0)) {
        const auto* const text = std::get_if<std::string*>(&parameter.field);
        said.push_back(fmt::format("{} = {}", key, text != nullptr ? **text : parameter.value_text()));
      }
    }
    if (!said.empty()) {
      notes.push_back(
          fmt::format("{} {} no effect while {}", join(said), said.size() == 1 ? "has" : "have", one.because));
    }
  }
  return notes;
}

// Whether the user has said what a remark is about: by a setting, or in the file that brought it about. (A machine that
// it extends may list every parameter.)
bool settled(const Reading& reading, const hw::DramRemark& remark) {
  const auto said = reading.set_at.find(remark.key);
  const auto cause = reading.set_at.find(remark.because);
  return said != reading.set_at.end() && (said->second.file.starts_with(kSettingPlace) ||
                                          (cause != reading.set_at.end() && cause->second.file == said->second.file));
}

// `notes`, if any, become what notes_on() and hw::dram_remarks() say.
hw::Machine finish(Reading& reading, const std::string& file, const std::vector<std::string>& settings,
                   std::vector<std::string>* notes = nullptr) {
  const std::set<std::string> idle_in_file = notes == nullptr ? std::set<std::string>() : idle_keys(reading.machine);
  for (const std::string& setting : settings) {
    apply_setting(reading, setting);
  }
  const std::vector<hw::Contradiction> contradictions = hw::check(reading.machine);
  if (!contradictions.empty()) {
    std::string others;
    for (std::size_t i = 1; i < contradictions.size(); ++i) {
      others += fmt::format("\n{}: {}", blame(reading, contradictions[i], file).text(), contradictions[i].message);
    }
    throw ParameterError(contradictions.front().key, blame(reading, contradictions.front(), file),
                         contradictions.front().message + others);
  }
  if (notes != nullptr) {
    *notes = notes_on(reading, file, idle_in_file);
    for (const hw::DramRemark& remark : hw::dram_remarks(reading.machine.dram)) {
      if (!settled(reading, remark)) {
        notes->push_back(remark.text);
      }
    }
  }
  return reading.machine;
}

}  // namespace

hw::Machine read_machine(const std::string& name_or_path, const std::vector<std::string>& settings) {
  const std::string path = find_config(name_or_path);
  Reading reading;
  apply_file(reading, path, {}, {});
  return finish(reading, path, settings);
}

hw::Machine read_machine(const std::string& name_or_path, const std::vector<std::string>& settings,
                         std::vector<std::string>& notes) {
  const std::string path = find_config(name_or_path);
  Reading reading;
  apply_file(reading, path, {}, {});
  return finish(reading, path, settings, &notes);
}

std::vector<std::string> machine_files(const std::string& name_or_path) {
  Reading reading;
  apply_file(reading, find_config(name_or_path), {}, {});
  return reading.files;
}

std::map<std::string, std::string> value_comments(const std::string& name_or_path,
                                                  const std::vector<std::string>& settings) {
  const std::string path = find_config(name_or_path);
  Reading reading;
  apply_file(reading, path, {}, {});
  static_cast<void>(finish(reading, path, settings));
  std::map<std::string, std::vector<std::string>> lines;  // of each file
  for (const std::string& file : reading.files) {
    std::istringstream text(read_config_text(file));
    for (std::string line; std::getline(text, line);) {
      lines[file].push_back(line);
    }
  }
  std::map<std::string, std::string> comments;
  for (const auto& [parameter, where] : reading.set_at) {
    const auto file = lines.find(where.file);
    if (file == lines.end() || where.line == 0 || where.line > file->second.size()) {
      continue;  // a setting
    }
    std::string comment = comment_behind(file->second[where.line - 1], where.column);
    for (std::size_t next = where.line; !comment.empty() && next != file->second.size(); ++next) {
      const std::string& line = file->second[next];  // it goes on where nothing but a comment is, and not at the begin
      const std::size_t at = line.find_first_not_of(" \t");
      if (at == std::string::npos || at == 0 || line[at] != '#') {
        break;
      }
      comment += " " + comment_behind(line, 1);
    }
    if (!comment.empty()) {
      comments.emplace(parameter, std::move(comment));
    }
  }
  return comments;
}

hw::Machine parse_machine(std::string_view text, const std::string& file, const std::vector<std::string>& settings) {
  Reading reading;
  apply_text(reading, text, file, {});
  return finish(reading, file, settings);
}

std::vector<ConfigEntry> list_configs() {
  std::map<std::string, ConfigEntry> entries;
  for (const std::string& folder : config_folders()) {
    std::error_code error;
    for (const auto& file : fs::directory_iterator(folder, error)) {
      std::error_code unreadable;
      const std::string name = file.path().stem().string();
      if (file.path().extension() != ".toml" || !fs::is_regular_file(file.path(), unreadable) ||
          entries.count(name) != 0) {
        continue;
      }
      ConfigEntry entry{name, file.path().string(), {}, kPapersGroup};
      try {
        const auto table = parse_toml(read_config_text(entry.path), entry.path);
        entry.description = top_string(table, "description", entry.path);
        if (const std::string group = top_string(table, "group", entry.path); !group.empty()) {
          entry.group = group;
        }
      } catch (const InputError&) {  // `heddle check` says what is wrong with it; the list goes on
      }
      entries.emplace(name, std::move(entry));
    }
  }
  std::vector<ConfigEntry> list;
  list.reserve(entries.size());
  for (auto& [name, entry] : entries) {
    list.push_back(std::move(entry));
  }
  // Machines of papers, which name no group, come first.
  std::stable_sort(list.begin(), list.end(), [](const ConfigEntry& a, const ConfigEntry& b) {
    const bool first = a.group == kPapersGroup;
    const bool second = b.group == kPapersGroup;
    return first != second ? first : a.group < b.group;
  });
  return list;
}

}  // namespace heddle::tb
