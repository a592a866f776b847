// Pthreads form of table_scan: the kernel of thesis appendix 1.1 as it is printed there, for 1024 threads whose barrier
// is one "among all 1024 threads". A buffer of 256 words per warp fills the 1 KB per warp of table 8.1. Warps agree on
// hits by ballot, popc and broadcast, as the appendix has it.
constexpr unsigned kBlock = 1024;
#include "workloads/table_scan/scan.inc"
