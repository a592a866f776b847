// heddle completion: the completion script for a shell, made from the commands' declarations.
#include <fmt/format.h>

#include <iostream>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "cli/command.hpp"

namespace heddle::cli {
namespace {

// What completes one operand, as bash: fixed words, names that the program lists, files.
std::string operand_case(const std::vector<std::string>& choices) {
  std::string words;
  std::string out;
  for (const std::string& choice : choices) {
    constexpr std::string_view kList = "@list ";
    if (choice.starts_with(kList)) {
      words += fmt::format(" $(\"${{COMP_WORDS[0]}}\" list {} --names 2>/dev/null)", choice.substr(kList.size()));
    } else if (choice == "@files") {
      out += " files=1;";
    } else {
      words += " " + choice;
    }
  }
  return fmt::format("words=\"{}\";{}", words.empty() ? words : words.substr(1), out);
}

std::string command_case(const Command& command) {
  std::string options;
  std::string with_value;
  for (const auto& option : command.options.options()) {
    options += " --" + option->long_name();
    if (option->semantic()->max_tokens() > 0) {
      with_value += (with_value.empty() ? "--" : "|--") + option->long_name();
    }
  }
  std::string out = fmt::format("    {})\n      options=\"{}\"\n      valued=\"{}\"\n      case $operand in\n",
                                command.name, options.substr(1), with_value);
  for (std::size_t i = 0; i < command.completions.size(); ++i) {
    out += fmt::format("        {}) {} ;;\n", i, operand_case(command.completions[i]));
  }
  return out + "      esac ;;\n";
}

// COMP_WORDBREAKS holds '=', so that --set key=value arrives as several words; completing the key is enough.
constexpr std::string_view kScript = R"sh(# bash completion of heddle:  source <(heddle completion bash)
_heddle() {
  local word="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"
  local words="" options="" valued="" files="" operand=0 i
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "@NAMES@ help --help --version" -- "$word"))
    return
  fi
  _heddle_command "${COMP_WORDS[1]}" none
  # Which operand the word is: words before it that are neither options nor an option's value.
  for ((i = 2; i < COMP_CWORD; ++i)); do
    if [[ "${COMP_WORDS[i]}" == -* ]]; then
      if [[ "|$valued|" == *"|${COMP_WORDS[i]}|"* ]]; then ((++i)); fi
    elif [[ "${COMP_WORDS[i]}" == "=" ]]; then
      ((++i))
    else
      ((++operand))
    fi
  done
  case "$previous" in
    --set)
      COMPREPLY=($(compgen -S = -W "$("${COMP_WORDS[0]}" list parameters --names 2>/dev/null)" -- "$word"))
      compopt -o nospace 2>/dev/null
      return ;;
    --config)
      COMPREPLY=($(compgen -W "$("${COMP_WORDS[0]}" list configs --names 2>/dev/null)" -- "$word"))
      return ;;
    --address-bits) COMPREPLY=($(compgen -W "32 64" -- "$word")); return ;;
    --launcher) COMPREPLY=($(compgen -W "local slurm" -- "$word")); return ;;
    --x | --y | --by)
      COMPREPLY=($(compgen -W "workload $("${COMP_WORDS[0]}" list parameters --names 2>/dev/null)" -- "$word"))
      return ;;
    --plot)
      COMPREPLY=($(compgen -W "$("${COMP_WORDS[0]}" list statistics --names 2>/dev/null)" -- "$word"))
      return ;;
    --out | -o | --shared) COMPREPLY=($(compgen -d -- "$word")); return ;;
    --energy | --json | --report | --html | --csv | --svg | --png | --database | -d)
      COMPREPLY=($(compgen -f -- "$word"))
      return ;;
  esac
  if [[ "|$valued|" == *"|$previous|"* ]]; then return; fi
  if [[ "$word" == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
    return
  fi
  _heddle_command "${COMP_WORDS[1]}" "$operand"
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  if [[ -n "$files" ]]; then
    COMPREPLY+=($(compgen -f -- "$word"))
    compopt -o filenames 2>/dev/null
  fi
}
_heddle_command() {
  local operand=$2
  options="" valued="" words="" files=""
  case "$1" in
@CASES@    help) if [[ $operand == 0 ]]; then words="@NAMES@"; fi ;;
  esac
}
complete -F _heddle heddle ./heddle
)sh";

std::string bash_script() {
  std::string names;
  std::string cases;
  for (const Command& command : commands()) {
    names += (names.empty() ? "" : " ") + command.name;
    cases += command_case(command);
  }
  std::string script(kScript);
  for (const auto& [mark, text] : {std::pair<std::string_view, std::string>{"@NAMES@", names}, {"@CASES@", cases}}) {
    for (std::size_t at = script.find(mark); at != std::string::npos; at = script.find(mark, at + text.size())) {
      script.replace(at, mark.size(), text);
    }
  }
  return script;
}

int completion(const Arguments& arguments) {
  const std::string& shell = arguments.words().front();
  if (shell != "bash") {
    throw InputError({"completion"}, fmt::format("there is no completion for '{}'", shell),
                     suggest(shell, {"bash"}, "known: bash"));
  }
  std::cout << bash_script();
  return 0;
}

}  // namespace

Command completion_command() {
  Command command;
  command.name = "completion";
  command.operands = "bash";
  command.fewest = command.most = 1;
  command.summary = "prints a shell completion script";
  command.details = "Load it with:  source <(heddle completion bash)\n";
  command.completions = {{"bash"}};
  command.run = completion;
  return command;
}

}  // namespace heddle::cli
