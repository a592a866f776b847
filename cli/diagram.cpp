// heddle diagram: the modules of a machine and what their sockets are bound to, as elaborated.
#include <fmt/format.h>

#include <iostream>
#include <systemc>

#include "base/error.hpp"
#include "cli/command.hpp"
#include "cli/output_options.hpp"
#include "hw/gpu/gpu.hpp"
#include "os/files/atomic_file.hpp"
#include "os/files/command_files.hpp"
#include "os/process/converter.hpp"
#include "studies/pages/diagram/diagram.hpp"
#include "tb/config/config.hpp"
#include "tb/device/device.hpp"

namespace heddle::cli {
namespace {

// Holds on to the GPU that the bench builds.
class Finder final : public tb::RunObserver {
 public:
  void attached(hw::Gpu& gpu) override { found = &gpu; }
  hw::Gpu* found = nullptr;
};

int diagram(const Arguments& arguments) {
  const hw::Machine machine = tb::read_machine(arguments.words()[0], arguments.settings());
  os::CommandFiles files;
  files.reads_all("a machine file", tb::machine_files(arguments.words()[0]));
  add_outputs(files, arguments, {"dot", "svg"});
  files.check_writable();
  Finder finder;
  tb::DeviceOptions options;
  options.observers.push_back(&finder);
  const tb::Device device(machine, options);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);  // ends the elaboration: every socket is bound
  const std::string dot =
      pages::diagram_dot(pages::read_diagram(*finder.found),
                         fmt::format("{}: modules and socket bindings", machine.name), arguments.has("all"));
  if (arguments.has("dot")) {
    os::write_file(arguments.text("dot"), dot);
  }
  if (arguments.has("svg")) {
    os::Converter converter(arguments.text("svg"), os::svg_converter());
    converter.write(dot);
    converter.commit();
  }
  if (!arguments.has("dot") && !arguments.has("svg")) {
    std::cout << dot;
  }
  return 0;
}

}  // namespace

Command diagram_command() {
  Command command;
  command.name = "diagram";
  command.operands = "CONFIG";
  command.fewest = command.most = 1;
  command.summary = "draws the modules of a machine and what their sockets are bound to";
  command.options.add_options()  //
      ("set", po::value<std::vector<std::string>>()->value_name("section.key=value")->composing(),
       "change a parameter of the machine; may be repeated")                                    //
      ("svg", po::value<std::string>()->value_name("FILE"), "write a picture; needs Graphviz")  //
      ("dot", po::value<std::string>()->value_name("FILE"), "write it in Graphviz' language")   //
      ("all", "draw every module, not one for those that differ by number only");
  command.details =
      "The modules are those of the elaborated SystemC model, the arrows the bindings of their sockets, from "
      "initiator\n"
      "to target. Without --svg and --dot the Graphviz text goes to the standard output.\n";
  command.completions = {{"@list configs", "@files"}};
  command.run = diagram;
  return command;
}

}  // namespace heddle::cli
