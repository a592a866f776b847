#include "floors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace heddle::test {

namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

constexpr const char* kDocument = "docs/architecture.md";
constexpr const char* kLibraries = "CMakeLists.txt";

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

struct Include {
  std::string name;
  bool system = false;  // <name>
  unsigned line = 0;
};

std::vector<Include> includes_of(const fs::path& path) {
  static const std::regex pattern(R"(^\s*#\s*include\s*(["<])([^">]+)[">])");
  std::vector<Include> all;
  std::istringstream in(text_of(path));
  std::string line;
  for (unsigned number = 1; std::getline(in, line); ++number) {
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string::npos || line[first] != '#') {
      continue;  // the pattern takes its time
    }
    if (std::smatch match; std::regex_search(line, match, pattern)) {
      all.push_back({match[2], match[1] == "<", number});
    }
  }
  return all;
}

bool is_systemc(const Include& include) {
  const std::string& name = include.name;
  return include.system && (name == "systemc" || name == "systemc.h" || name == "tlm" || name == "tlm.h" ||
                            name.starts_with("sysc/") || name.starts_with("tlm_"));
}

// The cells of the table below a heading, row by row, without its head.
std::vector<Lines> table_below(const std::string& text, const std::string& heading) {
  std::vector<Lines> rows;
  std::istringstream in(text);
  std::string line;
  bool found = false;
  while (std::getline(in, line)) {
    if (line.starts_with("#")) {
      if (found) {
        break;
      }
      const std::size_t begin = line.find_first_not_of("# ");
      found = begin != std::string::npos && line.substr(begin) == heading;
    } else if (found && line.starts_with("|")) {
      Lines cells;
      std::istringstream row(line.substr(1));
      for (std::string cell; std::getline(row, cell, '|');) {
        const std::size_t first = cell.find_first_not_of(' ');
        const std::size_t last = cell.find_last_not_of(' ');
        cells.push_back(first == std::string::npos ? "" : cell.substr(first, last - first + 1));
      }
      rows.push_back(std::move(cells));
    }
  }
  rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(2, rows.size())));
  return rows;
}

// What stands in `...`.
Lines quoted(const std::string& cell) {
  static const std::regex pattern("`([^`]+)`");
  Lines all;
  for (std::sregex_iterator at(cell.begin(), cell.end(), pattern), end; at != end; ++at) {
    all.push_back((*at)[1]);
  }
  return all;
}

Lines folders_in(const std::string& cell) {
  Lines all = quoted(cell);
  for (std::string& name : all) {
    name.erase(name.find_last_not_of('/') + 1);
  }
  return all;
}

Lines words_of(const std::string& text) {
  static const std::regex pattern(R"([\w.:/]+)");
  Lines all;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) {
    all.push_back(at->str());
  }
  return all;
}

constexpr const char* kSystemC = "SystemC";

// By layer: the layers that it may include, and kSystemC.
using Uses = std::map<std::string, std::set<std::string>>;

struct Layers {
  Uses uses;
  std::map<std::string, std::string> folder;  // of each layer
};

// A layer is called as its folder is, without what stands above it: "device" of tb/device.
std::string name_of(const std::string& folder) {
  return folder.substr(folder.rfind('/') + 1);  // npos + 1 is 0
}

// `layers` bottom up, so that what a layer uses is complete when it is asked for.
void add_layer(Uses& uses, const std::string& layer, const Lines& directly) {
  std::set<std::string>& all = uses[layer];
  for (const std::string& used : directly) {
    all.insert(used);
    if (const auto found = uses.find(used); found != uses.end()) {
      all.insert(found->second.begin(), found->second.end());
    }
  }
}

Layers layers_of_document(const std::string& text) {
  Layers layers;
  Lines before;
  for (const Lines& row : table_below(text, "Layers")) {
    const Lines folders = folders_in(row.front());
    if (folders.size() != 1 || row.size() < 3) {
      continue;
    }
    Lines directly;
    if (row[2].find("all above") != std::string::npos) {
      directly = before;
    }
    for (const std::string& word : words_of(row[2])) {
      if (word == kSystemC || std::find(before.begin(), before.end(), word) != before.end()) {
        directly.push_back(word);
      }
    }
    const std::string name = name_of(folders.front());
    add_layer(layers.uses, name, directly);
    layers.folder[name] = folders.front();
    before.push_back(name);
  }
  return layers;
}

// What a list of libraries to link names.
Lines used_in(const Lines& words) {
  Lines directly;
  for (const std::string& word : words) {
    if (word.starts_with("heddle::")) {
      directly.push_back(word.substr(8));
    } else if (word.starts_with("SystemC::")) {
      directly.emplace_back(kSystemC);
    }
  }
  return directly;
}

Layers layers_of_libraries(const std::string& text) {
  static const std::regex pattern(R"((?:^|\n) *heddle_layer\(([^)]*)\))");
  Layers layers;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) {
    const Lines words = words_of((*at)[1]);
    if (words.empty()) {
      continue;
    }
    const std::string& name = words.front();
    add_layer(layers.uses, name, used_in(words));
    const auto folder = std::find(words.begin(), words.end(), "FOLDER");
    layers.folder[name] = words.end() - folder > 1 ? *(folder + 1) : name;
  }
  return layers;
}

// A layer that is a program: what its own CMakeLists.txt links.
void add_program(Layers& layers, const std::string& folder, const std::string& text) {
  static const std::regex pattern(R"(target_link_libraries\(([^)]*)\))");
  for (std::sregex_iterator match(text.begin(), text.end(), pattern); match != std::sregex_iterator(); ++match) {
    add_layer(layers.uses, name_of(folder), used_in(words_of((*match)[1])));  // of all programs of the folder
    layers.folder[name_of(folder)] = folder;
  }
}

struct Floors {
  std::map<std::string, std::size_t> height;  // of each folder of hw/
  std::set<std::string> plain;                // folders, and files, without SystemC
};

Floors floors_of(const std::string& text) {
  Floors floors;
  const std::vector<Lines> rows = table_below(text, "Floors of hw/");
  for (std::size_t height = 0; height != rows.size(); ++height) {
    const Lines& row = rows[height];
    for (const std::string& folder : folders_in(row.front())) {
      floors.height[folder] = height;
      if (row.size() > 2 && row[2].starts_with("no")) {
        floors.plain.insert("hw/" + folder);
      }
    }
    if (row.size() > 2) {
      for (const std::string& file : quoted(row[2])) {
        floors.plain.insert("hw/" + file);
      }
    }
  }
  return floors;
}

class Check {
 public:
  explicit Check(fs::path root)
      : root_(std::move(root)), document_(text_of(root_ / kDocument)), declared_(layers_of_document(document_)) {}

  Lines run() {
    if (layers_.empty()) {
      fault(fmt::format("{}: no table of layers", kDocument));
      return faults_;
    }
    compare_with_libraries();
    floors_ = floors_of(document_);
    if (floors_.height.empty() && layers_.count("hw") != 0) {
      fault(fmt::format("{}: no table of floors of hw/", kDocument));
    }
    read_files();
    for (const auto& [file, includes] : files_) {
      for (const Include& include : includes) {
        if (!include.system) {
          check_arrow(file, include);
        }
      }
      if (is_plain(file)) {
        check_plain(file);
      }
    }
    look_for_idle_entries();
    return faults_;
  }

 private:
  void fault(std::string what) { faults_.push_back(std::move(what)); }

  // The layer in whose folder a file lies, the inner one where a layer's folder lies in another's; empty: in none.
  [[nodiscard]] std::string layer_of(const std::string& file) const {
    std::string innermost;
    std::size_t longest = 0;
    for (const auto& [layer, folder] : declared_.folder) {
      if (folder.size() > longest && file.starts_with(folder + "/")) {
        innermost = layer;
        longest = folder.size();
      }
    }
    return innermost;
  }
  // The folder of a file of hw/; empty: it lies in hw/ itself.
  static std::string floor_folder_of(const std::string& file) {
    const std::size_t begin = file.find('/') + 1;
    const std::size_t end = file.find('/', begin);
    return end == std::string::npos ? "" : file.substr(begin, end - begin);
  }

  void compare_with_libraries() {
    Layers libraries = layers_of_libraries(text_of(root_ / kLibraries));
    for (const auto& [layer, folder] : declared_.folder) {
      if (libraries.uses.count(layer) == 0) {
        add_program(libraries, folder, text_of(root_ / folder / kLibraries));
      }
    }
    for (const auto& [layer, uses] : libraries.uses) {
      const auto row = layers_.find(layer);
      if (row == layers_.end()) {
        fault(fmt::format("{}: layer {} of {} has no row in the table of layers", kDocument, layer, kLibraries));
      } else if (declared_.folder.at(layer) != libraries.folder.at(layer)) {
        fault(fmt::format("{}: layer {} lies in {}/; {} builds it from {}/", kDocument, layer,
                          declared_.folder.at(layer), kLibraries, libraries.folder.at(layer)));
      } else if (row->second != uses) {
        fault(fmt::format("{}: {} uses {}; in {} it links {}", kDocument, layer, fmt::join(row->second, ", "),
                          kLibraries, fmt::join(uses, ", ")));
      }
    }
    for (const auto& row : layers_) {  // a row without a library holds no sources (configs/)
      if (libraries.uses.count(row.first) == 0) {
        no_library_.insert(row.first);
      }
    }
  }

  void read_files() {
    std::set<std::string> tops;  // the folders of layers, and the folders around them
    for (const auto& [layer, folder] : declared_.folder) {
      if (!fs::is_directory(root_ / folder)) {
        fault(fmt::format("{}: there is no folder {}/", kDocument, folder));
        continue;
      }
      tops.insert(folder.substr(0, folder.find('/')));
    }
    for (const std::string& top : tops) {
      for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root_ / top)) {
        const std::string extension = entry.path().extension().string();
        if (entry.is_regular_file() && (extension == ".hpp" || extension == ".cpp" || extension == ".inc")) {
          read(entry.path());
        }
      }
    }
  }

  void read(const fs::path& path) {
    const std::string file = path.lexically_relative(root_).generic_string();
    const std::string layer = layer_of(file);
    if (layer.empty()) {
      fault(fmt::format("{}: belongs to no layer ({})", file, kDocument));
      return;
    }
    files_[file] = includes_of(path);
    if (no_library_.count(layer) != 0) {
      fault(
          fmt::format("{}: {}/ has sources and no heddle_layer() in {}", file, declared_.folder.at(layer), kLibraries));
    }
    if (layer == "hw" && floors_.height.count(floor_folder_of(file)) == 0) {
      fault(fmt::format("{}: hw/{} is on no floor ({})", file, floor_folder_of(file), kDocument));
    }
  }

  void check_arrow(const std::string& file, const Include& include) {
    const std::string from = layer_of(file);
    const std::string to = layer_of(include.name);
    const auto wrong = [&](const std::string& what) {
      fault(fmt::format("{}:{}: includes {}, {}", file, include.line, include.name, what));
    };
    const bool exists = fs::is_regular_file(root_ / include.name);
    if (layers_.count(to) == 0) {
      if (exists || from == "hw") {
        wrong(exists ? "which belongs to no layer" : "which does not exist");
      }
      return;  // beside the file, or generated
    }
    if (!exists) {
      wrong("which does not exist");
    } else if (from != to && layers_.at(from).count(to) == 0) {
      wrong(fmt::format("but {}/ does not use {}/", declared_.folder.at(from), declared_.folder.at(to)));
    } else if (from == "hw" && to == "hw") {
      check_floors(floor_folder_of(file), floor_folder_of(include.name), wrong);
    }
  }

  template <class Wrong>
  void check_floors(const std::string& from, const std::string& to, const Wrong& wrong) {
    const auto lower = floors_.height.find(to);
    const auto upper = floors_.height.find(from);
    if (from == to || lower == floors_.height.end() || upper == floors_.height.end()) {
      return;  // a folder on no floor has been reported
    }
    if (lower->second > upper->second) {
      wrong(fmt::format("but hw/{} stands above hw/{}", to, from));
    } else if (lower->second == upper->second) {
      wrong(fmt::format("but hw/{} stands on the same floor as hw/{}", to, from));
    }
  }

  [[nodiscard]] bool is_plain(const std::string& file) const {
    const std::string layer = layer_of(file);
    return layers_.at(layer).count(kSystemC) == 0 || floors_.plain.count(file) != 0 ||
           (layer == "hw" && floors_.plain.count("hw/" + floor_folder_of(file)) != 0);
  }

  void check_plain(const std::string& file) {
    std::set<std::string> seen;
    Lines way;
    if (reaches_systemc(file, seen, way)) {
      fault(fmt::format("{}: must do without SystemC and includes it: {}", file, fmt::join(way, " > ")));
    }
  }
  // `way`: the includes that lead there, "FILE:LINE" each.
  bool reaches_systemc(const std::string& file, std::set<std::string>& seen, Lines& way) const {
    const auto found = files_.find(file);
    if (found == files_.end() || !seen.insert(file).second) {
      return false;
    }
    for (const Include& include : found->second) {
      way.push_back(fmt::format("{}:{}", file, include.line));
      if (is_systemc(include) || (!include.system && reaches_systemc(include.name, seen, way))) {
        return true;
      }
      way.pop_back();
    }
    return false;
  }

  // What the table names and no folder has.
  void look_for_idle_entries() {
    std::set<std::string> folders;
    for (const auto& entry : files_) {
      if (layer_of(entry.first) == "hw") {
        folders.insert(floor_folder_of(entry.first));
      }
    }
    for (const auto& floor : floors_.height) {
      if (folders.count(floor.first) == 0) {
        fault(fmt::format("{}: hw/{} has a floor and no files", kDocument, floor.first));
      }
    }
    for (const std::string& plain : floors_.plain) {
      if (plain.find('.') != std::string::npos && files_.count(plain) == 0) {
        fault(fmt::format("{}: there is no {}", kDocument, plain));
      }
    }
  }

  fs::path root_;
  std::string document_;
  Layers declared_;
  const Uses& layers_ = declared_.uses;
  std::set<std::string> no_library_;
  Floors floors_;
  std::map<std::string, std::vector<Include>> files_;
  Lines faults_;
};

}  // namespace

std::vector<std::string> include_faults(const std::filesystem::path& root) {
  return Check(root).run();
}

}  // namespace heddle::test
