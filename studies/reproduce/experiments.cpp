#include "studies/reproduce/experiments.hpp"

#include <algorithm>

namespace heddle::studies {

const std::vector<Experiments>& all_experiments() {
  static const std::vector<Experiments> all = {
      {{"2lev-avg", "2lev-idle", "2lev-rules", "lwm-2lev-avg", "lwm-2lev-preserved", "2lev-group", "2lev-rowhit",
        "2lev-large-warps", "lwm-2lev-group", "2lev-complex"},
       {"2lev-causes", "2lev-drift"}},
      {{"tbc-srr"}, {"tbc-srr-causes"}},
      {{"lwm-perfect-rf"}, {"columns-causes", "perfect-rf-causes"}},
      {{"adaptive-2lev"}, {"adaptive-causes"}},
      {{"ccws"}, {"ccws-32"}},
      {{"dws-characterisation"}, {"dws-full-assoc", "dws-fft"}},
      {{"dws-long-misses"}, {"dws-long-causes"}},
      {{"dws-branch", "dws-mem", "dws-full", "dws-slip", "dws-stall", "dws-slots", "dws-wst", "dws-width",
        "dws-energy"},
       {"dws-readings", "dws-padded", "dws-fft", "dws-dsize", "dws-assoc"}},
      {{"ws-coalescing", "ws-idle", "ws-perf"}, {"ws-write-back"}},
      {{"ws-simd"}, {"ws-simd-causes"}},
      {{"odgs-pm"}, {"odgs-textures"}},
      {{"odgs-ipc"}, {"odgs-ports", "odgs-mimd", "odgs-layers"}},
      {{"odgs-ports"}, {"odgs-layers"}},
  };
  return all;
}

std::vector<std::string> experiments_of(const std::string& claim) {
  for (const Experiments& one : all_experiments()) {
    if (std::find(one.claims.begin(), one.claims.end(), claim) != one.claims.end()) {
      return one.experiments;
    }
  }
  return {};
}

}  // namespace heddle::studies
