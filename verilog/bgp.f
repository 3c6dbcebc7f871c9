selvedge_bit_array_6_11.v
bgp_hashes.v
bgp_dual_bloom.v
bgp.v
