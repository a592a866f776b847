#include "studies/review/kanata_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <string_view>

#include "base/error.hpp"

namespace heddle::studies {
namespace {

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find('\t', begin), line.size());
    fields.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return fields;
}

class LogReader {
 public:
  explicit LogReader(const std::string& path) : path_(path), in_(path, std::ios::binary) {}

  std::vector<LoggedSubWarp> read() {
    std::string line;
    if (!std::getline(in_, line) || !line.starts_with("Kanata")) {
      throw InputError({path_, 1}, "is no pipeline's log in Kanata's form");
    }
    while (std::getline(in_, line)) {
      ++line_;
      fields_ = fields_of(line);
      take();
    }
    for (auto& [id, row] : rows_) {
      close(row, cycle_);
    }
    std::vector<LoggedSubWarp> all;
    for (auto& [id, row] : rows_) {
      if (!row.stages.empty()) {
        all.push_back(std::move(row));
      }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const LoggedSubWarp& a, const LoggedSubWarp& b) { return a.begin() < b.begin(); });
    return all;
  }

 private:
  [[nodiscard]] std::uint64_t number(std::size_t field) const {
    std::uint64_t value = 0;
    const std::string_view text = field < fields_.size() ? fields_[field] : std::string_view();
    if (text.empty() ||
        std::from_chars(text.data(), text.data() + text.size(), value).ptr != text.data() + text.size()) {
      throw InputError({path_, line_}, fmt::format("'{}' is no number", text));
    }
    return value;
  }
  [[nodiscard]] std::string text(std::size_t field) const {
    return field < fields_.size() ? std::string(fields_[field]) : std::string();
  }
  static void close(LoggedSubWarp& row, std::uint64_t cycle) {
    if (!row.stages.empty() && row.stages.back().end == 0) {
      row.stages.back().end = cycle;
    }
  }

  void take() {
    const std::string_view kind = fields_.front();
    if (kind == "C=") {
      cycle_ = number(1);
    } else if (kind == "C") {
      cycle_ += number(1);
    } else if (kind == "I") {
      rows_[number(1)].warp = number(3);
    } else if (kind == "L" && number(2) == 0) {
      rows_[number(1)].label += text(3);
    } else if (kind == "S" && number(2) == 0) {
      LoggedSubWarp& row = rows_[number(1)];
      close(row, cycle_);
      row.stages.push_back({text(3), cycle_, 0});
    } else if (kind == "S" && rows_[number(1)].waits.empty()) {
      rows_[number(1)].waits = text(3);
    } else if (kind == "E" && number(2) == 0) {
      close(rows_[number(1)], cycle_);
    } else if (kind == "R") {
      LoggedSubWarp& row = rows_[number(1)];
      close(row, cycle_);
      row.flushed = number(3) != 0;
    }
  }

  const std::string& path_;
  std::ifstream in_;
  std::uint32_t line_ = 1;
  std::vector<std::string_view> fields_;
  std::uint64_t cycle_ = 0;
  std::map<std::uint64_t, LoggedSubWarp> rows_;
};

}  // namespace

std::vector<LoggedSubWarp> read_kanata(const std::string& path) {
  return LogReader(path).read();
}

std::optional<std::uint64_t> first_difference(const std::vector<LoggedSubWarp>& one,
                                              const std::vector<LoggedSubWarp>& other) {
  const std::size_t rows = std::min(one.size(), other.size());
  std::optional<std::uint64_t> first;
  const auto differ = [&](std::uint64_t cycle) { first = first ? std::min(*first, cycle) : cycle; };
  for (std::size_t i = 0; i != rows && (!first || std::min(one[i].begin(), other[i].begin()) <= *first); ++i) {
    if (one[i].begin() != other[i].begin() || one[i].label != other[i].label) {
      differ(std::min(one[i].begin(), other[i].begin()));
      return first;
    }
    const std::size_t stages = std::min(one[i].stages.size(), other[i].stages.size());
    for (std::size_t stage = 0; stage != stages; ++stage) {
      const LoggedStage& a = one[i].stages[stage];
      const LoggedStage& b = other[i].stages[stage];
      if (a.name != b.name || a.begin != b.begin) {
        differ(std::min(a.begin, b.begin));
        break;
      }
      if (a.end != b.end) {
        differ(std::min(a.end, b.end));
        break;
      }
    }
  }
  if (!first && one.size() != other.size()) {
    const std::vector<LoggedSubWarp>& longer = one.size() > other.size() ? one : other;
    first = longer[rows].begin();
  }
  return first;
}

}  // namespace heddle::studies
