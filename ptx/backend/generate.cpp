#include "base/error.hpp"
#include "ptx/backend/machine_code.hpp"

namespace heddle::ptx {

namespace {

isa::Kernel generate_as_asked(const IrFunction& function, const std::string& file, const Interruption& interruption) {
  backend::MachineFunction machine = backend::import_function(function, file);
  machine.interruption = interruption;
  interruption.check();
  backend::simplify_control_flow(machine);
  backend::clean_up(machine);
  backend::simplify_control_flow(machine);
  backend::convert_ifs(machine, function.code);
  backend::unroll(machine, function.code, function.kernel.needs_lockstep);
  backend::exit_early(machine, function.kernel.needs_lockstep);
  if (function.code.peephole) backend::optimise_peepholes(machine);
  interruption.check();
  backend::schedule(machine, function.code.schedule_within);
  const backend::Assignment assignment = backend::allocate(machine, function.code.max_registers);
  backend::drop_identity_copies(machine, assignment);
  backend::simplify_control_flow(machine);
  isa::Kernel kernel = function.kernel;
  kernel.name = function.name;
  backend::emit(machine, assignment, function.code, kernel);
  return kernel;
}

}  // namespace

// What orders code and repeats it makes more values live at once; without it registers may suffice.
isa::Kernel generate(const IrFunction& function, const std::string& file, const Interruption& interruption) {
  if (function.code.unroll < 2 && function.code.schedule_within == 0) {
    return generate_as_asked(function, file, interruption);
  }
  try {
    return generate_as_asked(function, file, interruption);
  } catch (const InputError&) {
    IrFunction plain = function;
    plain.code.unroll = plain.code.schedule_within = 0;
    return generate_as_asked(plain, file, interruption);
  }
}

}  // namespace heddle::ptx
