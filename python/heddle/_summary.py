"""What a run's summary has, for type checkers and editors. Written by backend/summary.py from the program's own
declarations; do not edit."""


class SummaryFigures:
    """The figures of a run's summary, with their units and meanings."""

    cycles: int
    """cycles: from the start of the first launch to the end of the last, back to back"""

    warp_instructions: int
    """warp instructions: sub-warps retired: one per warp instruction when the warp is as wide as the SIMD unit"""

    thread_instructions: int
    """thread instructions: active lanes of all retired warp instructions (active in the mask and guard true)"""

    ipc: float
    """thread instructions per cycle: thread_instructions / cycles: active threads per retired warp instruction,
    summed (LWM report, section 5)"""

    lanes_per_warp_instruction: float
    """lanes: active lanes per retired warp instruction (LWM report, table 2); an unconditional branch that takes one
    sub-warp counts the lanes of that"""

    simd_efficiency: float
    """share: lanes_per_warp_instruction / core.simd_width"""

    fu_active_cycles: list[int]
    """core cycles: entry n: core cycles with n functional units active, n from 0 to core.simd_width (LWM report,
    figure 1)"""

    idle_cycles: int
    """core cycles: core cycles with no functional unit active; fu_active_cycles[0]"""

    idle_cycles_by_cause: dict[str, int]
    """core cycles: the idle cycles by their one cause; the causes add up to idle_cycles"""

    branches: int
    """warp instructions: conditional branches retired"""

    divergent_branches: int
    """warp instructions: of branches: those after which a warp's threads go both ways"""

    memory_instructions: int
    """warp instructions: loads, stores and atomics in the global space"""

    coalescing_rate: float
    """requests per instruction: offcore_requests / memory_instructions (warp-size study, equation 1)"""

    l1d_accesses: int
    """lines: line accesses to the L1 data caches"""

    l1d_hits: int
    """lines: of l1d_accesses: line present"""

    l1d_misses: int
    """lines: of l1d_accesses: line absent"""

    icache_misses: int
    """lines: instruction fetches whose line was absent"""

    scratchpad_bank_conflicts: int
    """cycles: extra cycles of scratchpad accesses whose lanes met in one bank"""

    dram_reads: int
    """lines: lines read from memory, all channels"""

    dram_writes: int
    """lines: lines written to memory, all channels"""

    dram_row_hits: int
    """lines: DRAM accesses that found their row open"""

    dram_row_conflicts: int
    """lines: DRAM accesses that had to open their row"""

    dram_row_hit_rate: float
    """share: dram_row_hits / (dram_row_hits + dram_row_conflicts)"""

    dram_bus_utilisation: float
    """share: cycles in which a channel's bus moves a line / (cycles x channels)"""

    barriers: int
    """releases: barriers at which all expected threads arrived"""

    retirement_hash: str
    """hexadecimal: every thread's program counters and written values in its program order, folded; equal hashes mean
    equal instruction streams"""

    launches: int
    """launches: kernel launches"""

    blocks: int
    """blocks: thread blocks finished"""

    idle_share: float
    """share: idle_cycles / all core cycles"""

    line_requests: int
    """lines: distinct lines that the memory instructions needed"""

    line_requests_per_memory_instruction: float
    """lines per instruction: line_requests / memory_instructions: 1 is perfect coalescing, core.simd_width none"""

    missed_accesses: int
    """warp instructions: of memory_instructions: those with a thread whose line was absent from the L1 (SIMD cache
    misses; DWS report, table 1)"""

    partly_missed_accesses: int
    """warp instructions: of missed_accesses: those of which other threads found their lines there (the DWS report's
    divergent memory accesses)"""

    divergent_accesses: int
    """warp instructions: of memory_instructions: those for which more than one line had to come (memory
    divergence)"""

    mean_divergent_stall: float
    """cycles: from the first miss of a divergent access to its last line: divergent_stall_cycles /
    divergent_accesses"""

    mean_divergent_spread: float
    """cycles: of mean_divergent_stall: from the first line that comes to the last"""

    lost_locality: int
    """lines: lines that a warp's load missed and that the warp had lost from the L1 shortly before (core.load_limiter
    = ccws)"""

    throttled_loads: int
    """warp instructions: warps' loads that had to wait for the load limiter"""

    throttled_cycles: int
    """cycles: cycles that they waited, summed"""

    offcore_requests: int
    """requests: data requests that left the cores towards memory"""

    l1d_hit_rate: float
    """share: l1d_hits / l1d_accesses"""

    icache_accesses: int
    """lines: instruction fetches"""

    scratchpad_accesses: int
    """warp instructions: accesses to the scratchpad"""

    l2_accesses: int
    """lines: requests to the L2, all slices; 0 where there is none"""

    l2_hits: int
    """lines: of l2_accesses: line present"""

    l2_misses: int
    """lines: of l2_accesses: line absent"""

    l2_merged: int
    """lines: of l2_misses: those that joined a line already on its way (MSHR hits)"""

    l2_write_backs: int
    """lines: dirty lines that the L2 wrote to memory"""

    l2_hit_rate: float
    """share: l2_hits / l2_accesses"""

    barrier_imbalance: float
    """cycles per barrier: cycles between the first and the last arrival at a barrier, mean over barriers (thesis
    9.2.2)"""

    out_of_bounds_loads: int
    """loads: threads' loads that lay out of bounds and read 0 (core.load_trap = false); the list of that name says
    where"""

    warp_drift: float
    """instructions: by how many instructions the furthest live warp of a block is ahead of the last one, on average:
    drift_instructions / drift_samples"""

    scalar_instructions: int
    """warp instructions: those that one lane executed for all threads of their warp (core.scalar)"""

    register_reads_saved: float
    """share: threads' operands for which no lane's register bank was read, since they are warp-wide, of all
    operands"""

    register_writes_saved: float
    """share: threads' results for which no lane's register bank was written, being warp-wide, of all results"""

    splits_branch: int
    """splits: warps and warp-splits subdivided at a branch (core.divergence = dws or slip)"""

    splits_memory: int
    """splits: those subdivided when an access had answered some of their threads"""

    splits_revived: int
    """splits: those subdivided while they waited for memory (ReviveSplit)"""

    merges_pc: int
    """splits: warp-splits that joined one of their warp at the same PC"""

    merges_stack: int
    """splits: those that joined where all of their warp wait for each other"""

    merges_barrier: int
    """splits: those that joined at a barrier"""

    merges_formed: int
    """splits: warps and warp-splits that joined one of another warp at the same PC"""

    split_table_full: int
    """splits: subdivisions put off or left out as the warp-split table was full"""

    split_slots_full: int
    """splits: times that a warp or warp-split had to wait for a scheduler's slot"""

    predictions: int
    """accesses: accesses of which was predicted whether it pays to part there"""

    predictions_right: int
    """accesses: of those, whether the next miss came in time proved them right"""

    predictions_wrong: int
    """accesses: of those, proved wrong"""

    moving_launches: int
    """launches: launches whose threads could move to other cores by way of the global pool (core.divergence =
    odgs)"""

    scratchpad_launches: int
    """launches: of those, of kernels that use the scratchpad: after the last access to it alone (odgs.scratchpad)"""

    staying_launches: int
    """launches: launches whose threads could not, as their kernel uses the scratchpad (core.divergence = odgs)"""

    diverged_warps: int
    """warps: parts of warps that left their core for the global pool at a branch (core.divergence = odgs)"""

    full_warps: int
    """warps: full re-formed warps that the global pool sent to cores"""

    incomplete_warps: int
    """warps: re-formed warps with empty lanes that it sent"""

    context_bytes: int
    """bytes: contexts of threads that came to the global pool and left it"""
