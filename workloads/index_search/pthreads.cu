// Pthreads form of index_search: the kernel of thesis appendix 1.2 for 1024 threads of one block. A warp searches for
// one key at a time, as the appendix has it.
constexpr unsigned kBlock = 1024;
#include "workloads/index_search/search.inc"
