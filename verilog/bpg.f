bpg_most_hits.v
bpg_lru_access.v
selvedge_mem.v
bpg_adjusted_hits.v
bpg.v
