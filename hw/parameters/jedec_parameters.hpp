// The [jedec] section of a machine: DRAM command timing.
#pragma once

#include <string_view>

#include "base/parameter.hpp"

namespace heddle::hw {

// Minimum distances between DRAM commands, in clocks of the DRAM; 0: as dram.preset has it (hw/dram/jedec.hpp).
struct JedecParameters {
  unsigned tck_ps = 0;
  unsigned pseudo_channels = 0;
  unsigned bank_groups = 0;
  unsigned burst_bytes = 0;
  unsigned burst = 0;
  unsigned cl = 0;
  unsigned cwl = 0;
  unsigned trcd_rd = 0;
  unsigned trcd_wr = 0;
  unsigned trp = 0;
  unsigned tras = 0;
  unsigned trc = 0;
  unsigned tccd_s = 0;
  unsigned tccd_l = 0;
  unsigned trrd_s = 0;
  unsigned trrd_l = 0;
  unsigned tfaw = 0;
  unsigned twr = 0;
  unsigned twtr_s = 0;
  unsigned twtr_l = 0;
  unsigned trtp = 0;
  unsigned trtw = 0;
  unsigned trefi = 0;
  unsigned trfc = 0;
  bool refresh = true;

  template <class Visitor>
  void describe(Visitor& visit) {
    visit("tck_ps", tck_ps, Limits::between(0, 100000), "ps", "clock period of the DRAM's commands");
    visit("pseudo_channels", pseudo_channels, Limits::between(0, 4), "pseudo channels",
          "parts of a channel with a data bus and banks each, which share its command buses (HBM); the lowest bits of "
          "the bank's number name the part");
    visit("bank_groups", bank_groups, Limits::between(0, 64), "groups",
          "of a pseudo channel; the bits of the bank's number above those of its pseudo channel name its group; 1: "
          "none");
    visit("burst_bytes", burst_bytes, Limits::between(0, 128), "bytes",
          "moved by one column command; a line takes as many commands as it needs");
    describe_clocks(*this, [&](std::string_view key, unsigned& field, std::string_view meaning) {
      visit(key, field, Limits::between(0, 1000000), "clocks", meaning);
    });
    visit("refresh", refresh, Limits::any(), "", "false: no refresh");
  }

  // clocks(name, field, meaning) for every field that counts clocks; `self` may be const.
  template <class Self, class Visitor>
  static void describe_clocks(Self& self, Visitor&& clocks) {
    clocks("burst", self.burst, "data bus time of one column command");
    clocks("cl", self.cl, "CL: read command to its first data");
    clocks("cwl", self.cwl, "CWL: write command to its first data");
    clocks("trcd_rd", self.trcd_rd, "tRCD: activation to read");
    clocks("trcd_wr", self.trcd_wr, "tRCD: activation to write");
    clocks("trp", self.trp, "tRP: precharge to activation");
    clocks("tras", self.tras, "tRAS: activation to precharge");
    clocks("trc", self.trc, "tRC: activation to activation of one bank");
    clocks("tccd_s", self.tccd_s, "tCCD_S: column command to the next of its kind, other bank group");
    clocks("tccd_l", self.tccd_l, "tCCD_L: column command to the next of its kind, same bank group");
    clocks("trrd_s", self.trrd_s, "tRRD_S: activation to activation, other bank group");
    clocks("trrd_l", self.trrd_l, "tRRD_L: activation to activation, same bank group");
    clocks("tfaw", self.tfaw, "tFAW: a window that holds at most four activations");
    clocks("twr", self.twr, "tWR: end of write data to precharge");
    clocks("twtr_s", self.twtr_s, "tWTR_S: end of write data to read, other bank group");
    clocks("twtr_l", self.twtr_l, "tWTR_L: end of write data to read, same bank group");
    clocks("trtp", self.trtp, "tRTP: read to precharge");
    clocks("trtw", self.trtw, "read to write command: the bus turns round");
    clocks("trefi", self.trefi, "tREFI: from one refresh to the next");
    clocks("trfc", self.trfc, "tRFC: refresh to the next command");
  }
};

}  // namespace heddle::hw
