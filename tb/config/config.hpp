// Machines as TOML files. Sections and keys are what hw::Machine::describe declares; besides them a file may say
//
//   description = "one line"
//   extends = "baseline"        # a machine's name, or a path relative to this file
//   group = "GPUs of today"     # under which it is listed
//   energy = "v100-12nm"        # Machine::energy: a table's name, or a path relative to this file
//
// Everything that does not fit is refused with file, line, column and the nearest valid name (InputError).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hw/parameters/machine.hpp"

namespace heddle::tb {

// Reads a machine by name ("baseline") or path (anything with a '/' or ending in ".toml"), applies `settings`
// ("core.warp_size=64", in order), and checks the whole for contradictions (hw::check). Throws InputError.
[[nodiscard]] hw::Machine read_machine(const std::string& name_or_path, const std::vector<std::string>& settings = {});

// Reads a machine for a user who watches: `notes` become a sentence for what the machine's own file (not one that it
// extends) or a setting says without effect, as in "dram.preset = hbm2 has no effect while dram.timing is not jedec"
// (hw::without_effect).
[[nodiscard]] hw::Machine read_machine(const std::string& name_or_path, const std::vector<std::string>& settings,
                                       std::vector<std::string>& notes);

// Reads a machine from a text that is already in memory; `file` names it in messages and its folder resolves `extends`.
[[nodiscard]] hw::Machine parse_machine(std::string_view text, const std::string& file,
                                        const std::vector<std::string>& settings = {});

// The files that read_machine() reads: the machine's own, then the files that it extends, one from the other. Throws
// InputError.
[[nodiscard]] std::vector<std::string> machine_files(const std::string& name_or_path);

// What the files of a machine say of the values that they give, by the parameters' paths: the comment behind a value on
// its line, without its mark. A value that a setting replaces has none. Throws InputError.
[[nodiscard]] std::map<std::string, std::string> value_comments(const std::string& name_or_path,
                                                                const std::vector<std::string>& settings = {});

// Where a machine's file is. Names are looked up in the folders of $HEDDLE_CONFIGS (separated by ':'), in the source
// tree's configs/, and in share/heddle/configs beside the program's bin/ folder, in this order. Throws InputError.
[[nodiscard]] std::string find_config(const std::string& name_or_path);

inline constexpr const char* kPapersGroup = "papers";

// Every machine that a name can reach, those of papers first, then by group; in each by name.
struct ConfigEntry {
  std::string name;
  std::string path;
  std::string description;  // empty when the file cannot be read
  std::string group;        // the file's `group`; kPapersGroup when it names none
};
[[nodiscard]] std::vector<ConfigEntry> list_configs();

}  // namespace heddle::tb
