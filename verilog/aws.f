selvedge_sync_mem.v
aws.v
