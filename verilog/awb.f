awb_low_partition.v
selvedge_mem.v
awb_slots.v
awb.v
