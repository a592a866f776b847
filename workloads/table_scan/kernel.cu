// Full table scan (thesis 6.2.2 and appendix 1.1): the numbers of the rows whose columns are all below a bound, in no
// particular order. The columns lie one behind the other, so that a warp reads 32 neighbours. Each warp gathers its
// hits in a buffer of 256 words in the scratchpad and flushes 224 of them as soon as it has more, with one atomic
// addition for their place in the output. Kernels scan_<columns> gather by ballot and popc, accumulate_<columns> by the
// conditional accumulate instruction (thesis 7.1).
constexpr unsigned kBlock = 256;
#include "workloads/table_scan/scan.inc"
