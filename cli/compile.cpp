// heddle compile: what the compiler makes of a kernel file.
#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cuda/compiler/cuda_compiler.hpp"
#include "cuda/compiler/ptxas.hpp"
#include "hw/issue/discipline.hpp"
#include "ptx/compile.hpp"
#include "ptx/control_bits.hpp"
#include "ptx/last_access.hpp"
#include "ptx/uniformity.hpp"
#include "tb/config/config.hpp"
#include "tb/device/code_options.hpp"

namespace heddle::cli {
namespace {

struct Text {
  std::string ptx;
  std::string file;  // names it in messages
};

Text read_any(const std::string& path, unsigned address_bits, unsigned architecture) {
  const std::string suffix = std::filesystem::path(path).extension().string();
  if (suffix == ".cu") return {cuda::compile_cuda(path, address_bits, architecture), path + " (as PTX)"};
  if (suffix == ".ptx") return {ptx::read_file(path), path};
  throw InputError({path}, "is neither a .ptx nor a .cu file");
}

// As the machine wants it, and then as the other options have it.
ptx::CompileOptions options_of(const Arguments& arguments, const std::optional<hw::Machine>& machine) {
  ptx::CompileOptions options;
  if (machine) options = ptx::CompileOptions(tb::code_options(*machine));
  const auto take = [&](const char* name, unsigned& value, unsigned least, unsigned most) {
    value = static_cast<unsigned>(arguments.whole(name, value, least, most));
  };
  take("max-registers", options.max_registers, 8, isa::kRegisters);
  take("if-conversion", options.if_conversion, 0, 64);
  take("unroll", options.unroll, 0, 16);
  return options;
}

// Whatever the machine's own core.issue is.
void write_control_bits(isa::Module& module, const std::string& config) {
  const hw::CoreParameters core = tb::read_machine(config, {"core.issue=control-bits"}).core;
  const auto time = hw::about<hw::IssueDiscipline>(core.issue).traits.result_time;
  ptx::write_control_bits(module, [&](const isa::Instruction& in) { return time(core, in); });
}

int compile(const Arguments& arguments) {
  const std::string& path = arguments.words().front();
  const std::uint64_t bits = arguments.whole("address-bits", arguments.has("ptxas") ? 64 : 32, 32, 64);
  if (bits != 32 && bits != 64) {
    throw InputError({"--address-bits"}, fmt::format("'{}' is neither 32 nor 64", bits));
  }
  std::optional<hw::Machine> machine;
  if (arguments.has("config")) machine = tb::read_machine(arguments.text("config"), {});
  ptx::CompileOptions options = options_of(arguments, machine);
  options.roomier = machine.has_value();
  std::vector<std::string> notes;
  options.notes = &notes;
  std::vector<ptx::RefusedKernel> refused;
  options.refused = &refused;
  const unsigned architecture = arguments.has("architecture")
                                    ? cuda::read_architecture({"--architecture"}, arguments.text("architecture"))
                                    : cuda::kLeastArchitecture;
  const Text text = read_any(path, static_cast<unsigned>(bits), architecture);
  isa::Module module = ptx::compile(text.ptx, text.file, options);
  if (arguments.has("mark-uniform")) {
    ptx::mark_uniform(module);
  }
  if (arguments.has("mark-past-scratchpad")) {
    ptx::mark_past_scratchpad(module);
  }
  if (arguments.has("control-bits")) {
    write_control_bits(module, arguments.text("control-bits"));
  } else if (machine && hw::by_control_bits(machine->core)) {
    write_control_bits(module, arguments.text("config"));
  }
  for (const std::string& note : notes) {
    remark("note", note);
  }
  if (module.kernels.empty() && refused.empty()) {
    throw InputError({path}, "there is no kernel in it",
                     path.ends_with(".cu") ? "a kernel is a __global__ function; a template has to be instantiated"
                                           : "a kernel is an .entry");
  }
  const std::vector<std::string> names = ptx::kernel_names(module, refused);
  const std::string entry = arguments.text("entry");
  const isa::Kernel* wanted = entry.empty() ? nullptr : module.find(entry);
  if (!entry.empty() && wanted == nullptr) {
    if (const ptx::RefusedKernel* const reason = ptx::find_refused(module, refused, entry)) {
      throw InputError(reason->reason);
    }
    throw InputError({path}, fmt::format("there is no kernel '{}'", entry),
                     suggest(entry, names, "known: " + join(names)));
  }
  using Align = TextTable::Align;
  std::vector<TextTable::Column> columns = {{"kernel"},
                                            {"instructions", Align::right},
                                            {"registers", Align::right},
                                            {"predicates", Align::right},
                                            {"spilled", Align::right},
                                            {"scratchpad\nbytes", Align::right},
                                            {"local bytes\nper thread", Align::right},
                                            {"parameter\nbytes", Align::right}};
  std::map<std::string, cuda::PtxasKernel> others;
  if (arguments.has("ptxas")) {
    others = cuda::assemble(text.ptx, text.file, arguments.text("ptxas"));
    for (const char* const name : {"ptxas:\ninstructions", "\nregisters", "\nspilled bytes"}) {
      columns.push_back({name, Align::right});
    }
  }
  TextTable table(columns);
  for (const isa::Kernel& kernel : module.kernels) {
    if (wanted != nullptr && &kernel != wanted) continue;
    std::vector<std::string> row = {kernel.name + (kernel.more_registers ? " (more registers)" : "")};
    for (const std::size_t value : {kernel.words.size(), std::size_t{kernel.registers}, std::size_t{kernel.predicates},
                                    std::size_t{kernel.spilled_registers}, std::size_t{kernel.shared_bytes},
                                    std::size_t{kernel.local_bytes}, std::size_t{kernel.parameter_bytes}}) {
      row.push_back(fmt::format("{}", value));
    }
    if (arguments.has("ptxas")) {
      const cuda::PtxasKernel& other = others[kernel.name];
      for (const std::size_t value :
           {other.instructions, std::size_t{other.registers}, std::size_t{other.spilled_bytes}}) {
        row.push_back(fmt::format("{}", value));
      }
    }
    table.add(row);
  }
  if (!module.kernels.empty()) {
    std::cout << table.text();
  }
  if (arguments.has("listing")) {
    for (const isa::Kernel& kernel : module.kernels) {
      if (wanted == nullptr || &kernel == wanted) {
        std::cout << "\n" << isa::listing(module, kernel);
      }
    }
  }
  if (wanted == nullptr && !refused.empty()) {
    std::cout.flush();
    for (std::size_t i = 0; i + 1 < refused.size(); ++i) {
      std::cerr << "heddle: " << refused[i].reason.what() << "\n";
    }
    throw InputError(refused.back().reason);
  }
  return 0;
}

}  // namespace

Command compile_command() {
  Command command;
  command.name = "compile";
  command.operands = "FILE.ptx|FILE.cu";
  command.fewest = command.most = 1;
  command.summary = "compiles kernels and shows what they need";
  command.options.add_options()                                                                               //
      ("entry", po::value<std::string>()->value_name("NAME"), "this kernel only")                             //
      ("listing", "print the machine code: PTX line, live registers, re-convergence point per instruction")   //
      ("mark-uniform", "mark scalar instructions in the listing, as core.scalar = \"compiler\" has them")     //
      ("mark-past-scratchpad", "mark what no access to the scratchpad follows, as odgs.scratchpad wants it")  //
      ("control-bits", po::value<std::string>()->value_name("CONFIG"),
       "control bits in the listing, as core.issue = \"control-bits\" has them on this machine")  //
      ("config", po::value<std::string>()->value_name("CONFIG"),
       "code as this machine has it compiled: registers, predication, unrolling, divisions, order, control bits")  //
      ("ptxas", po::value<std::string>()->value_name("GPU"),
       "beside it what NVIDIA's ptxas makes of the same text for a GPU such as sm_90, where it is installed")  //
      ("max-registers", po::value<std::string>()->value_name("N"), "registers per thread; more values spill")  //
      ("if-conversion", po::value<std::string>()->value_name("N"),
       "predicated code instead of branches around at most N instructions (default 0: none)")  //
      ("unroll", po::value<std::string>()->value_name("N"),
       "loops go through N iterations at a time where their count is not known (default 0: as they stand)")  //
      ("address-bits", po::value<std::string>()->value_name("32|64"),
       "pointers of a compiled .cu (default 32; 64 with --ptxas)")  //
      ("architecture", po::value<std::string>()->value_name("GPU"),
       "what a compiled .cu is for, such as sm_80, which __CUDA_ARCH__ says (default sm_60)");
  command.completions = {{"@files"}};
  command.run = compile;
  return command;
}

}  // namespace heddle::cli
