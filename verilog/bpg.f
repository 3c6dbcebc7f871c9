bpg_most_hits.v
bpg_half_failures.v
selvedge_mem.v
bpg_adjusted_hits.v
bpg.v
