// heddle check: reads a machine and says whether it makes sense.
#include <fmt/format.h>

#include <boost/json.hpp>
#include <iostream>

#include "cli/command.hpp"
#include "studies/pages/report/reference.hpp"
#include "tb/config/config.hpp"
#include "tb/measure/json_text.hpp"

namespace heddle::cli {
namespace {

namespace json = boost::json;

json::object machine_json(hw::Machine machine, const std::string& path, const std::vector<std::string>& notes) {
  json::object parameters;
  for (const ParameterReference& parameter : parameters_of(machine)) {
    parameters[parameter.path()] = pages::value_json(parameter);
  }
  return {{"name", machine.name},
          {"description", machine.description},
          {"file", path},
          {"parameters", std::move(parameters)},
          {"notes", json::array(notes.begin(), notes.end())}};
}

int check(const Arguments& arguments) {
  const std::string path = tb::find_config(arguments.words().front());
  std::vector<std::string> notes;
  const hw::Machine machine = tb::read_machine(arguments.words().front(), arguments.settings(), notes);
  if (arguments.has("json")) {
    std::cout << tb::json_text(machine_json(machine, path, notes));
    return 0;
  }
  std::cout << fmt::format("{}: machine '{}' is good", path, machine.name)
            << (machine.description.empty() ? "" : " (" + machine.description + ")") << "\n";
  if (arguments.has("show")) {
    std::cout << "\n" << pages::parameters_text(machine);
  }
  std::cout.flush();
  for (const std::string& note : notes) {
    remark("note", note);
  }
  return 0;
}

}  // namespace

Command check_command() {
  Command command;
  command.name = "check";
  command.operands = "CONFIG";
  command.fewest = command.most = 1;
  command.summary = "reads a machine, by name or path, and says whether it makes sense";
  command.options.add_options()("set",
                                po::value<std::vector<std::string>>()->value_name("section.key=value")->composing(),
                                "change a parameter; may be repeated")(
      "show", "print every parameter's value, range and meaning")("json", "print every parameter's value as JSON");
  command.completions = {{"@list configs", "@files"}};
  command.run = check;
  return command;
}

}  // namespace heddle::cli
