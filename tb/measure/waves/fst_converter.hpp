// Waves as FST files: GTKWave's vcd2fst, and whether what it has made is whole.
#pragma once

#include <string>

#include "os/process/converter.hpp"

namespace heddle::tb {

// What a file cut short lacks, in words; empty: it is whole. An FST file is a row of blocks, each a byte that says its
// kind and its length as eight bytes, the most significant first, which count themselves (GTKWave's fstapi.h and
// fstapi.c). One that vcd2fst could not write to the end lacks blocks, or the last one's end.
[[nodiscard]] std::string fst_damage(const std::string& path);

[[nodiscard]] const os::ConverterProgram& fst_converter();

}  // namespace heddle::tb
