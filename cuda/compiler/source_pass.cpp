#include "cuda/compiler/source_pass.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>

#include "cuda/compiler/source_tokens.hpp"

namespace heddle::cuda {
namespace {

namespace fs = std::filesystem;
using TokenKind = SourceToken::Kind;

class Pass {
 public:
  explicit Pass(std::string_view text) : text_(text), tokens_(source_tokens(text)) {}

  std::optional<std::string> run() {
    find_names_of_managed();
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (opens_launch(i)) launch(i);
      if (is(i, "asm") || is(i, "__asm__") || is(i, "__asm")) assembly(i);
      if (is(i, "__shared__") || is(i, "__global__")) not_of_the_device_too(i);
      if (is_managed(i) && !tokens_[i].directive) managed_variable(i);
      if (is(i, "alignas") && is_mark(i + 1, "(")) alignment(i);
    }
    if (edits_.empty()) return std::nullopt;
    std::stable_sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    std::string out;
    std::size_t at = 0;
    for (const Edit& edit : edits_) {
      if (edit.begin < at) continue;  // within what another has replaced
      out.append(text_, at, edit.begin - at).append(edit.text);
      at = edit.end;
    }
    out.append(text_, at);
    return out;
  }

 private:
  struct Edit {
    std::size_t begin, end;
    std::string text;
  };

  [[nodiscard]] std::string_view word(std::size_t i) const {
    return i < tokens_.size() ? text_.substr(tokens_[i].begin, tokens_[i].end - tokens_[i].begin) : std::string_view();
  }
  [[nodiscard]] bool is(std::size_t i, std::string_view what) const { return word(i) == what; }
  [[nodiscard]] bool is_word(std::size_t i) const { return i < tokens_.size() && tokens_[i].kind == TokenKind::word; }
  // One of the marks.
  [[nodiscard]] bool is_mark(std::size_t i, std::string_view marks) const {
    return i < tokens_.size() && tokens_[i].kind == TokenKind::mark &&
           marks.find(text_[tokens_[i].begin]) != marks.npos;
  }
  [[nodiscard]] bool adjacent(std::size_t i) const { return tokens_[i].end == tokens_[i + 1].begin; }
  // Whether a directive's line ends between the tokens, or begins.
  [[nodiscard]] bool same_context(std::size_t i, std::size_t j) const {
    return tokens_[i].directive == tokens_[j].directive &&
           (!tokens_[i].directive || tokens_[i].line == tokens_[j].line);
  }
  void blank(std::size_t i) {
    edits_.push_back({tokens_[i].begin, tokens_[i].end, std::string(tokens_[i].end - tokens_[i].begin, ' ')});
  }

  // ---------------------------------------------------------------------------------------------------- launches

  // Three '<' in a row: valid C++ has none, but for what follows the word operator.
  [[nodiscard]] bool opens_launch(std::size_t i) const {
    return i > 0 && is_mark(i, "<") && is_mark(i + 1, "<") && is_mark(i + 2, "<") && !is_mark(i + 3, "<") &&
           !is_mark(i - 1, "<") && !is(i - 1, "operator") && same_context(i, i + 2);
  }
  // Three marks become one, and what is between them comes behind; before them, where they would stick to a mark there.
  void join(std::size_t first) {
    const bool sticks = is_mark(first - 1, ">") && is_mark(first, ">") && adjacent(first - 1);
    if (adjacent(first) && adjacent(first + 1) && !sticks) return;
    const std::size_t begin = tokens_[first].begin;
    const std::string marks(3, text_[begin]);
    std::string between;
    for (std::size_t i = first; i < first + 2; ++i) {
      between.append(text_, tokens_[i].end, tokens_[i + 1].begin - tokens_[i].end);
    }
    if (sticks && between.empty()) between = " ";
    edits_.push_back({begin, tokens_[first + 2].end, sticks ? between + marks : marks + between});
  }

  void launch(std::size_t open) {
    join(open);
    int depth = 0;
    std::size_t templates = 0;  // that may be open: names with '<' behind
    for (std::size_t i = open + 3; i < tokens_.size() && same_context(open, i); ++i) {
      if (is_mark(i, "([{")) ++depth;
      if (is_mark(i, ")]}") && --depth < 0) return;
      if (depth != 0) continue;
      if (is_mark(i, ";") || opens_launch(i)) return;
      if (is_mark(i, "<")) {
        const bool shift = is_mark(i + 1, "<") && adjacent(i);
        if (shift) {
          ++i;
        } else if (is_word(i - 1)) {
          ++templates;
        }
      } else if (is_mark(i, ">")) {
        if (is_mark(i - 1, "-") && adjacent(i - 1)) continue;  // an arrow
        std::size_t end = i;
        while (is_mark(end, ">")) ++end;
        const std::size_t count = end - i;
        if (count < 3 || (count == 3 && templates >= 3)) {
          templates -= std::min(templates, count);
        } else {
          join(end - 3);
          return;
        }
        i = end - 1;
      }
    }
  }

  // ---------------------------------------------------------------------------------------------------- assembly

  void assembly(std::size_t i) {
    ++i;
    while (is(i, "volatile") || is(i, "__volatile__") || is(i, "__volatile") || is(i, "inline")) ++i;
    if (!is_mark(i, "(")) return;
    const std::size_t first = i + 1;
    std::size_t end = first;
    while (end < tokens_.size() && (tokens_[end].kind == TokenKind::text || tokens_[end].kind == TokenKind::word))
      ++end;
    if (!is_mark(end, ":")) return;  // without operands there are no marks for them either
    for (std::size_t at = first; at < end; ++at) {
      if (tokens_[at].kind == TokenKind::text) names_of_registers(tokens_[at]);
    }
  }
  void names_of_registers(const SourceToken& token) {
    const auto letter = [&](std::size_t at) {
      return at < token.end && (std::isalpha(static_cast<unsigned char>(text_[at])) != 0 || text_[at] == '_');
    };
    for (std::size_t at = token.begin; at + 1 < token.end; ++at) {
      if (text_[at] != '%') continue;
      const char behind = text_[at + 2 < token.end ? at + 2 : at];
      const bool operand = std::isdigit(static_cast<unsigned char>(behind)) != 0 || behind == '[';  // "%c0", "%c[a]"
      if (letter(at + 1) && !operand) {
        edits_.push_back({at, at, "%"});
      } else {
        ++at;
      }
    }
  }

  // --------------------------------------------------------------------------------------------------- variables

  // What may stand between __shared__ or __global__ and __device__, also an alignment with its brackets.
  [[nodiscard]] bool is_specifier(std::size_t i) const {
    return is(i, "static") || is(i, "extern") || is(i, "inline") || is(i, "volatile") || is(i, "const") ||
           is_mark(i, "()") || (is_mark(i - 1, "(") && is_mark(i + 1, ")")) || is(i, "__align__") || is(i, "alignas");
  }
  void not_of_the_device_too(std::size_t i) {
    std::size_t before = i;
    while (before > 0 && is_specifier(before - 1)) --before;
    if (before > 0 && is(before - 1, "__device__")) blank(before - 1);
    std::size_t behind = i + 1;
    while (is_specifier(behind)) ++behind;
    if (is(behind, "__device__")) blank(behind);
  }

  // clang takes an alignment of the standard's kind before attributes of its own alone, such as __shared__ is.
  void alignment(std::size_t i) {
    static constexpr std::string_view kBefore[] = {"__shared__", "__device__", "__constant__", "static",
                                                   "extern",     "volatile",   "const",        "constexpr"};
    std::size_t begin = i;
    bool attribute = false;
    while (begin > 0 && same_context(begin - 1, i) &&
           std::find(std::begin(kBefore), std::end(kBefore), word(begin - 1)) != std::end(kBefore)) {
      --begin;
      attribute = attribute || word(begin).starts_with("__");
    }
    const std::size_t close = closed(i + 1);
    if (!attribute || close >= tokens_.size() || !same_context(i, close)) return;
    const std::size_t end = tokens_[close].end;
    const std::string whole(text_.substr(tokens_[i].begin, end - tokens_[i].begin));
    if (whole.find('\n') != std::string::npos) return;
    edits_.push_back({tokens_[begin].begin, tokens_[begin].begin, whole + " "});
    edits_.push_back({tokens_[i].begin, end, std::string(whole.size(), ' ')});
  }

  // The end of the group that is opened at i.
  [[nodiscard]] std::size_t closed(std::size_t i) const {
    int depth = 0;
    for (; i < tokens_.size(); ++i) {
      if (is_mark(i, "([{")) ++depth;
      if (is_mark(i, ")]}") && --depth == 0) return i;
    }
    return tokens_.size();
  }

  // Macros without arguments of the file that are __managed__, perhaps with __device__, wherever they are defined.
  void find_names_of_managed() {
    std::set<std::string_view> others;
    for (std::size_t i = 0; i + 2 < tokens_.size(); ++i) {
      if (!is_mark(i, "#") || !is(i + 1, "define") || !tokens_[i].directive || !is_word(i + 2)) continue;
      const std::size_t name = i + 2;
      bool managed = false;
      bool other = false;
      for (i = name; i + 1 < tokens_.size() && same_context(name, i + 1); ++i) {
        managed = managed || is(i + 1, "__managed__");
        other = other || !(is(i + 1, "__managed__") || is(i + 1, "__device__"));
      }
      (managed && !other ? managed_ : others).insert(word(name));
    }
    for (const std::string_view other : others) managed_.erase(other);
  }
  [[nodiscard]] bool is_managed(std::size_t i) const { return is_word(i) && managed_.contains(word(i)); }

  void managed_variable(std::size_t managed) {
    std::size_t begin = managed;
    while (begin > 0 && !is_mark(begin - 1, ";{}") && !tokens_[begin - 1].directive) --begin;
    if (begin < done_) return;  // another word of a declaration that is done
    std::vector<std::string> names;
    bool is_extern = false;
    bool is_static = false;
    bool body = false;       // of a structure may come
    bool value = false;      // behind '='
    std::size_t angles = 0;  // of a type's arguments
    std::string_view last;
    const std::size_t first_edit = edits_.size();
    std::size_t i = begin;
    for (; i < tokens_.size() && !is_mark(i, ";"); ++i) {
      if (is_mark(i, "([{")) {
        if (is_mark(i, "{") && body && !value) {
          body = false;
        } else if (!is_mark(i, "(") || is_mark(closed(i) + 1, ",;")) {
          value = true;  // bounds and values of a variable
        }
        i = closed(i);
        continue;
      }
      if (is_mark(i, ",") && angles == 0) {
        names.emplace_back(last);
        value = false;
      }
      if (value) continue;
      if (is_mark(i, "=")) value = true;
      if (is_mark(i, "<")) ++angles;
      if (is_mark(i, ">") && angles > 0) --angles;
      if (!is_word(i) || angles != 0) continue;
      is_extern = is_extern || is(i, "extern");
      is_static = is_static || is(i, "static");
      body = body || is(i, "struct") || is(i, "class") || is(i, "union") || is(i, "enum");
      if (is_managed(i) || is(i, "__device__")) {
        blank(i);
      } else {
        last = word(i);
      }
    }
    if (i >= tokens_.size() || last.empty()) {
      edits_.resize(first_edit);
      return;
    }
    names.emplace_back(last);
    done_ = i;
    edits_.insert(
        edits_.begin() + static_cast<std::ptrdiff_t>(first_edit),
        {tokens_[begin].begin, tokens_[begin].begin,
         std::string("namespace heddle_managed { __device__ ") + (is_extern ? "" : "__attribute__((used)) ")});
    std::string behind = " }";
    for (const std::string& name : names) {
      behind += is_extern ? " HEDDLE_MANAGED_EXTERN_(" : is_static ? " HEDDLE_MANAGED_STATIC_(" : " HEDDLE_MANAGED_(";
      behind += name + ")";
    }
    edits_.push_back({tokens_[i].end, tokens_[i].end, behind});
  }

  std::string_view text_;
  std::vector<SourceToken> tokens_;
  std::vector<Edit> edits_;
  std::set<std::string_view> managed_{"__managed__"};  // words that are __managed__
  std::size_t done_ = 0;                               // the last declaration's end
};

std::optional<std::string> source_text(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return std::nullopt;
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

struct Include {
  std::string name;
  bool quoted = false;
};

// What the lines "#include" name.
std::vector<Include> includes_of(std::string_view text) {
  std::vector<Include> found;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    const auto skip = [&] { line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size())); };
    skip();
    if (!line.starts_with('#')) continue;
    line.remove_prefix(1);
    skip();
    if (!line.starts_with("include")) continue;
    line.remove_prefix(std::string_view("include").size());
    skip();
    if (line.empty() || (line.front() != '"' && line.front() != '<')) continue;
    const bool quoted = line.front() == '"';
    const std::size_t close = line.find(quoted ? '"' : '>', 1);
    if (close != std::string_view::npos) found.push_back({std::string(line.substr(1, close - 1)), quoted});
  }
  return found;
}

}  // namespace

std::optional<std::string> text_for_clang(std::string_view text) {
  return Pass(text).run();
}

std::vector<ChangedSource> sources_for_clang(const std::string& input, const std::vector<std::string>& folders) {
  std::vector<ChangedSource> changed;
  std::set<std::string> seen;
  std::deque<fs::path> waiting = {input};
  while (!waiting.empty()) {
    const fs::path path = waiting.front();
    waiting.pop_front();
    std::error_code ignored;
    if (!seen.insert(fs::weakly_canonical(path, ignored).string()).second) continue;
    const std::optional<std::string> text = source_text(path);
    if (!text) continue;
    if (auto better = text_for_clang(*text)) changed.push_back({path.string(), *std::move(better)});
    for (const Include& include : includes_of(*text)) {
      if (include.quoted) waiting.push_back(path.parent_path() / include.name);
      for (const std::string& folder : folders) waiting.push_back(fs::path(folder) / include.name);
    }
  }
  return changed;
}

}  // namespace heddle::cuda
