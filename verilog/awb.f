awb_low_partition.v
awb_mem.v
awb_slots.v
awb.v
