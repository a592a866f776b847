#include "hardware/campaign.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace heddle::hardware {
namespace {

using Bindings = Json::Object;

// A text or the lines of one.
std::string lines_of(const Json& value, const std::string& what) {
  if (value.is_number()) return value.text();
  if (!value.is_array()) return value.string(what);
  std::string out;
  for (const Json& line : value.array(what)) out += line.string(what) + "\n";
  return out;
}

// Replaces ${NAME} of the names that are bound; others stay.
std::string replaced(const std::string& text, const Bindings& bindings) {
  std::string out;
  std::size_t at = 0;
  while (true) {
    const std::size_t start = text.find("${", at);
    const std::size_t end = start == std::string::npos ? start : text.find('}', start);
    if (end == std::string::npos) return out + text.substr(at);
    const std::string name = text.substr(start + 2, end - start - 2);
    const auto bound = std::find_if(bindings.begin(), bindings.end(), [&](const auto& b) { return b.first == name; });
    out += text.substr(at, start - at);
    out += bound == bindings.end() ? text.substr(start, end + 1 - start) : lines_of(bound->second, "'" + name + "'");
    at = end + 1;
  }
}

// In all texts within a value. A text that is one name alone becomes that name's value, of whatever kind it is.
Json bound_in(const Json& value, const Bindings& bindings) {
  if (value.is_string()) {
    const std::string& text = value.string("");
    for (const auto& [name, bound] : bindings) {
      if (text == "${" + name + "}") return bound;
    }
    return replaced(text, bindings);
  }
  if (value.is_array()) {
    Json::Array out;
    for (const Json& element : value.array("")) out.push_back(bound_in(element, bindings));
    return out;
  }
  if (!value.is_object()) return value;
  Json::Object out;
  for (const auto& [name, member] : value.object("")) out.emplace_back(name, bound_in(member, bindings));
  return out;
}

// All combinations of a row of "each" and a value for each name of "for".
std::vector<Bindings> combinations(const Json& element, const std::string& where) {
  std::vector<Bindings> out;
  if (element["each"].is_null()) {
    out.emplace_back();
  } else {
    for (const Json& row : element["each"].array(where + ": 'each'"))
      out.push_back(row.object(where + ": a row of 'each'"));
  }
  if (element["for"].is_null()) return out;
  for (const auto& [name, values] : element["for"].object(where + ": 'for'")) {
    std::vector<Bindings> longer;
    for (const Bindings& bindings : out) {
      for (const Json& value : values.array(where + ": '" + name + "' of 'for'")) {
        longer.push_back(bindings);
        longer.back().emplace_back(name, value);
      }
    }
    out = std::move(longer);
  }
  return out;
}

std::uint64_t hashed(std::uint64_t hash, const std::string& text) {  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01b3ULL;
  return hash;
}

// The names of files in a value, wherever they stand.
void files_in(const Json& value, std::vector<std::string>& files) {
  if (value.is_array()) {
    for (const Json& element : value.array("")) files_in(element, files);
  } else if (value.is_object()) {
    for (const auto& [name, member] : value.object("")) {
      if ((name == "file" || name == "ptx") && member.is_string()) files.push_back(member.string(""));
      files_in(member, files);
    }
  }
}

void check_names(const Json& spec, const std::string& where) {
  static const std::set<std::string> kKnown = {"name",        "group", "ptx",    "define",      "repeat", "burst",
                                               "buffers",     "entry", "grid",   "block",       "shared", "arguments",
                                               "steps",       "value", "expect", "repetitions", "each",   "for",
                                               "grid_per_sm", "touch", "comment"};
  for (const auto& member : spec.object(where)) {
    if (!kKnown.contains(member.first)) throw Bad(where + ": there is no key '" + member.first + "'");
  }
}

void read_list(const std::string& path, std::vector<Item>& items) {
  const Json list = Json::parse(read_file(path), path);
  const std::string folder = (std::filesystem::path(path).parent_path() / "").string();
  unsigned number = 0;
  for (const Json& element : list["items"].array(path + ": 'items'")) {
    const std::string where = path + ": item " + std::to_string(++number);
    check_names(element, where);
    for (const Bindings& bindings : combinations(element, where)) {
      Json::Object members;
      for (const auto& [name, member] : element.object(where)) {
        if (name != "each" && name != "for" && name != "comment")
          members.emplace_back(name, bound_in(member, bindings));
      }
      Item item;
      item.spec = std::move(members);
      item.folder = folder;
      item.name = item.spec["name"].string(where + ": 'name'");
      (void)item.spec["group"].string(where + ": 'group'");
      (void)item.spec["ptx"].string(where + ": 'ptx'");
      std::uint64_t hash = hashed(0xcbf2'9ce4'8422'2325ULL, item.spec.text());
      std::vector<std::string> files;
      files_in(item.spec, files);
      for (const std::string& file : files) hash = hashed(hash, read_file(folder + file));
      char key[20];
      std::snprintf(key, sizeof key, "%016llx", static_cast<unsigned long long>(hash));
      item.key = key;
      items.push_back(std::move(item));
    }
  }
}

}  // namespace

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file.is_open() || file.bad() || std::filesystem::is_directory(path)) throw Bad(path + ": cannot be read");
  return text;
}

std::vector<Item> read_campaign(const std::string& path) {
  std::vector<std::string> lists;
  if (std::filesystem::is_directory(path)) {
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      if (entry.path().extension() == ".json") lists.push_back(entry.path().string());
    }
    std::sort(lists.begin(), lists.end());
    if (lists.empty()) throw Bad(path + ": no list (*.json) is in this folder");
  } else {
    lists.push_back(path);
  }
  std::vector<Item> items;
  for (const std::string& list : lists) read_list(list, items);
  std::set<std::string> names;
  for (const Item& item : items) {
    if (!names.insert(item.name).second) throw Bad(path + ": two items have the name '" + item.name + "'");
  }
  return items;
}

std::vector<unsigned> repeats_of(const Item& item) {
  const Json& repeat = item.spec["repeat"];
  if (repeat.is_null()) return {1};
  std::vector<unsigned> out;
  for (const Json& value : repeat.array(item.name + ": 'repeat'")) {
    out.push_back(static_cast<unsigned>(value.whole(item.name + ": 'repeat'")));
  }
  if (out.empty() || out.size() > 2 || (out.size() == 2 && out[0] >= out[1])) {
    throw Bad(item.name + ": 'repeat' is one number, or two of which the second is larger");
  }
  return out;
}

std::string ptx_of(const Item& item, unsigned repeat) {
  const std::string path = item.folder + item.spec["ptx"].string(item.name + ": 'ptx'");
  const Bindings definitions =
      item.spec["define"].is_null() ? Bindings() : item.spec["define"].object(item.name + ": 'define'");
  std::string text = replaced(read_file(path), definitions);
  constexpr std::string_view kBegin = "//@repeat\n";
  constexpr std::string_view kEnd = "//@end\n";
  std::size_t begin = 0;
  while ((begin = text.find(kBegin, begin)) != std::string::npos) {
    const std::size_t end = text.find(kEnd, begin);
    if (end == std::string::npos) throw Bad(path + ": //@repeat without //@end");
    const std::string body = text.substr(begin + kBegin.size(), end - begin - kBegin.size());
    std::string out;
    for (unsigned i = 0; i < repeat; ++i) out += replaced(body, {{"i", Json(std::to_string(i))}});
    text.replace(begin, end + kEnd.size() - begin, out);
    begin += out.size();
  }
  if (const std::size_t left = text.find("${"); left != std::string::npos) {
    const std::size_t end = text.find('}', left);
    throw Bad(item.name + ": " + path + " wants a definition of " +
              text.substr(left, end == std::string::npos ? 20 : end + 1 - left));
  }
  return text;
}

bool fits(std::string_view text, std::string_view pattern) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() == '*') {
    return fits(text, pattern.substr(1)) || (!text.empty() && fits(text.substr(1), pattern));
  }
  return !text.empty() && text.front() == pattern.front() && fits(text.substr(1), pattern.substr(1));
}

}  // namespace heddle::hardware
