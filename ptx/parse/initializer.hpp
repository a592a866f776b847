// Initial values of variables (PTX ISA 5.4.4): nested braces, numbers, addresses of symbols.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/ast.hpp"
#include "ptx/parse/stream.hpp"
#include "ptx/parse/symbols.hpp"

namespace heddle::ptx {

// Parses what stands behind '='. `sizes` are the array's dimensions, none for a scalar; with `open` the first one
// follows from the value. Sets decl.initial (exactly decl.size() bytes; what is not given is zero), decl.relocations
// and, for open arrays, decl.count. `total` counts the initialised bytes of the file, which are limited.
void parse_initializer(TokenStream& in, const SymbolTable& symbols, const std::vector<std::uint64_t>& sizes, bool open,
                       VariableDecl& decl, std::uint64_t& total);

}  // namespace heddle::ptx
