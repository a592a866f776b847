// heddle cost: what a machine's mechanisms cost in storage.
#include "tb/measure/cost/cost.hpp"

#include <iostream>

#include "cli/command.hpp"
#include "tb/config/config.hpp"

namespace heddle::cli {
namespace {

int cost(const Arguments& arguments) {
  const tb::StorageCost cost = tb::storage_cost(tb::read_machine(arguments.words()[0], arguments.settings()));
  std::cout << (arguments.has("json") ? tb::cost_json(cost) : tb::cost_text(cost));
  return 0;
}

}  // namespace

Command cost_command() {
  Command command;
  command.name = "cost";
  command.operands = "CONFIG";
  command.fewest = command.most = 1;
  command.summary = "says bit by bit what a machine's mechanisms cost in storage";
  command.options.add_options()  //
      ("set", po::value<std::vector<std::string>>()->value_name("section.key=value")->composing(),
       "change a parameter of the machine; may be repeated")  //
      ("json", "as JSON");
  command.details =
      "Every line names its formula and its source: a paper's section, or an estimate of our own where the papers\n"
      "count nothing.\n";
  command.completions = {{"@list configs", "@files"}};
  command.run = cost;
  return command;
}

}  // namespace heddle::cli
