#include "tests/support/vcd_reader.hpp"

#include <algorithm>
#include <cctype>
#include <set>

namespace heddle::test {
namespace {

class Reader {
 public:
  Reader(std::string_view text, VcdFirstValues first) : text_(text), first_(first) {}

  VcdDump read() {
    header();
    values();
    return std::move(dump_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
    throw VcdError("line " + std::to_string(line) + ": " + what);
  }
  void check(bool good, const std::string& what) const {
    if (!good) {
      refuse(what);
    }
  }
  std::string_view word() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
      ++at_;
    }
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) == 0) {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }
  std::string to_end() {
    std::string all;
    while (true) {
      const std::string_view next = word();
      check(!next.empty(), "no $end");
      if (next == "$end") {
        return all;
      }
      check(next.front() != '$', "'" + std::string(next) + "' within a section");
      all += all.empty() ? std::string(next) : " " + std::string(next);
    }
  }
  std::uint64_t whole(std::string_view text) const {
    check(!text.empty() && text.size() < 20 &&
              std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }),
          "'" + std::string(text) + "' is no number");
    return std::stoull(std::string(text));
  }

  void header() {
    while (true) {
      const std::string_view section = word();
      check(!section.empty(), "no $enddefinitions");
      if (section == "$enddefinitions") {
        check(to_end().empty(), "text in $enddefinitions");
        break;
      }
      if (section == "$version") {
        dump_.version = to_end();
      } else if (section == "$comment" || section == "$date") {
        to_end();
      } else if (section == "$timescale") {
        std::string scale = to_end();
        scale.erase(std::remove(scale.begin(), scale.end(), ' '), scale.end());
        static const std::set<std::string> known = [] {
          std::set<std::string> all;
          for (const char* number : {"1", "10", "100"}) {
            for (const char* unit : {"s", "ms", "us", "ns", "ps", "fs"}) {
              all.insert(std::string(number) + unit);
            }
          }
          return all;
        }();
        check(known.count(scale) != 0, "time scale '" + scale + "'");
        check(dump_.timescale.empty(), "two time scales");
        dump_.timescale = scale;
      } else if (section == "$scope") {
        const std::string kind(word());
        check(kind == "module" || kind == "task" || kind == "function" || kind == "begin" || kind == "fork",
              "scope of kind '" + kind + "'");
        const std::string name = to_end();
        check(!name.empty() && name.find(' ') == std::string::npos, "scope '" + name + "'");
        scopes_.push_back(name);
      } else if (section == "$upscope") {
        check(to_end().empty() && !scopes_.empty(), "$upscope without a scope");
        scopes_.pop_back();
      } else if (section == "$var") {
        variable();
      } else {
        refuse("unknown section '" + std::string(section) + "'");
      }
    }
    check(scopes_.empty(), "a scope is open");
    check(!dump_.timescale.empty(), "no time scale");
  }

  void variable() {
    VcdSignal signal;
    signal.type = word();
    static const std::set<std::string> types = {"wire", "reg", "integer", "real", "event", "time", "parameter"};
    check(types.count(signal.type) != 0, "variable of type '" + signal.type + "'");
    const std::uint64_t width = whole(word());
    check(width != 0 && width <= 4096, "width");
    signal.width = static_cast<unsigned>(width);
    const std::string id(word());
    check(!id.empty() && std::all_of(id.begin(), id.end(), [](char c) { return c >= '!' && c <= '~'; }), "identifier");
    std::string path;
    for (const std::string& scope : scopes_) {
      path += scope + ".";
    }
    const std::string name(word());
    check(!name.empty() && name != "$end", "variable without a name");
    path += name;
    const std::string range = to_end();
    check(range.empty() ? width == 1 || signal.type != "wire" : range == "[" + std::to_string(width - 1) + ":0]",
          "range '" + range + "' of width " + std::to_string(width));
    check(ids_.emplace(id, path).second, "identifier '" + id + "' twice");
    check(dump_.signals.emplace(path, signal).second, "variable '" + path + "' twice");
  }

  void values() {
    bool timed = false;
    bool dumping = false;
    std::uint64_t time = 0;
    std::set<std::string> dumped;
    while (true) {
      const std::string_view next = word();
      if (next.empty()) {
        break;
      }
      if (next == "$dumpvars") {
        check(!dumping && timed && dumped.empty(), "$dumpvars");
        dumping = true;
      } else if (next == "$end") {
        check(dumping, "$end of nothing");
        dumping = false;
        for (const auto& [id, path] : ids_) {
          check(first_ == VcdFirstValues::anywhere || dumped.count(id) != 0 || dump_.signals[path].type == "event",
                "no first value of '" + path + "'");
        }
      } else if (next == "$comment") {
        to_end();
      } else if (next.front() == '#') {
        check(!dumping, "a time in $dumpvars");
        const std::uint64_t at = whole(next.substr(1));
        check(!timed || at > time, "time does not go on");
        dump_.begin = timed ? dump_.begin : at;
        timed = true;
        dump_.end = time = at;
      } else {
        check(timed, "a value before the first time");
        dumped.insert(change(next, time));
      }
    }
    check(!dumping, "$dumpvars without $end");
    check(timed, "no time");
    check(!dumped.empty() || ids_.empty(), "no values");
  }

  std::string change(std::string_view first, std::uint64_t time) {
    std::string value;
    std::string id;
    const char kind = static_cast<char>(std::tolower(static_cast<unsigned char>(first.front())));
    const bool vector = kind == 'b' || kind == 'r';
    if (vector) {
      value = std::string(first.substr(1));
      id = std::string(word());
    } else {
      check(kind == '0' || kind == '1' || kind == 'x' || kind == 'z', "value '" + std::string(first) + "'");
      value = std::string(1, kind);
      id = std::string(first.substr(1));
    }
    const auto found = ids_.find(id);
    check(found != ids_.end(), "unknown identifier '" + id + "'");
    VcdSignal& signal = dump_.signals[found->second];
    if (kind == 'r') {
      check(signal.type == "real" && !value.empty(), "real value");
    } else {
      check(signal.type != "real", "bits of a real");
      check(!value.empty() && value.size() <= signal.width, "value '" + value + "' of " + found->second);
      check(value.find_first_not_of("01xzXZ") == std::string::npos, "digits '" + value + "'");
      check(vector || signal.width == 1, "a scalar value of a vector");
      const char extension = value.front() == '1' ? '0' : value.front();
      value.insert(0, signal.width - value.size(), extension);
    }
    if (!signal.changes.empty() && signal.changes.back().time == time) {
      signal.changes.back().value = value;
    } else {
      signal.changes.push_back({time, value});
    }
    return id;
  }

  std::string_view text_;
  VcdFirstValues first_;
  std::size_t at_ = 0;
  std::vector<std::string> scopes_;
  std::map<std::string, std::string> ids_;
  VcdDump dump_;
};

std::optional<std::uint64_t> number_of(const std::string& value) {
  std::uint64_t number = 0;
  for (const char digit : value) {
    if (digit != '0' && digit != '1') {
      return std::nullopt;
    }
    number = number << 1U | static_cast<unsigned>(digit - '0');
  }
  return number;
}

}  // namespace

std::string VcdSignal::at(std::uint64_t time) const {
  const auto after = std::upper_bound(changes.begin(), changes.end(), time,
                                      [](std::uint64_t at, const Change& change) { return at < change.time; });
  return after == changes.begin() ? std::string(width, 'x') : std::prev(after)->value;
}

std::optional<std::uint64_t> VcdSignal::number(std::uint64_t time) const {
  return number_of(at(time));
}

const VcdSignal& VcdDump::operator[](const std::string& path) const {
  const auto found = signals.find(path);
  if (found == signals.end()) {
    throw VcdError("there is no signal '" + path + "'");
  }
  return found->second;
}

std::uint64_t VcdDump::sum(const std::string& path, const std::function<std::uint64_t(std::uint64_t)>& weight) const {
  const std::vector<VcdSignal::Change>& changes = (*this)[path].changes;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const std::uint64_t until = i + 1 < changes.size() ? changes[i + 1].time : end;
    if (const auto value = number_of(changes[i].value)) {
      total += weight(*value) * (until - changes[i].time);
    }
  }
  return total;
}

std::uint64_t VcdDump::sum(const std::string& path) const {
  return sum(path, [](std::uint64_t value) { return value; });
}

std::uint64_t VcdDump::time_at(const std::string& path, std::uint64_t value) const {
  return sum(path, [=](std::uint64_t present) { return present == value ? 1 : 0; });
}

VcdDump read_vcd(std::string_view text, VcdFirstValues first) {
  return Reader(text, first).read();
}

}  // namespace heddle::test
