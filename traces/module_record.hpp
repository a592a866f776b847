// A compiled module as bytes: what a launch and a listing need of it, not the contents of its variables.
#pragma once

#include "isa/module.hpp"
#include "traces/bytes.hpp"

namespace heddle::traces {

void write_module(const isa::Module& module, ByteWriter& out);
// Throws Damaged.
[[nodiscard]] isa::Module read_module(ByteReader& in);

}  // namespace heddle::traces
