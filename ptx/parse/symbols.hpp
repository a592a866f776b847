// Names: which are declared in the scopes that are open, and the unique name that each has in the flat Function.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ptx/ast.hpp"

namespace heddle::ptx {

struct Symbol {
  enum class Kind : std::uint8_t {
    reg,
    vector_register,  // .reg .v4: registers index .. index+count-1
    variable,
    parameter,
    function,
    label,
    branch_list,  // .branchtargets
    prototype     // .callprototype, .calltargets
  };
  Kind kind = Kind::label;
  std::uint32_t index = 0;  // registers: RegisterId
  std::uint32_t count = 1;  // vector registers
  std::string unique;       // name in the Function or the File
  Position at;
};

// "a register", "a label"...
[[nodiscard]] std::string_view describe(Symbol::Kind kind);

class SymbolTable {
 public:
  SymbolTable() : scopes_(1) {}

  void open() { scopes_.emplace_back(); }
  void close() { scopes_.pop_back(); }
  // Leaves the function: only the module's scope stays open, and unique names start afresh.
  void leave_function();

  [[nodiscard]] std::size_t depth() const { return scopes_.size(); }  // 1: the module's scope

  // Looks from the innermost scope outwards; null when not declared.
  [[nodiscard]] const Symbol* find(std::string_view name) const;
  [[nodiscard]] const Symbol* find_here(std::string_view name) const;  // innermost scope only

  // Declares in the innermost scope, where `name` must be new. symbol.unique is filled in unless it is set.
  const Symbol& declare(std::string_view name, Symbol symbol);

  [[nodiscard]] const Symbol* find_in_module(std::string_view name) const;
  // Declares in the module's scope, whatever scope is open.
  const Symbol& declare_in_module(std::string_view name, Symbol symbol);

  // The visible name that is closest to `name` (of one kind, if given), or ""; see base/nearest.hpp.
  [[nodiscard]] std::string nearest(std::string_view name, std::optional<Symbol::Kind> only = std::nullopt) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  using Scope = std::unordered_map<std::string, Symbol, Hash, std::equal_to<>>;

  std::string make_unique(std::string_view name);

  std::vector<Scope> scopes_;
  std::unordered_set<std::string, Hash, std::equal_to<>> used_;                   // unique names of the function
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> copies_;  // latest number given to a name
};

}  // namespace heddle::ptx
