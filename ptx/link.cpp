#include "ptx/link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "base/error.hpp"

namespace heddle::ptx {
namespace {

using Names = std::map<std::string, std::string>;

struct Shift {
  std::uint32_t lines = 0;
  std::uint32_t files = 0;
  void apply(Position& at) const {
    at.line += lines;
    if (at.source_file != 0) at.source_file += files;
  }
};

// Gives the positions and names of one unit their meaning in the whole.
class Rewriter {
 public:
  Rewriter(const Names& names, const Shift& shift) : names_(names), shift_(shift) {}

  void variable(VariableDecl& variable, const std::set<std::string>& hidden) const {
    shift_.apply(variable.at);
    for (Relocation& relocation : variable.relocations) {
      shift_.apply(relocation.at);
      rename(relocation.symbol, hidden);
    }
  }

  void function(Function& function) const {
    // The function's own names hide names of the module.
    std::set<std::string> hidden;
    for (ParameterDecl& parameter : function.parameters) own(parameter, hidden);
    for (ParameterDecl& result : function.returns) own(result, hidden);
    for (const VariableDecl& variable : function.variables) hidden.insert(variable.name);
    for (VariableDecl& variable : function.variables) this->variable(variable, hidden);
    shift_.apply(function.at);
    for (auto& [text, at] : function.pragmas) shift_.apply(at);
    for (CallPrototype& prototype : function.prototypes) {
      for (std::string& target : prototype.targets) rename(target, hidden);
    }
    for (Statement& statement : function.body) {
      shift_.apply(statement.at);
      for (Operand& operand : statement.operands) this->operand(operand, hidden);
    }
    rename(function.name, {});
  }

  void rename(std::string& name, const std::set<std::string>& hidden) const {
    const auto found = names_.find(name);
    if (found != names_.end() && hidden.count(name) == 0) name = found->second;
  }

 private:
  void own(ParameterDecl& parameter, std::set<std::string>& hidden) const {
    shift_.apply(parameter.at);
    hidden.insert(parameter.name);
  }

  void operand(Operand& operand, const std::set<std::string>& hidden) const {
    shift_.apply(operand.at);
    if (operand.kind != Operand::Kind::label) rename(operand.name, hidden);
    for (Operand& element : operand.elements) this->operand(element, hidden);
  }

  const Names& names_;
  const Shift& shift_;
};

class Linker {
 public:
  File link(std::vector<LinkUnit> units, ChangedNames& changed) {
    changed.assign(units.size(), {});
    Shift shift;
    for (std::size_t i = 0; i < units.size(); ++i) {
      add(units[i], i + 1, shift, changed[i]);
      shift.lines += units[i].lines;
    }
    return std::move(out_);
  }

 private:
  // What a name is defined as, and whether others may mean it.
  struct Definition {
    bool relocatable = false;
    Linkage linkage = Linkage::local;
  };

  void add(LinkUnit& unit, std::size_t number, Shift& shift, Names& renamed) {
    File& file = unit.file;
    if (number == 1) {
      out_.name = file.name;
      out_.target = file.target;
      out_.address_size = file.address_size;
      out_.source_files = {""};
    } else if (file.address_size != out_.address_size) {
      throw InputError({file.name},
                       fmt::format("has addresses of {} bits, other device code of the program {}", file.address_size,
                                   out_.address_size),
                       "compile all of it for the same size");
    }
    if (std::tie(file.version_major, file.version_minor) > std::tie(out_.version_major, out_.version_minor)) {
      out_.version_major = file.version_major;
      out_.version_minor = file.version_minor;
    }
    shift.files = static_cast<std::uint32_t>(out_.source_files.size()) - 1;
    if (!file.source_files.empty()) {
      out_.source_files.insert(out_.source_files.end(), file.source_files.begin() + 1, file.source_files.end());
    }
    std::set<std::string> dropped;
    const auto consider = [&](const std::string& name, Linkage linkage) {
      const Definition mine{unit.relocatable, linkage};
      const auto [known, fresh] = defined_.emplace(name, mine);
      if (fresh) return;
      const bool shared = mine.relocatable && known->second.relocatable && linkage != Linkage::local &&
                          known->second.linkage != Linkage::local;
      if (!shared) {
        renamed[name] = fmt::format("{}.{}", name, number);
        defined_.emplace(renamed[name], Definition{false, Linkage::local});
      } else if (linkage == Linkage::weak) {
        dropped.insert(name);
      } else if (known->second.linkage == Linkage::weak) {
        forget(name);  // a strong definition takes the weak one's place
        known->second = mine;
      }
    };
    for (const VariableDecl& variable : file.variables) {
      if (!variable.is_extern) consider(variable.name, variable.linkage);
    }
    for (const Function& function : file.functions) {
      if (function.has_body) consider(function.name, function.linkage);
    }
    const Rewriter rewriter(renamed, shift);
    for (VariableDecl& variable : file.variables) {
      if (dropped.count(variable.name) != 0) continue;
      rewriter.rename(variable.name, {});
      rewriter.variable(variable, {});
      take(std::move(variable));
    }
    for (Function& function : file.functions) {
      if (dropped.count(function.name) != 0) continue;
      rewriter.function(function);
      take(std::move(function));
    }
  }

  void forget(const std::string& name) {
    std::erase_if(out_.variables, [&](const VariableDecl& variable) { return variable.name == name; });
    std::erase_if(out_.functions, [&](const Function& function) { return function.name == name; });
  }

  // A definition takes the place of a declaration.
  void take(VariableDecl variable) {
    const auto known = std::find_if(out_.variables.begin(), out_.variables.end(), [&](const VariableDecl& other) {
      return other.name == variable.name && (other.is_extern || variable.is_extern);
    });
    if (known == out_.variables.end()) {
      out_.variables.push_back(std::move(variable));
    } else if (known->is_extern) {
      // Dynamic scratchpad of several files is one array, aligned as the strictest of them wants it.
      const std::uint32_t alignment = std::max(known->alignment, variable.alignment);
      if (!variable.is_extern) *known = std::move(variable);
      known->alignment = alignment;
    }
  }
  void take(Function function) {
    const auto known = std::find_if(out_.functions.begin(), out_.functions.end(), [&](const Function& other) {
      return other.name == function.name && !(other.has_body && function.has_body);
    });
    if (known == out_.functions.end()) {
      out_.functions.push_back(std::move(function));
    } else if (function.has_body) {
      *known = std::move(function);
    }
  }

  File out_;
  std::map<std::string, Definition> defined_;
};

}  // namespace

File link(std::vector<LinkUnit> units, ChangedNames& changed) {
  return Linker().link(std::move(units), changed);
}

}  // namespace heddle::ptx
