// What may be put into each core of a GPU when it is built: taps on the connections within it, and stages beside its
// own. The rest of the machine stays as it is.
//
// A place. A tap stands in front of a target socket and is named by it: the name of the socket within its core, as
// waves and `heddle diagram` have it.
//
//   decode.in  register_read.in  execute.in  memory.in  writeback.in   between two neighbouring stages, stages of one's
//                                                                      own too (NAME.in)
//   writeback.returns.in                                               from memory: accesses that had been put aside
//   decode.former.form                                                 from decode: masks, and the sub-warp formed
//   registers.read_port  registers.write_port                          from register read; from write-back
//   registers.bank0.port ...                                           from the register file, by lane
//   scratchpad.access  private_memory.access                           from memory
//   icache.cpu  l1d.cpu  texture.cpu  constant_cache.cpu               from fetch; from memory
//
// Where a core has several sub-cores the stages' places begin with the sub-core's name (sub1.decode.in), and what they
// share has places for each of them besides: l1d_ports.in_1, scratchpad_ports.in_1; l0i.cpu, l0c.cpu with L0s. A unit
// for copies in bulk has bulk_copies.in_1 and so on, and the last of those ports.
//
// What stands at a place sees every transaction there, in its cycle, with all cores in the calling thread, and a core
// lets no sub-warp by past it (hw/core/pipeline/pipeline.hpp). What hands calls on unchanged changes nothing else. Data
// of register file, scratchpad and private memory go by direct memory, which is granted through it. Where there is none
// the two ends are bound to each other, and nothing is paid. A core is advanced by its own calendar: what stands within
// it does its part in the calls, and answers none later.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hw/core/front/former_module.hpp"
#include "hw/core/pipeline/stage.hpp"
#include "hw/core/share/bulk_copy_protocol.hpp"
#include "hw/private_memory/private_memory.hpp"
#include "hw/registers/register_file.hpp"
#include "hw/scratchpad/scratchpad.hpp"
#include "hw/state/core_state.hpp"
#include "tlm/clock.hpp"
#include "tlm/line_protocol.hpp"
#include "tlm/protocol_tap.hpp"
#include "tlm/warp_protocol.hpp"

namespace heddle::hw {

struct CorePlace {
  unsigned core = 0;
  std::string socket;  // "decode.in"

  // "core0_decode_in": fit for a module's name.
  [[nodiscard]] std::string text() const;
};

struct CoreExtension {
  // Asked once for every place of its protocol in every core while the GPU is built; null: the two ends are bound to
  // each other directly.
  template <class Protocol>
  using MakeTap = std::function<std::unique_ptr<link::TapOf<Protocol>>(const CorePlace& place, link::Clock clock)>;
  MakeTap<link::WarpProtocol> sub_warps;
  MakeTap<FormerProtocol> former;
  MakeTap<RegisterProtocol> registers;
  MakeTap<BankProtocol> banks;
  MakeTap<ScratchpadProtocol> scratchpad;
  MakeTap<PrivateProtocol> private_memory;
  MakeTap<link::LineProtocol> lines;
  MakeTap<BulkCopyProtocol> bulk_copies;

  // A stage that has an output, in front of the stage of that name: it is joined, advanced and emptied with the others,
  // and latencies follow. Several in front of one stand in their order here. Asked once for every core.
  struct Stage {
    std::string before;  // "decode"
    std::function<std::unique_ptr<ReceivingStage>(CoreState& state, link::Clock clock)> make;
  };
  std::vector<Stage> stages;

  [[nodiscard]] bool empty() const {
    return !sub_warps && !former && !registers && !banks && !scratchpad && !private_memory && !lines && !bulk_copies &&
           stages.empty();
  }
};

}  // namespace heddle::hw
