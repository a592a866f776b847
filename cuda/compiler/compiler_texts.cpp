#include "cuda/compiler/compiler_texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace heddle::cuda {
namespace {

namespace fs = std::filesystem;

bool beyond_ascii(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char letter) { return static_cast<unsigned char>(letter) >= 0x80; });
}

// The string behind `key` of a line of metadata, its bytes in hexadecimal behind backslashes; empty: it has none.
std::string text_of(std::string_view line, std::string_view key) {
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos) {
    return {};
  }
  line.remove_prefix(at + key.size());
  std::string text;
  for (std::size_t i = 0; i < line.size() && line[i] != '"'; ++i) {
    unsigned byte = 0;
    if (line[i] == '\\' && i + 2 < line.size() &&
        std::from_chars(line.data() + i + 1, line.data() + i + 3, byte, 16).ptr == line.data() + i + 3) {
      text += static_cast<char>(byte);
      i += 2;
    } else {
      text += line[i];
    }
  }
  return text;
}

std::optional<unsigned> number_of(std::string_view line, std::string_view key) {
  const std::size_t at = line.find(key);
  unsigned number = 0;
  if (at == std::string_view::npos ||
      std::from_chars(line.data() + at + key.size(), line.data() + line.size(), number).ec != std::errc()) {
    return std::nullopt;
  }
  return number;
}

// The file as the user would name it: clang takes it apart at a folder that it chooses.
std::string as_named(const fs::path& folder, const fs::path& name, const std::string& compiled) {
  std::error_code error;
  if (fs::equivalent(folder / name, compiled, error)) {
    return compiled;
  }
  return folder == fs::current_path(error) ? name.string() : (folder / name).string();
}

// A name in device code and the place where it is declared.
struct Named {
  unsigned file = 0;  // number of the metadata that has the file's name
  unsigned line = 0;
  std::string name;
};

// A word of a list of dependencies that clang has written for make.
struct Listed {
  std::string text;  // as it stands there
  std::string name;  // without what protects it from make; of the last target with its colon

  [[nodiscard]] bool is_target() const { return name.ends_with(':'); }
  [[nodiscard]] bool below(const fs::path& folder) const {
    const fs::path file = is_target() ? name.substr(0, name.size() - 1) : name;
    const fs::path rest = file.lexically_relative(folder);  // empty: one is absolute, the other is not
    return !rest.empty() && *rest.begin() != "..";
  }
};
using Rule = std::vector<Listed>;

std::vector<Rule> rules_of(std::string_view list) {
  std::vector<Rule> rules(1);
  Listed word;
  const auto end_word = [&] {
    if (!word.text.empty()) {
      rules.back().push_back(std::move(word));
    }
    word = {};
  };
  for (std::size_t i = 0; i < list.size(); ++i) {
    const char next = i + 1 < list.size() ? list[i + 1] : '\0';
    if ((list[i] == '\\' && (next == ' ' || next == '#')) || (list[i] == '$' && next == '$')) {
      word.text += list[i];
      word.text += next;
      word.name += next;
      ++i;
    } else if (list[i] == '\\' && next == '\n') {
      end_word();
      ++i;
    } else if (list[i] == ' ') {
      end_word();
    } else if (list[i] == '\n') {
      end_word();
      rules.emplace_back();
    } else {
      word.text += list[i];
      word.name += list[i];
    }
  }
  end_word();
  return rules;
}

}  // namespace

std::string plain_text(std::string_view messages) {
  std::string text;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (messages[i] != '\x1b') {
      text += messages[i];
      continue;
    }
    while (i + 1 < messages.size() && messages[i] != 'm' && messages[i] != 'K') ++i;
  }
  return text;
}

SourceLocation place_of(std::string_view place) {
  SourceLocation where;
  const std::size_t second = place.rfind(':');
  const std::size_t first = second == std::string_view::npos || second == 0 ? second : place.rfind(':', second - 1);
  if (first == std::string_view::npos || first >= second) return where;
  where.file = place.substr(0, first);
  std::from_chars(place.data() + first + 1, place.data() + second, where.line);
  std::from_chars(place.data() + second + 1, place.data() + place.size(), where.column);
  return where;
}

std::vector<std::string> included_files(std::string_view list, const fs::path& without) {
  std::vector<std::string> files;
  for (const Rule& rule : rules_of(list)) {
    for (const Listed& word : rule) {
      if (!word.is_target() && !word.below(without)) {
        files.push_back(word.name);
      }
    }
  }
  return files;
}

std::string dependencies_without(std::string_view list, const fs::path& without) {
  std::string text;
  for (Rule& rule : rules_of(list)) {
    std::erase_if(rule, [&](const Listed& word) { return word.below(without); });
    for (std::size_t i = 0; i < rule.size(); ++i) {
      text += i == 0 ? "" : i == 1 ? " " : " \\\n  ";
      text += rule[i].text;
    }
    if (!rule.empty()) {
      text += '\n';
    }
  }
  return text;
}

bool is_name_beyond_ascii(std::string_view output) {
  return output.find("Symbol name with unsupported characters") != std::string_view::npos;
}

void refuse_name(std::string_view code, std::string_view folder, const std::string& path) {
  std::map<unsigned, std::pair<fs::path, fs::path>> files;  // folder and name
  std::vector<Named> names;
  while (!code.empty()) {
    const std::string_view line = code.substr(0, code.find('\n'));
    code.remove_prefix(std::min(line.size() + 1, code.size()));
    if (!line.starts_with('!')) {
      continue;
    }
    if (line.find("!DIFile(") != std::string_view::npos) {
      files[number_of(line, "!").value_or(0)] = {text_of(line, "directory: \""), text_of(line, "filename: \"")};
      continue;
    }
    const bool function = line.find("!DISubprogram(") != std::string_view::npos;
    if (!function && line.find("!DIGlobalVariable(") == std::string_view::npos) {
      continue;
    }
    const std::string name = text_of(line, "(name: \"");
    const std::string linked = text_of(line, "linkageName: \"");
    if (beyond_ascii(name) || beyond_ascii(linked)) {
      names.push_back({number_of(line, "file: !").value_or(0), number_of(line, "line: ").value_or(0),
                       beyond_ascii(name) ? name : linked});
    }
  }
  const std::string what = "PTX has names of ASCII letters, digits, _ and $ alone";
  const std::string hint = "use ASCII in the names of kernels, device functions and their types and variables";
  if (names.empty()) {
    throw InputError({path}, "a name of device code holds other characters than ASCII: " + what, hint);
  }
  const auto rank = [](const Named& named) { return std::tie(named.file, named.line); };
  const Named& first =
      *std::min_element(names.begin(), names.end(), [&](const Named& a, const Named& b) { return rank(a) < rank(b); });
  std::string file = path;
  if (const auto found = files.find(first.file); found != files.end()) {
    file = as_named(found->second.first, found->second.second, path);
  }
  if (file.starts_with(folder)) {
    file.erase(0, folder.size());
  }
  throw InputError({file, first.line}, fmt::format("'{}' holds other characters than ASCII: {}", first.name, what),
                   hint);
}

}  // namespace heddle::cuda
