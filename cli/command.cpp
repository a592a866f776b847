#include "cli/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iostream>
#include <map>
#include <string_view>
#include <typeinfo>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "tb/config/toml_text.hpp"

namespace heddle::cli {
namespace {

constexpr const char* kOperands = "operands";  // the hidden option that takes the words without a dash

std::vector<std::string> option_names(const Command& command) {
  std::vector<std::string> names;
  for (const auto& option : command.options.options()) {
    names.push_back("--" + option->long_name());
  }
  return names;
}

SourceLocation at_option(const std::string& option) {
  return {"--" + option};
}

// `name`: with its dashes.
void check_refused(const Command& command, const std::string& name) {
  for (const Command::Refused& refused : command.refused) {
    for (const std::string& option : refused.options) {
      if (name == "--" + option) {
        throw InputError(at_option(option), refused.reason, refused.hint);
      }
    }
  }
}

std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+%@";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
    return word;
  }
  std::string out = "'";
  for (const char letter : word) {
    out += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  }
  return out + "'";
}

template <class Number>
std::optional<Number> converted(const std::string& text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || last != end) {
    return std::nullopt;
  }
  return number;
}

}  // namespace

std::string Arguments::text(const std::string& option, const std::string& otherwise) const {
  return has(option) ? options_[option].as<std::string>() : otherwise;
}

std::vector<std::string> Arguments::all(const std::string& option) const {
  return has(option) ? options_[option].as<std::vector<std::string>>() : std::vector<std::string>{};
}

std::string Arguments::command_line(std::initializer_list<const char*> options, bool words_last) const {
  std::string out = "heddle " + command_;
  std::string words;
  for (const std::string& word : words_) {
    words += " " + shell_word(word);
  }
  if (!words_last) out += words;
  for (const char* const option : options) {
    if (!has(option)) {
      continue;
    }
    const std::string name = std::string(" --") + option;
    const po::variable_value& value = options_[option];
    if (value.value().type() == typeid(std::vector<std::string>)) {
      for (const std::string& one : value.as<std::vector<std::string>>()) {
        out += name + " " + shell_word(one);
      }
    } else {
      out += name;
      if (value.value().type() == typeid(std::string) && !value.as<std::string>().empty()) {  // a flag holds nothing
        out += " " + shell_word(value.as<std::string>());
      }
    }
  }
  return words_last ? out + " --" + words : out;
}

std::vector<std::string> Arguments::settings() const {
  std::vector<std::string> given = all("set");
  std::map<std::string, std::string> by_key;
  for (const std::string& setting : given) {
    const std::string key = setting.substr(0, setting.find('='));
    const auto [first, is_new] = by_key.emplace(key, setting);
    if (!is_new) {
      throw InputError(
          {"--set " + tb::excerpt(setting)},
          fmt::format("{} is set twice, before this by --set {}", tb::excerpt(key), tb::excerpt(first->second)),
          "leave one of them out");
    }
  }
  return given;
}

std::uint64_t Arguments::whole(const std::string& option, std::uint64_t otherwise, std::uint64_t low,
                               std::uint64_t high) const {
  if (!has(option)) {
    return otherwise;
  }
  const std::string given = text(option);
  const auto number = converted<std::uint64_t>(given);
  if (!number || *number < low || *number > high) {
    throw InputError(at_option(option),
                     fmt::format("'{}' is no whole number from {} to {}", tb::excerpt(given), low, high));
  }
  return *number;
}

double Arguments::number(const std::string& option, double otherwise, double low, double high) const {
  if (!has(option)) {
    return otherwise;
  }
  const std::string given = text(option);
  const auto number = converted<double>(given);
  if (!number || !(*number >= low && *number <= high)) {
    throw InputError(at_option(option), fmt::format("'{}' is no number from {} to {}", tb::excerpt(given), low, high));
  }
  return *number;
}

void remark(std::string_view kind, std::string_view text) {
  std::cerr << "heddle: " << kind << ": " << text << "\n";
}

namespace {

void check_alone(const Command& command, const po::variables_map& options, const std::vector<std::string>& operands) {
  std::string other = operands.empty() ? "" : tb::excerpt(operands.front());
  for (const auto& [name, value] : options) {
    if (name != command.alone && name != kOperands && name != "help") {
      other = "--" + name;
    }
  }
  if (!other.empty() && options.count("help") == 0) {
    throw InputError(at_option(command.alone),
                     fmt::format("'{}' cannot stand beside it: {}", other, command.alone_reason), "leave it out");
  }
}

}  // namespace

Arguments parse(const Command& command, const std::vector<std::string>& words) {
  if (command.takes_all_words && !(words.size() == 1 && (words[0] == "--help" || words[0] == "-h"))) {
    return {command.name, {}, words};
  }
  po::options_description hidden;
  hidden.add_options()(kOperands, po::value<std::vector<std::string>>());
  po::options_description all;
  all.add(command.options).add(hidden);
  po::positional_options_description positions;
  positions.add(kOperands, -1);
  const SourceLocation here{command.name};
  const std::string usage = fmt::format("usage: heddle {} {}", command.name, command.operands);
  po::variables_map options;
  try {
    const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    po::store(po::command_line_parser(words).options(all).positional(positions).style(style).run(), options);
    po::notify(options);
  } catch (const po::unknown_option& error) {
    std::string name = error.get_option_name();
    name.resize(std::min(name.find('='), name.size()));  // the word may hold a value too
    check_refused(command, name);
    throw InputError(here, fmt::format("there is no option '{}'", tb::excerpt(name)),
                     suggest(name, option_names(command), fmt::format("try heddle {} --help", command.name)));
  } catch (const po::error& error) {
    throw InputError(here, error.what(), fmt::format("try heddle {} --help", command.name));
  }
  std::vector<std::string> operands;
  if (options.count(kOperands) != 0) {
    operands = options[kOperands].as<std::vector<std::string>>();
  }
  const bool alone = !command.alone.empty() && options.count(command.alone) != 0;
  if (alone) {
    check_alone(command, options, operands);
  } else if (options.count("help") == 0) {
    if (operands.size() < command.fewest) {
      throw InputError(here,
                       fmt::format("needs {}; words given: {}", command.operands.empty() ? "nothing" : command.operands,
                                   operands.size()),
                       usage);
    }
    if (operands.size() > command.most) {
      throw InputError(here, fmt::format("'{}' is one word too many", tb::excerpt(operands[command.most])), usage);
    }
  }
  return {command.name, std::move(options), std::move(operands)};
}

}  // namespace heddle::cli
