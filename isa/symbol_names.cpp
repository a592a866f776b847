#include "isa/symbol_names.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <utility>

namespace heddle::isa {

namespace {

constexpr std::size_t kLongestName = 16384;  // longer ones are compared as they are
constexpr unsigned kDeepest = 64;            // brackets within each other, likewise

// The whole text of a mangled name; empty when it is none.
std::string demangled(const std::string& name) {
  if (name.rfind("_Z", 0) != 0 || name.size() > kLongestName) {
    return {};
  }
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 && text != nullptr ? text.get() : "";
}

bool opens(char c) {
  return c == '(' || c == '<' || c == '[';
}
bool closes(char c) {
  return c == ')' || c == '>' || c == ']';
}

// Where the bracket that ends the text was opened; npos: the text ends in none, or brackets do not match.
std::size_t opening_of_last(std::string_view text) {
  int depth = 0;
  for (std::size_t i = text.size(); i-- != 0;) {
    depth += closes(text[i]) ? 1 : opens(text[i]) ? -1 : 0;
    if (depth <= 0) {
      return depth == 0 && opens(text[i]) ? i : std::string_view::npos;
    }
  }
  return std::string_view::npos;
}

// The part behind the last `separator` that stands outside every bracket.
std::string_view behind_last(std::string_view text, std::string_view separator) {
  int depth = 0;
  for (std::size_t i = text.size(); i-- != 0;) {
    depth += closes(text[i]) ? 1 : opens(text[i]) ? -1 : 0;
    if (depth == 0 && text.substr(i, separator.size()) == separator) {
      return text.substr(i + separator.size());
    }
  }
  return text;
}

// A source text in parts: "filter::scale<float, 4>" and "(float*, int)".
struct Parts {
  std::string_view name;        // without return type
  std::string_view parameters;  // with their parentheses; empty: none
};
Parts parts_of(std::string_view text) {
  while (!text.empty() && text.back() == ' ') {
    text.remove_suffix(1);
  }
  while (!text.empty() && text.front() == ' ') {
    text.remove_prefix(1);
  }
  Parts parts{text, {}};
  if (!text.empty() && text.back() == ')') {
    const std::size_t open = opening_of_last(text);
    if (open != std::string_view::npos && open != 0) {
      parts = {text.substr(0, open), text.substr(open)};
    }
  }
  parts.name = behind_last(parts.name, " ");
  return parts;
}

// ------------------------------------------------------------------------------------------------ one form for all

// Words, and brackets and other signs of one character each.
std::vector<std::string_view> tokens_of(std::string_view text) {
  std::vector<std::string_view> tokens;
  const auto in_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == ':' || c == '.' || c == '~';
  };
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && in_word(text[end])) {
      ++end;
    }
    if (end == i) {
      ++end;
    }
    if (text[i] != ' ') {
      tokens.push_back(text.substr(i, end - i));
    }
    i = end;
  }
  return tokens;
}

class Canonical {
 public:
  explicit Canonical(std::string_view text) : tokens_(tokens_of(text)) {}

  // Empty: brackets that do not match, or too deep ones.
  [[nodiscard]] std::string text() {
    std::string out = list(0);
    return failed_ || at_ != tokens_.size() ? std::string() : out;
  }

 private:
  [[nodiscard]] bool more() const { return at_ < tokens_.size() && !failed_; }
  [[nodiscard]] bool is_literal(std::size_t i) const {
    return i < tokens_.size() && (tokens_[i] == "-" || std::isdigit(static_cast<unsigned char>(tokens_[i][0])) != 0);
  }
  // The token behind the parenthesis that closes the one at i.
  [[nodiscard]] std::size_t behind_parenthesis(std::size_t i) const {
    int depth = 0;
    for (; i < tokens_.size(); ++i) {
      depth += tokens_[i] == "(" ? 1 : tokens_[i] == ")" ? -1 : 0;
      if (depth == 0) {
        return i + 1;
      }
    }
    return i;
  }

  // Elements with commas between them, up to a closing bracket or the end.
  std::string list(unsigned depth) {
    failed_ = failed_ || depth > kDeepest;
    std::string out;
    while (more() && !closes(tokens_[at_][0])) {
      if (tokens_[at_] == ",") {
        out += ',';
        ++at_;
      }
      out += element(depth);
    }
    return out;
  }
  std::string bracket(unsigned depth) {
    const std::string_view open = tokens_[at_++];
    const std::string_view close = open == "<" ? ">" : open == "(" ? ")" : "]";
    const std::string inside = list(depth + 1);
    if (!more() || tokens_[at_] != close) {
      failed_ = true;
      return {};
    }
    ++at_;
    return std::string(open) + inside + std::string(close);
  }
  // A type, a value, or a name: words, then what belongs to them; `const` goes behind what it qualifies.
  std::string element(unsigned depth) {
    std::string out;
    std::vector<std::string> words;
    bool is_const = false;
    bool is_volatile = false;
    const auto flush = [&] {
      out += joined(words);
      out += is_const ? " const" : "";
      out += is_volatile ? " volatile" : "";
      words.clear();
      is_const = is_volatile = false;
    };
    while (more() && !closes(tokens_[at_][0]) && tokens_[at_] != ",") {
      const std::string_view token = tokens_[at_];
      if (token == "const" || token == "volatile") {
        (token == "const" ? is_const : is_volatile) = true;
        ++at_;
      } else if (token == "(" && is_literal(behind_parenthesis(at_))) {
        at_ = behind_parenthesis(at_);  // the type of a literal
      } else if (opens(token[0])) {
        const std::string inside = bracket(depth);
        if (words.empty()) {
          words.emplace_back();
        }
        words.back() += inside;
        if (more() && tokens_[at_].rfind("::", 0) == 0) {  // a<b>::c
          words.back() += tokens_[at_++];
        }
      } else if (token == "*" || token == "&" || token == "-") {
        flush();
        out += token;
        ++at_;
      } else {
        words.push_back(word(token));
        ++at_;
      }
    }
    flush();
    return out;
  }
  // A number without what says its type.
  static std::string word(std::string_view token) {
    if (std::isdigit(static_cast<unsigned char>(token[0])) != 0 && token.find('.') == std::string_view::npos) {
      while (token.size() > 1 && std::string_view("uUlL").find(token.back()) != std::string_view::npos) {
        token.remove_suffix(1);
      }
    }
    return std::string(token);
  }
  // Words of one type in one way: "unsigned" is "unsigned int", "long int" is "long".
  static std::string joined(const std::vector<std::string>& words) {
    const auto count = [&](const char* word) { return std::count(words.begin(), words.end(), word); };
    const auto length = static_cast<std::ptrdiff_t>(words.size());
    if (length != 0 && count("unsigned") + count("signed") + count("int") + count("long") + count("short") == length) {
      std::string out = count("unsigned") != 0 ? "unsigned " : "";
      out += count("long") > 1 ? "long long" : count("long") == 1 ? "long" : count("short") != 0 ? "short" : "int";
      return out;
    }
    std::string out;
    for (const std::string& word : words) {
      out += (out.empty() ? "" : " ") + word;
    }
    return out;
  }

  std::vector<std::string_view> tokens_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

std::string canonical(std::string_view text) {
  if (text.size() > kLongestName) {
    return std::string(text);
  }
  std::string out = Canonical(text).text();
  return out.empty() ? std::string(text) : out;
}

// Without the template arguments of the name itself and of what it stands in.
std::string without_arguments(std::string_view text) {
  std::string out;
  int depth = 0;
  for (const char c : text) {
    depth += c == '<' ? 1 : 0;
    if (depth == 0) {
      out += c;
    }
    depth -= c == '>' ? 1 : 0;
  }
  return out;
}

}  // namespace

std::string source_name(std::string_view name, bool parameters) {
  const std::string text = demangled(std::string(name));
  if (text.empty()) {
    return std::string(name);
  }
  const Parts parts = parts_of(text);
  return std::string(parts.name) + std::string(parameters ? parts.parameters : "");
}

std::vector<std::size_t> find_named(std::span<const std::string> names, std::string_view wanted) {
  std::array<std::vector<std::size_t>, 6> found;
  if (wanted.empty()) {
    return {};
  }
  std::string tight;  // no space before template arguments: the last one outside brackets ends the return type
  for (const char c : wanted) {
    while (c == '<' && !tight.empty() && tight.back() == ' ') {
      tight.pop_back();
    }
    tight += c;
  }
  const Parts parts = parts_of(tight);
  const std::string text = canonical(parts.name) + (parts.parameters.empty() ? "" : canonical(parts.parameters));
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == wanted) {
      found[0].push_back(i);
      continue;
    }
    const std::string source = demangled(names[i]);
    if (source.empty()) {
      continue;
    }
    const Parts of_name = parts_of(source);
    const std::string name = canonical(of_name.name);
    const std::string bare = without_arguments(name);
    const std::array<std::string, 5> forms = {name + canonical(of_name.parameters), name, bare,
                                              std::string(behind_last(name, "::")),
                                              std::string(behind_last(bare, "::"))};
    const auto fit = std::find(forms.begin(), forms.end(), text);
    if (fit != forms.end()) {
      found[static_cast<std::size_t>(fit - forms.begin()) + 1].push_back(i);
    }
  }
  for (std::vector<std::size_t>& rule : found) {
    if (!rule.empty()) {
      return std::move(rule);
    }
  }
  return {};
}

const Variable* find_variable(const Module& module, std::string_view wanted) {
  std::vector<std::string> names;
  for (const Variable& variable : module.variables) {
    names.push_back(variable.name);
  }
  const std::vector<std::size_t> found = find_named(names, wanted);
  return found.size() == 1 ? &module.variables[found.front()] : nullptr;
}

std::vector<std::string> listed_names(std::span<const std::string> names) {
  std::vector<std::string> listed;
  for (const std::string& name : names) {
    listed.push_back(source_name(name));
  }
  const std::vector<std::string> plain = listed;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::count(plain.begin(), plain.end(), plain[i]) > 1) {
      listed[i] = source_name(names[i], true);
    }
  }
  return listed;
}

std::vector<std::string> names_to_suggest(std::span<const std::string> names) {
  std::vector<std::string> all = listed_names(names);
  for (const std::string& name : names) {
    const std::string bare = without_arguments(source_name(name));
    all.emplace_back(behind_last(bare, "::"));
  }
  return all;
}

}  // namespace heddle::isa
