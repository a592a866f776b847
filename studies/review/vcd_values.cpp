#include "studies/review/vcd_values.hpp"

#include <charconv>
#include <fstream>
#include <map>
#include <sstream>

#include "base/error.hpp"

namespace heddle::studies {

VcdValues read_vcd(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  VcdValues values;
  std::map<std::string, std::size_t> by_id;
  std::vector<std::string> scopes;
  std::string line;
  std::uint32_t number = 0;
  std::uint64_t time = 0;
  bool declared = false;
  bool begun = false;
  const auto refuse = [&](const std::string& why) { throw InputError({path, number}, why); };
  const auto change = [&](const std::string& id, std::string value) {
    const auto found = by_id.find(id);
    if (found == by_id.end()) {
      refuse("no signal has the identifier '" + id + "'");
    }
    values.signals[found->second].changes.emplace_back(time, std::move(value));
  };
  while (std::getline(in, line)) {
    ++number;
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "$scope") {
      words >> word >> word;
      scopes.push_back(word);
    } else if (word == "$upscope") {
      if (scopes.empty()) {
        refuse("a scope ends that has not begun");
      }
      scopes.pop_back();
    } else if (word == "$var") {
      VcdSignal signal;
      std::string id;
      std::string name;
      if (!(words >> word >> signal.width >> id >> name)) {
        refuse("a signal's declaration is cut off");
      }
      for (const std::string& scope : scopes) {
        signal.path += scope + ".";
      }
      signal.path += name;
      by_id[id] = values.signals.size();
      values.signals.push_back(std::move(signal));
    } else if (word == "$timescale") {
      static const std::map<std::string, std::uint64_t> kUnits = {
          {"fs", 1}, {"ps", 1'000}, {"ns", 1'000'000}, {"us", 1'000'000'000}, {"ms", 1'000'000'000'000}};
      std::uint64_t count = 0;
      words >> count >> word;
      const auto found = kUnits.find(word);
      if (count == 0 || found == kUnits.end()) {
        refuse("the time scale is not of fs to ms");
      }
      values.unit = count * found->second;
    } else if (word == "$enddefinitions") {
      declared = true;
    } else if (word.starts_with("#")) {
      std::from_chars(word.data() + 1, word.data() + word.size(), time);
      values.first = begun ? values.first : time;
      values.last = time;
      begun = true;
    } else if (word.starts_with("b")) {
      std::string id;
      words >> id;
      change(id, word.substr(1));
    } else if (!word.empty() && word[0] != '$' && declared) {
      change(word.substr(1), word.substr(0, 1));
    }
  }
  if (!declared) {
    refuse("is no value change dump");
  }
  return values;
}

}  // namespace heddle::studies
