// What a CUDA program and the simulator that runs its kernels say to each other over a stream socket: the program asks,
// the simulator answers, one question at a time. Both are on one host, so numbers are as they lie in memory. The
// program's side is cuda/cudart, which has nothing of Heddle's but this file.
#pragma once

#include <cstdint>

namespace heddle::cudart {

inline constexpr std::uint64_t kProtocolVersion = 10;
// CUDA's own: "1": a launch waits for its kernel.
inline constexpr const char* kBlockingVariable = "CUDA_LAUNCH_BLOCKING";
// Says a program which socket (a path) the simulator listens at.
inline constexpr const char* kSocketVariable = "HEDDLE_SOCKET";
// What a program that is started by itself runs on, and further words for `heddle exec`.
inline constexpr const char* kConfigVariable = "HEDDLE_CONFIG";
inline constexpr const char* kOptionsVariable = "HEDDLE_EXEC_OPTIONS";
inline constexpr const char* kProgramVariable = "HEDDLE_PROGRAM";
// What a fault does to the program: "end" (default) or "return".
inline constexpr const char* kErrorsVariable = "HEDDLE_ERRORS";
// "no": the program does not map device memory, so that copies go by the ways that are left (for tests of these ways).
inline constexpr const char* kShareVariable = "HEDDLE_SHARE_MEMORY";

// The words of each question, and of its answer behind "->". Sizes are bytes, times nanoseconds.
enum class Call : std::uint32_t {
  hello,     // version -> MachineFacts as bytes
  unit,      // relocatable; bytes: the PTX text of one fat binary. Before the first other question than hello
  begin,     // all units are told; they are compiled
  module,    // at any time; bytes: a PTX text that the program loads. Counts as a unit. Refused: it does not
  function,  // unit; bytes: name -> id, registers, static shared, local, most threads, parameter bytes; bytes: per
             // parameter its offset and size as 32-bit numbers
  symbol,    // unit; bytes: name -> address, size
  allocate,  // size, kind (AllocationKind), address of the host's -> address
  release,   // address
  write,     // address, pitch, width, height, stream; bytes: rows without gaps
  read,      // address, pitch, width, height, stream -> bytes: rows without gaps
  fill,      // address, pitch, width, height, stream, value, its bytes (1, 2 or 4; the width is a multiple of them)
  copy,      // to, pitch, from, pitch, width, height, stream
  // function, grid.x | grid.y << 32, grid.z | block.x << 32, block.y | block.z << 32, shared, stream, preferred part of
  // the scratchpad in percent plus 1 (0: none); bytes: arguments. The answer comes before the kernel runs, and says
  // only whether it can: a fault is told by what is asked next. It may be put off until something depends on it
  launch,
  occupancy,           // function, threads of a block, shared, preferred part of the scratchpad plus 1 -> blocks
  memory,              // -> free, total
  heap,                // its limit, or kAsIs -> the limit
  stream_create,       // does not wait for stream 0 -> stream
  stream_destroy,      // stream
  stream_synchronize,  // stream
  stream_query,        // stream
  stream_wait,         // stream, event
  event_create,        // -> event
  event_destroy,       // event
  event_record,        // event, stream
  event_synchronize,   // event
  event_query,         // event
  event_elapsed,       // event, event -> nanoseconds, as a double's bits
  synchronize,         // everything
  share,  // -> bytes of the file that holds device memory; 0: there is none. In front of the answer comes one byte, and
          // with it the file's descriptor, if there is one (SocketEnd::send_descriptor)
  resume,   // over a new connection, where the program has closed the one before: how many questions were sent, whether
            // one was lost in its middle ->
  end,      // the program ends. No answer
  texture,  // address of a reference (0: none) that gets the handle, handle to forget (0: none); bytes: TextureFacts,
            // or none -> handle (0 without facts)
  stack,    // bytes of it that a thread has for recursion, or kAsIs -> the bytes
};

// Managed memory is the host's at the same address, in whole pages. Memory of the host's is there already, at the same
// address too, within kHostMemory: the program's pinned memory, which takes nothing of the device's.
enum class AllocationKind : std::uint64_t { device, managed, host };
inline constexpr std::uint64_t kHostMemory = 0x20'0000'0000;     // above all that is allocated on the device
inline constexpr std::uint64_t kHostMemoryEnd = 0x40'0000'0000;  // local memory's (isa/memory_map.hpp)

inline constexpr std::uint64_t kAsIs = ~std::uint64_t{0};

// A stream of transfers that take no time: managed memory.
inline constexpr std::uint64_t kUnobserved = ~std::uint64_t{0};

// Flags of questions.
inline constexpr std::uint32_t kAsynchronous = 1;  // the host does not wait for it
// write, read: the rows, without gaps, are not sent, but lie in the program's memory, at the address in words[5]. The
// answer's words[0] is 1 if the system does not let the simulator reach them: ask again without the flag.
inline constexpr std::uint32_t kByAddress = 2;
// write, read: the rows are not sent, and the program copies them itself, from or into the file of share, before it
// asks anything else. The answer's bytes are the Places of all that lies from the first row's beginning to the last
// one's end. The answer's words[0] is 1 if they are not in the file: ask otherwise.
inline constexpr std::uint32_t kShared = 8;
// launch: cooperative, so that all blocks must be resident at once.
inline constexpr std::uint32_t kCooperative = 4;
// launch: no answer is wanted, since one with the same words and flags was taken before. If it is refused all the same,
// the next answer says so.
inline constexpr std::uint32_t kUnanswered = 16;

// What a message is known by, so that bytes that something else in the program has sent are not taken for one: a mark
// and the question's number, from 1 on.
inline constexpr std::uint64_t kMark = std::uint64_t{0x77656674} << 32U;
[[nodiscard]] constexpr std::uint64_t mark_of(std::uint64_t number) {
  return kMark | (number & 0xffff'ffffU);
}
inline constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 32U;  // of one message: device memory has no more
inline constexpr std::uint64_t kMostText = 1U << 24U;                 // of an answer's message for the user
// launch: only whether it can be done; nothing is launched.
inline constexpr std::uint32_t kOnlyAsked = 32;

struct Question {
  Call call = Call::hello;
  std::uint32_t flags = 0;
  std::uint64_t words[8] = {};
  std::uint64_t bytes = 0;  // that follow
  std::uint64_t mark = 0;   // mark_of(its number)
};

struct Answer {
  std::int32_t error = 0;  // cudaError_t
  std::uint32_t text = 0;  // bytes of a message for the user that follow, and behind them
  std::uint64_t words[8] = {};
  std::uint64_t printed = 0;  // bytes that kernels have printed since the last answer, which follow
  std::uint64_t bytes = 0;    // of the answer, which follow behind the printed ones
  std::uint64_t mark = 0;     // the question's
};

// Bytes of device memory, one place behind the other.
struct Place {
  std::uint64_t offset = 0;  // in the file of Call::share
  std::uint64_t bytes = 0;
};
inline constexpr std::uint64_t kNowhere = ~std::uint64_t{0};  // as an offset: never written, zeros

// A texture or surface: texels in device memory and how they are sampled (isa/texture.hpp; numbers as there).
struct TextureFacts {
  std::uint64_t base = 0;
  std::uint32_t width = 0, height = 0, pitch = 0;
  std::uint32_t channels = 0, channel_bytes = 0, kind = 0;
  std::uint32_t address_x = 0, address_y = 0;
  std::uint32_t linear = 0, normalized_values = 0, normalized_coordinates = 0, zero_outside = 0;
};

// The machine, as device properties need it.
struct MachineFacts {
  char name[128] = {};
  std::uint64_t memory_bytes = 0;
  std::uint64_t shared_bytes = 0;    // scratchpad of a core
  std::uint64_t constant_bytes = 0;  // constant memory of a module
  std::uint32_t cores = 0;
  std::uint32_t core_threads = 0;
  std::uint32_t most_block[3] = {};  // threads; the first is the most of a whole block, too
  std::uint32_t most_grid[3] = {};   // blocks
  std::uint32_t core_blocks = 0;
  std::uint32_t core_registers = 0;
  std::uint32_t thread_registers = 0;
  std::uint32_t architecture = 0;  // the compute capability: 90 for 9.0
  std::uint32_t warp_lanes = 0;    // threads of a warp, on which votes and shuffles work
  std::uint32_t clock_khz = 0;
  std::uint32_t memory_khz = 0;
  std::uint32_t memory_bits = 0;
  std::uint32_t l2_bytes = 0;
  std::uint32_t cooperates = 0;   // cooperative launches are possible
  std::uint32_t keeps_going = 0;  // faults are error codes, and do not end the program
};

}  // namespace heddle::cudart
