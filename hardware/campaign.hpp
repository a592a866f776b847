// What a campaign measures: items from lists in JSON (README.md has the format), expanded, and their PTX.
#pragma once

#include <string>
#include <vector>

#include "hardware/json.hpp"

namespace heddle::hardware {

// One row of the results.
struct Item {
  std::string name;    // unique in the campaign
  Json spec;           // its element of the list, with "each" and "for" replaced
  std::string folder;  // of the list, to which files are relative: empty, or with a slash at its end
  std::string key;     // changes when the item or a file that it names does
};

// The items of a list, or of every list (*.json) in a folder, by name of the file. Throws Bad.
[[nodiscard]] std::vector<Item> read_campaign(const std::string& path);

// The item's PTX with its definitions, and what stands between //@repeat and //@end so many times.
[[nodiscard]] std::string ptx_of(const Item& item, unsigned repeat);

// The whole file. Throws Bad where it cannot be read.
[[nodiscard]] std::string read_file(const std::string& path);

// How often the repeated part stands in the item's PTX: one number, or two whose difference is measured.
[[nodiscard]] std::vector<unsigned> repeats_of(const Item& item);

// `text` fits `pattern`, in which * stands for anything.
[[nodiscard]] bool fits(std::string_view text, std::string_view pattern);

}  // namespace heddle::hardware
