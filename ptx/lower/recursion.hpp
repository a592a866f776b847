// Functions that call each other in a circle (PTX ISA 7.1): their bodies are not inlined into each other, which would
// never end, but stand once for each call from outside, and calls within the circle are branches.
//
// What such a call must find again behind it goes to a stack in local memory: a frame for each call that has not
// returned. A frame begins with the function's .local variables and .param arrays; behind them are the registers of the
// function that are live behind one of its calls. A call moves the stack pointer behind the frame, writes arguments and
// the number of the place to return to into registers of the callee's, and branches there. A return is a comparison of
// that number with each place that the function can have been called from. All threads leave a circle at one place, so
// that threads which a branch within it has parted meet there at the latest, and mostly at the end of a function's
// body.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "ptx/ir.hpp"

namespace heddle::ptx {

struct Frame;

inline constexpr std::uint32_t kFrameAlignment = 16;

// A call within a circle, from a function of it.
struct CircleCall {
  LabelId back = 0;           // the place to return to
  std::size_t save = 0;       // items of IrFunction: the live registers are stored in the place of this item
  std::size_t leave = 0;      // the branch to the callee
  std::size_t restore = 0;    // they are loaded in the place of this item
  std::vector<VReg> results;  // read behind the call, before the registers are loaded
};

// A function of a circle, for one call from outside.
struct CircleMember {
  std::unique_ptr<Frame> frame;
  LabelId begin = 0, dispatch = 0;
  VReg back = kNone;  // the number of the place to return to; 0: outside
  // By parameter, and by result: the register that it is in; of an array the one that has its address.
  std::vector<VReg> parameters, results;
  std::uint32_t local_bytes = 0;                 // of its variables, at the frame's beginning
  std::uint32_t frame_bytes = 0;                 // known when all has been lowered
  std::vector<std::pair<VReg, VReg>> registers;  // made for it: from each first one on, up to before the second
  std::size_t from = 0, to = 0;                  // items of its body: from .. to - 1
  std::vector<CircleCall> calls;                 // from its body
  std::vector<std::size_t> steps;   // items that move the stack pointer by this frame, once its size is known
  std::vector<std::size_t> limits;  // items that compare with the highest place at which a frame of it has room
  std::map<const VariableDecl*, std::uint32_t> locals;  // looked up only, never walked
};

// A circle, for one call from outside.
struct Circle {
  std::size_t number = 0;            // ModuleLayout::circle
  CircleMember* outside = nullptr;   // of another circle, from whose body it is called
  CircleMember* lowering = nullptr;  // whose body is being lowered
  std::vector<std::unique_ptr<CircleMember>> members;
  struct Return {
    CircleMember* callee = nullptr;
    std::uint32_t number = 0;
    LabelId back = 0;
  };
  std::vector<Return> returns;
};

// Finds what is live behind the calls of all members, which lays their frames out, and writes loads and stores and
// frame sizes into the code. `stack`: the register that is the stack pointer; `end`: where the stack ends.
void finish_circles(IrFunction& function, const std::vector<std::unique_ptr<CircleMember>>& members, VReg stack,
                    std::uint32_t end);

}  // namespace heddle::ptx
