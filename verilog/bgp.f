selvedge_mem.v
bgp_filter_bank.v
bgp_hashes.v
bgp_dual_bloom.v
bgp.v
