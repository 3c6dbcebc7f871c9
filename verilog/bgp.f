bgp_bit_array.v
bgp_hashes.v
bgp_dual_bloom.v
bgp.v
