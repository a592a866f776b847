// The commands of the program. Each is one file that makes a Command; commands.cpp lists them.
#pragma once

#include <boost/program_options.hpp>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

namespace po = boost::program_options;

// The words of one call, taken apart and checked against the command's declaration.
class Arguments {
 public:
  Arguments(std::string command, po::variables_map options, std::vector<std::string> words)
      : command_(std::move(command)), options_(std::move(options)), words_(std::move(words)) {}

  [[nodiscard]] const std::vector<std::string>& words() const { return words_; }
  [[nodiscard]] bool has(const std::string& option) const { return options_.count(option) != 0; }
  [[nodiscard]] std::string text(const std::string& option, const std::string& otherwise = {}) const;
  [[nodiscard]] std::vector<std::string> all(const std::string& option) const;
  // The call as a shell takes it, of the options only those in `options`, in their order, that were given: what the
  // outcome depends on, without where it is written.
  [[nodiscard]] std::string command_line(std::initializer_list<const char*> options, bool words_last = false) const;
  // The machine's parameters that --set changes. Throws InputError for one that is given twice.
  [[nodiscard]] std::vector<std::string> settings() const;
  // Numbers within [low, high]; throw InputError naming the option otherwise.
  [[nodiscard]] std::uint64_t whole(const std::string& option, std::uint64_t otherwise, std::uint64_t low,
                                    std::uint64_t high) const;
  [[nodiscard]] double number(const std::string& option, double otherwise, double low, double high) const;

 private:
  std::string command_;
  po::variables_map options_;
  std::vector<std::string> words_;
};

struct Command {
  std::string name;
  std::string operands;  // as shown after the name: "CONFIG WORKLOAD|LAUNCH.toml"
  std::size_t fewest = 0;
  std::size_t most = 0;
  bool takes_all_words = false;  // words with dashes, too, are operands
  std::string alone;             // an option beside which nothing else may stand; empty: there is none
  std::string alone_reason;      // why: what it says itself
  // Options of another command that a user may look for here: why there are none, and what to do.
  struct Refused {
    std::vector<std::string> options;
    std::string reason;
    std::string hint;
  };
  std::vector<Refused> refused;
  std::string summary;  // one line
  std::string details;  // paragraphs below the options
  po::options_description options;
  std::vector<std::vector<std::string>>
      completions;                           // of the first, second... operand: words, "@files" or "@list NAME"
  std::function<int(const Arguments&)> run;  // returns the exit code
};

[[nodiscard]] Command run_command();
[[nodiscard]] Command nvcc_command();
[[nodiscard]] Command exec_command();
[[nodiscard]] Command toolkit_command();
[[nodiscard]] Command compare_command();
[[nodiscard]] Command review_command();
[[nodiscard]] Command correlate_command();
[[nodiscard]] Command list_command();
[[nodiscard]] Command check_command();
[[nodiscard]] Command compile_command();
[[nodiscard]] Command dram_command();
[[nodiscard]] Command demo_command();
[[nodiscard]] Command reproduce_command();
[[nodiscard]] Command sweep_command();
[[nodiscard]] Command results_command();
[[nodiscard]] Command cost_command();
[[nodiscard]] Command diagram_command();
[[nodiscard]] Command bench_command();
[[nodiscard]] Command completion_command();

// In the order of the help text.
[[nodiscard]] const std::vector<Command>& commands();

// Takes a command's words apart. Throws InputError with the nearest option.
[[nodiscard]] Arguments parse(const Command& command, const std::vector<std::string>& words);

[[nodiscard]] std::string general_help();
[[nodiscard]] std::string help_of(const Command& command);

// What is no error but worth knowing: "heddle: KIND: TEXT" on stderr. Commands with --quiet leave it out then.
void remark(std::string_view kind, std::string_view text);

// Runs a whole command line (without the program's name) and returns the exit code. Reports every error on stderr.
[[nodiscard]] int run_program(const std::vector<std::string>& words);

// Above 4: not an outcome of the simulation. A run ended by a signal exits with this and the signal's number, as shells
// report it: 130 for SIGINT, 143 for SIGTERM, 129 for SIGHUP.
inline constexpr int kSignalExit = 128;

}  // namespace heddle::cli
