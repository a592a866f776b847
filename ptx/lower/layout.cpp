#include "ptx/lower/layout.hpp"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>
#include <set>

#include "isa/memory_map.hpp"

namespace heddle::ptx {
namespace {

[[noreturn]] void refuse(const File& file, const Position& at, const std::string& message, const std::string& hint) {
  throw InputError({file.name, at.line, at.column}, message, hint);
}

// Every name that operands mention.
void collect(const Operand& operand, std::set<std::string>& names) {
  if (!operand.name.empty()) names.insert(operand.name);
  for (const Operand& element : operand.elements) collect(element, names);
}

// Functions that entry reaches, itself included, with the names each of them mentions; in the order of the file.
std::vector<std::pair<const Function*, std::set<std::string>>> reach(const File& file, const ModuleLayout& module,
                                                                     const Function& entry) {
  std::set<const Function*> reached = {&entry};
  std::vector<const Function*> work = {&entry};
  std::map<const Function*, std::set<std::string>> names;
  while (!work.empty()) {
    const Function* function = work.back();
    work.pop_back();
    auto& mentioned = names[function];
    for (const Statement& statement : function->body) {
      for (const Operand& operand : statement.operands) collect(operand, mentioned);
    }
    for (const std::string& name : mentioned) {
      const Function* callee = module.function(name);
      if (callee != nullptr && reached.insert(callee).second) work.push_back(callee);
    }
    if (std::none_of(function->body.begin(), function->body.end(), is_indirect_call)) continue;
    for (const Function* callee : module.addressed()) {
      if (reached.insert(callee).second) work.push_back(callee);
    }
  }
  std::vector<std::pair<const Function*, std::set<std::string>>> result;
  for (const Function& function : file.functions) {
    if (reached.count(&function) != 0) result.emplace_back(&function, std::move(names[&function]));
  }
  return result;
}

}  // namespace

std::uint32_t alignment_of(const VariableDecl& variable) {
  return variable.alignment != 0 ? variable.alignment : isa::size_of(variable.type) * variable.vector;
}

bool is_indirect_call(const Statement& statement) {
  return statement.kind == Statement::Kind::instruction && statement.opcode == "call" &&
         std::any_of(statement.operands.begin(), statement.operands.end(),
                     [](const Operand& operand) { return operand.kind == Operand::Kind::reg; });
}

// A name that is not the target of a call stands for the address.
void ModuleLayout::find_addressed(const File& file) {
  std::set<const Function*> taken;
  const auto take = [&](const std::string& name) {
    if (name.empty()) return;
    if (const Function* found = function(name)) taken.insert(found);
  };
  const auto take_from = [&](const VariableDecl& variable) {
    for (const Relocation& relocation : variable.relocations) take(relocation.symbol);
  };
  for (const VariableDecl& variable : file.variables) take_from(variable);
  for (const Function& function : file.functions) {
    for (const VariableDecl& variable : function.variables) take_from(variable);
    for (const Statement& statement : function.body) {
      if (statement.opcode == "call") continue;
      for (const Operand& operand : statement.operands) take(operand.name);
    }
  }
  for (const Function& function : file.functions) {
    if (function.has_body && !function.is_entry && taken.count(&function) != 0) addressed_.push_back(&function);
  }
}

namespace {

bool alike(const std::vector<ParameterDecl>& a, const std::vector<ParameterDecl>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const ParameterDecl& one, const ParameterDecl& other) {
    return one.is_array == other.is_array &&
           one.count * isa::size_of(one.type) == other.count * isa::size_of(other.type);
  });
}

}  // namespace

std::vector<const Function*> ModuleLayout::targets(const Function& caller, const Statement& call) const {
  std::vector<const Function*> found;
  const auto add = [&](const std::string& name) {
    const Function* const named = function(name);
    if (std::find(found.begin(), found.end(), named) == found.end()) found.push_back(named);
  };
  std::size_t at = 0;
  const std::vector<Operand>& operands = call.operands;
  if (at < operands.size() && operands[at].kind == Operand::Kind::call_list) ++at;
  if (at < operands.size() && operands[at].kind != Operand::Kind::reg) add(operands[at].name);
  if (!is_indirect_call(call)) return found;
  const std::string& wanted = operands.back().name;
  for (const CallPrototype& prototype : caller.prototypes) {
    if (prototype.name != wanted) continue;
    for (const std::string& name : prototype.targets) add(name);
    if (!prototype.targets.empty()) return found;
    for (const Function* one : addressed_) {
      if (alike(one->returns, prototype.returns) && alike(one->parameters, prototype.parameters)) found.push_back(one);
    }
    return found;
  }
  if (const VariableDecl* const table = variable(wanted)) {
    for (const Relocation& relocation : table->relocations) add(relocation.symbol);
  }
  return found;
}

void ModuleLayout::find_circles(const File& file) {
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;
  std::map<const Function*, std::size_t> number;
  for (const Function& function : file.functions) number.emplace(&function, number.size());
  Graph graph(number.size());
  std::set<const Function*> own;  // that call themselves
  for (const Function& function : file.functions) {
    for (const Statement& statement : function.body) {
      if (statement.kind != Statement::Kind::instruction || statement.opcode != "call") continue;
      for (const Function* callee : targets(function, statement)) {
        if (callee == nullptr) continue;
        if (callee == &function) own.insert(callee);
        boost::add_edge(number.at(&function), number.at(callee), graph);
      }
    }
  }
  std::vector<std::size_t> circle(number.size());
  std::vector<std::size_t> size(boost::strong_components(
      graph, boost::make_iterator_property_map(circle.begin(), boost::get(boost::vertex_index, graph))));
  for (const std::size_t one : circle) ++size[one];
  for (const auto& [function, at] : number) {
    if (size[circle[at]] > 1 || own.count(function) != 0) circles_.emplace(function, circle[at]);
  }
}

std::optional<std::size_t> ModuleLayout::circle(const Function& function) const {
  const auto found = circles_.find(&function);
  return found == circles_.end() ? std::nullopt : std::optional(found->second);
}

ModuleLayout::ModuleLayout(const File& file, isa::Module& module) : global_end_(isa::kModuleBase) {
  for (const VariableDecl& variable : file.variables) {
    const auto [found, fresh] = variables_.emplace(variable.name, &variable);
    if (fresh) continue;
    if (!found->second->is_extern && !variable.is_extern) {
      refuse(file, variable.at, "variable '" + variable.name + "' is declared twice", "rename one of them");
    }
    if (found->second->is_extern) found->second = &variable;
  }
  for (const Function& function : file.functions) {
    const auto [found, fresh] = functions_.emplace(function.name, &function);
    if (fresh) continue;
    if (found->second->has_body && function.has_body) {
      refuse(file, function.at, "function '" + function.name + "' is defined twice", "rename one of them");
    }
    if (function.has_body) found->second = &function;
  }
  constexpr std::uint64_t kStep = 16;
  for (const Function& function : file.functions) {
    code_.emplace(&function, isa::kCodeBase + kStep * (code_.size() + 1));
  }
  find_addressed(file);
  find_circles(file);
  struct Pending {
    const VariableDecl* variable;
    const Function* scope;
  };
  std::vector<Pending> pending;
  const auto add = [&](const VariableDecl& variable, const Function* scope, const std::string& name) {
    const bool memory = variable.space == isa::Space::global || variable.space == isa::Space::constant;
    if (!memory || (variable.is_extern && variable.count == 0)) return;
    if (variable.is_extern) return;  // refused where it is used
    place(file, variable, name, module);
    pending.push_back({&variable, scope});
  };
  for (const VariableDecl& variable : file.variables) {
    if (variables_.at(variable.name) == &variable) add(variable, nullptr, variable.name);
  }
  for (const Function& function : file.functions) {
    for (const VariableDecl& variable : function.variables) {
      add(variable, &function, function.name + "." + variable.name);
    }
  }
  // Addresses are all known now, so that initial values may point forwards.
  module.constant_bank.assign(constant_end_, 0);
  for (std::size_t i = 0; i < pending.size(); ++i) {
    isa::Variable& placed = module.variables[i];
    initialise(file, *pending[i].variable, pending[i].scope, placed);
    if (placed.space == isa::Space::constant) {
      std::copy(placed.initial.begin(), placed.initial.end(),
                module.constant_bank.begin() + static_cast<std::ptrdiff_t>(placed.address));
    }
  }
}

void ModuleLayout::place(const File& file, const VariableDecl& variable, const std::string& name, isa::Module& module) {
  const bool constant = variable.space == isa::Space::constant;
  std::uint64_t& end = constant ? constant_end_ : global_end_;
  const std::uint64_t limit = constant ? isa::kWindowSize : isa::kGlobalBase;
  const std::uint64_t address = round_up(end, alignment_of(variable));
  const std::uint64_t size = variable.size();
  if (variable.count > limit || address > limit || size > limit - address) {
    refuse(file, variable.at, "variable '" + variable.name + "' does not fit",
           constant ? "constant memory holds 16 MiB" : "module variables hold 176 MiB; allocate a buffer instead");
  }
  end = address + size;
  addresses_.emplace(&variable, address);
  isa::Variable placed;
  placed.name = name;
  placed.space = variable.space;
  placed.address = address;
  placed.size = size;
  placed.alignment = alignment_of(variable);
  module.variables.push_back(std::move(placed));
}

void ModuleLayout::initialise(const File& file, const VariableDecl& variable, const Function* scope,
                              isa::Variable& placed) const {
  placed.initial = variable.initial;
  if (variable.relocations.empty()) return;
  placed.initial.resize(variable.size(), 0);
  for (const Relocation& relocation : variable.relocations) {
    const VariableDecl* target = nullptr;
    if (scope != nullptr) {
      for (const VariableDecl& local : scope->variables) {
        if (local.name == relocation.symbol) target = &local;
      }
    }
    if (target == nullptr) target = this->variable(relocation.symbol);
    const Function* const code = target == nullptr ? function(relocation.symbol) : nullptr;
    if (target == nullptr && code == nullptr) {
      refuse(file, relocation.at, "the initial value names the unknown symbol '" + relocation.symbol + "'",
             "declare the variable before its address is taken");
    }
    if (code == nullptr && !this->placed(*target)) {
      refuse(file, relocation.at,
             "the initial value is the address of '" + relocation.symbol +
                 "', which is no .global or .const variable of this file",
             "store the address from inside the kernel");
    }
    std::uint64_t value = code != nullptr ? code_address(*code) : address(*target);
    value += static_cast<std::uint64_t>(relocation.addend);
    if (relocation.generic && target != nullptr && target->space == isa::Space::constant) value += isa::kConstantWindow;
    if (relocation.offset + relocation.size > placed.initial.size()) {
      refuse(file, relocation.at, "the initial value lies outside '" + variable.name + "'", "enlarge the array");
    }
    for (unsigned byte = 0; byte < relocation.size; ++byte) {
      placed.initial[relocation.offset + byte] = static_cast<std::uint8_t>(value >> (8U * byte));
    }
  }
}

const VariableDecl* ModuleLayout::variable(const std::string& name) const {
  const auto found = variables_.find(name);
  return found == variables_.end() ? nullptr : found->second;
}

const Function* ModuleLayout::function(const std::string& name) const {
  const auto found = functions_.find(name);
  return found == functions_.end() ? nullptr : found->second;
}

SharedLayout lay_out_shared(const File& file, const ModuleLayout& module, const Function& entry) {
  SharedLayout layout;
  std::vector<const VariableDecl*> used;
  const auto functions = reach(file, module, entry);
  for (const VariableDecl& variable : file.variables) {
    if (variable.space != isa::Space::shared || module.variable(variable.name) != &variable) continue;
    for (const auto& [function, names] : functions) {
      if (names.count(variable.name) != 0) {
        used.push_back(&variable);
        break;
      }
    }
  }
  for (const auto& [function, names] : functions) {
    for (const VariableDecl& variable : function->variables) {
      if (variable.space == isa::Space::shared && names.count(variable.name) != 0) used.push_back(&variable);
    }
  }
  std::uint64_t end = 0;
  for (const VariableDecl* variable : used) {
    if (variable->count == 0) continue;
    const std::uint64_t offset = round_up(end, alignment_of(*variable));
    if (variable->count > isa::kWindowSize || variable->size() > isa::kWindowSize - offset) {
      refuse(file, variable->at, "shared variable '" + variable->name + "' does not fit", "make it smaller");
    }
    layout.offsets.emplace(variable, static_cast<std::uint32_t>(offset));
    end = offset + variable->size();
  }
  layout.bytes = static_cast<std::uint32_t>(end);
  for (const VariableDecl* variable : used) {
    if (variable->count == 0) layout.offsets.emplace(variable, static_cast<std::uint32_t>(round_up(end, 16)));
  }
  return layout;
}

void lay_out_parameters(const File& file, const Function& entry, isa::Kernel& kernel) {
  constexpr std::uint64_t kLimit = 1U << 16U;  // PTX allows 32764 bytes at most; this guards the arithmetic
  std::uint64_t end = 0;
  for (const ParameterDecl& declared : entry.parameters) {
    const unsigned element = isa::size_of(declared.type);
    if (declared.is_register) {
      refuse(file, declared.at, "parameter '" + declared.name + "' of an entry is a register",
             "declare it in the .param space");
    }
    isa::Parameter parameter;
    parameter.name = declared.name;
    parameter.type = declared.type;
    parameter.alignment = declared.alignment != 0 ? declared.alignment : element;
    const std::uint64_t offset = round_up(end, parameter.alignment);
    if (declared.count > kLimit || offset + declared.count * element > kLimit) {
      refuse(file, declared.at, "the parameters of '" + entry.name + "' exceed 64 KiB", "pass a pointer to a buffer");
    }
    parameter.offset = static_cast<std::uint32_t>(offset);
    parameter.size = static_cast<std::uint32_t>(declared.count * element);
    end = offset + parameter.size;
    kernel.parameters.push_back(std::move(parameter));
  }
  kernel.parameter_bytes = static_cast<std::uint32_t>(end);
}

}  // namespace heddle::ptx
