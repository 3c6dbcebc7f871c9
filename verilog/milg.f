milg_small_divider.v
milg.v
