qbmi_quota_set.v
qbmi_requests_per_instruction.v
qbmi.v
