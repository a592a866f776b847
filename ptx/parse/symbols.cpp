#include "ptx/parse/symbols.hpp"

#include <algorithm>
#include <utility>

#include "base/nearest.hpp"

namespace heddle::ptx {

namespace {

// Both bound the time that a message takes.
constexpr std::size_t kLongestCompared = 64;
constexpr std::size_t kMostCompared = 20'000;

}  // namespace

std::string_view describe(Symbol::Kind kind) {
  switch (kind) {
    case Symbol::Kind::reg:
      return "a register";
    case Symbol::Kind::vector_register:
      return "a vector register";
    case Symbol::Kind::variable:
      return "a variable";
    case Symbol::Kind::parameter:
      return "a parameter";
    case Symbol::Kind::function:
      return "a function";
    case Symbol::Kind::label:
      return "a label";
    case Symbol::Kind::branch_list:
      return "a list of branch targets";
    case Symbol::Kind::prototype:
      return "a call prototype";
  }
  return "a name";
}

void SymbolTable::leave_function() {
  scopes_.resize(1);
  used_.clear();
  copies_.clear();
}

const Symbol* SymbolTable::find(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const auto found = scope->find(name); found != scope->end()) {
      return &found->second;
    }
  }
  return nullptr;
}

const Symbol* SymbolTable::find_here(std::string_view name) const {
  const auto found = scopes_.back().find(name);
  return found == scopes_.back().end() ? nullptr : &found->second;
}

std::string SymbolTable::make_unique(std::string_view name) {
  std::string unique(name);
  // Names of the module stay visible in functions, so that a name means one thing in the flat form, too.
  while (used_.count(unique) != 0 || (depth() > 1 && scopes_.front().count(unique) != 0)) {
    auto copy = copies_.find(name);
    if (copy == copies_.end()) {
      copy = copies_.emplace(name, 1).first;
    }
    unique = std::string(name) + "$" + std::to_string(++copy->second);
  }
  return unique;
}

const Symbol& SymbolTable::declare(std::string_view name, Symbol symbol) {
  if (symbol.unique.empty()) {
    symbol.unique = make_unique(name);
  }
  if (depth() > 1) {
    used_.insert(symbol.unique);
  }
  return scopes_.back().emplace(name, std::move(symbol)).first->second;
}

const Symbol* SymbolTable::find_in_module(std::string_view name) const {
  const auto found = scopes_.front().find(name);
  return found == scopes_.front().end() ? nullptr : &found->second;
}

const Symbol& SymbolTable::declare_in_module(std::string_view name, Symbol symbol) {
  symbol.unique = name;
  return scopes_.front().emplace(name, std::move(symbol)).first->second;
}

std::string SymbolTable::nearest(std::string_view name, std::optional<Symbol::Kind> only) const {
  std::vector<std::string> names;
  if (name.size() > kLongestCompared) {
    return {};
  }
  for (const auto& scope : scopes_) {
    for (const auto& [candidate, symbol] : scope) {
      const std::size_t longer = std::max(name.size(), candidate.size());
      const std::size_t difference = longer - std::min(name.size(), candidate.size());
      if ((!only || symbol.kind == *only) && difference <= std::max<std::size_t>(2, name.size() / 3)) {
        names.push_back(candidate);
      }
    }
  }
  // The scopes are hashed; the suggestion must not depend on that.
  std::sort(names.begin(), names.end());
  names.resize(std::min(names.size(), kMostCompared));
  return heddle::nearest(name, names).value_or("");
}

}  // namespace heddle::ptx
