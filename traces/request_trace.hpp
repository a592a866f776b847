// Reads memory requests from the plain load/store text that DRAM simulators share, one request a line:
//
//   0x12345680 R        address, then R or W (also RD, WR, LD, ST, READ, WRITE, L, S, in any case)
//   LD 0x12345680       or the other way round
//   3 20734016 20846400 numbers only: cycles to wait before it, address of a load, and address of a store if there is
//                       a third one (the form that Ramulator calls a CPU trace: the number counts other instructions)
//
// Addresses and numbers are decimal, or hex behind 0x. In the first two forms a third word may say the cycle in which
// the request is to be sent, as `heddle run --memory-trace` writes it. An H behind a read's word (RH, LDH) sets its
// row-buffer hint. Empty lines, and what follows '#' or '//', are skipped.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::traces {

struct TraceRequest {
  std::uint64_t address = 0;
  bool write = false;
  bool hint = false;
  bool has_cycle = false;
  std::uint64_t cycle = 0;  // in which it is to be sent, if has_cycle
  std::uint64_t wait = 0;   // cycles after the request before
  std::uint64_t line = 0;   // of the file
};

class RequestTrace {
 public:
  // `in` outlives the reader; `name` stands in messages. Memory does not grow with the trace.
  RequestTrace(std::istream& in, std::string name);

  // The next request; false at the end. Throws InputError with file and line.
  bool next(TraceRequest& request);

 private:
  [[nodiscard]] bool next_line(std::string_view& line);
  [[nodiscard]] bool parse(std::string_view line, TraceRequest& request);
  [[noreturn]] void refuse(const std::string& message, const std::string& hint = {}) const;

  std::istream& in_;
  const std::string name_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // of what is not read yet
  std::size_t end_ = 0;
  bool ended_ = false;
  std::uint64_t line_ = 0;
  bool has_store_ = false;  // of the line just read: its store comes next
  TraceRequest store_;
};

}  // namespace heddle::traces
