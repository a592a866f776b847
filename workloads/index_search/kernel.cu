// Search in an index tree (thesis 6.2.3 and appendix 1.2). A warp looks one key up at a time: 30 of its lanes compare
// it with the 30 keys of a line, so that each step has 31 ways out. A row node is 32 such lines, one DRAM row: its
// first line leads to one of the 31 others, and that one to one of the 961 row nodes of the next level. Nodes lie
// breadth first, without pointers. Lanes 30 and 31 see the largest number, which is no key.
//
// search compares, counts by ballot and popc and shifts; search_tree does that by one tree traverse instruction
// (7.2.1); the _hints kernels mark the load that opens a row (7.2).
constexpr unsigned kBlock = 256;
#include "workloads/index_search/search.inc"
