#include "base/nearest.hpp"

#include <algorithm>
#include <cctype>

namespace heddle {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replace, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

namespace {

std::string folded(std::string_view word) {
  std::string out(word);
  for (char& letter : out) {
    letter = letter == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return out;
}

}  // namespace

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr std::size_t kLongest = 64;  // no name is longer; keeps the work bounded on hostile input
  if (word.empty() || word.size() > kLongest) {
    return std::nullopt;
  }
  const std::string wanted = folded(word);
  const std::size_t allowed = std::max<std::size_t>(word.size() < 5 ? 1 : 2, word.size() / 3);
  std::optional<std::string> best;
  std::size_t best_distance = allowed + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(wanted, folded(candidate));
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string suggest(std::string_view word, const std::vector<std::string>& candidates, std::string_view otherwise) {
  if (const std::optional<std::string> near = nearest(word, candidates)) {
    return "did you mean '" + *near + "'?";
  }
  return std::string(otherwise);
}

std::string join(const std::vector<std::string>& names, std::string_view separator) {
  std::string out;
  for (const std::string& name : names) {
    if (!out.empty()) {
      out += separator;
    }
    out += name;
  }
  return out;
}

}  // namespace heddle
