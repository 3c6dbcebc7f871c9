selvedge_mem.v
spp_folded_index.v
spp.v
