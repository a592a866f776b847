// Where variables live: module variables in global and constant memory, per-kernel scratchpad, kernel parameters.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "isa/module.hpp"
#include "ptx/ast.hpp"

namespace heddle::ptx {

// Addresses of every .global variable (final, from isa::kModuleBase on) and .const variable (offset into the constant
// bank), in the order of declaration, function-level ones behind the module's.
class ModuleLayout {
 public:
  // Fills module.variables and module.constant_bank. Throws InputError for duplicate names, undefined symbols in
  // initial values and variables that do not fit.
  ModuleLayout(const File& file, isa::Module& module);

  // Module-level variable of that name, in any space, or null.
  [[nodiscard]] const VariableDecl* variable(const std::string& name) const;
  // The function of that name that has a body, else its declaration, else null.
  [[nodiscard]] const Function* function(const std::string& name) const;
  // Of a .global or .const variable that has been laid out.
  [[nodiscard]] std::uint64_t address(const VariableDecl& variable) const { return addresses_.at(&variable); }
  // What a function is as a value: a number of its own in the window of code, 0 modulo 16 as C++'s pointers to members
  // want it. Functions behind others leave theirs as they are.
  [[nodiscard]] std::uint64_t code_address(const Function& function) const { return code_.at(&function); }
  // Which circle of functions that may call each other it belongs to; nothing: it cannot come to call itself.
  [[nodiscard]] std::optional<std::size_t> circle(const Function& function) const;
  // The functions that a call may mean: the one that it names, the ones that its prototype lists, or the ones of
  // the prototype's form whose address is taken. A null pointer for a name that no function has.
  [[nodiscard]] std::vector<const Function*> targets(const Function& caller, const Statement& call) const;
  // The functions whose address is somewhere taken and that can be called, in the order of the file.
  [[nodiscard]] const std::vector<const Function*>& addressed() const { return addressed_; }
  [[nodiscard]] bool placed(const VariableDecl& variable) const { return addresses_.count(&variable) != 0; }

 private:
  void find_addressed(const File& file);
  void find_circles(const File& file);
  void place(const File& file, const VariableDecl& variable, const std::string& name, isa::Module& module);
  void initialise(const File& file, const VariableDecl& variable, const Function* scope, isa::Variable& placed) const;

  std::map<std::string, const VariableDecl*> variables_;
  std::map<std::string, const Function*> functions_;
  std::map<const VariableDecl*, std::uint64_t> addresses_;  // looked up only, never walked
  std::map<const Function*, std::uint64_t> code_;           // likewise
  std::vector<const Function*> addressed_;
  std::map<const Function*, std::size_t> circles_;  // looked up only, never walked
  std::uint64_t global_end_ = 0;
  std::uint64_t constant_end_ = 0;
};

// A call of what a register says.
[[nodiscard]] bool is_indirect_call(const Statement& statement);

// The scratchpad of one kernel: every .shared variable that the kernel or a function it may call names; module-level
// ones first, then variables of the functions, each in the order of declaration. Unsized extern arrays lie behind all
// of them.
struct SharedLayout {
  std::map<const VariableDecl*, std::uint32_t> offsets;  // looked up only, never walked
  std::uint32_t bytes = 0;
};
[[nodiscard]] SharedLayout lay_out_shared(const File& file, const ModuleLayout& module, const Function& entry);

// Sizes and alignments of the parameters as the driver lays them out (PTX ISA, section 7.1.1: each at the next multiple
// of its alignment).
void lay_out_parameters(const File& file, const Function& entry, isa::Kernel& kernel);

[[nodiscard]] std::uint32_t alignment_of(const VariableDecl& variable);
[[nodiscard]] constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace heddle::ptx
