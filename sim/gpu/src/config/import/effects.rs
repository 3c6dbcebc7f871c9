//! Effects of GPGPU-Sim options without a counterpart, for the notes of an import.

/// Options with their effects. A name that ends in `*` matches every option with this prefix.
const EFFECTS: &[(&str, &str)] = &[
    (
        "-dram_bnk_indexing_policy",
        "1 would hash the bank's number with bits of the row; here it is the mapping's letters alone",
    ),
    (
        "-dram_dual_bus_interface",
        "1 would give a row command and a column command in one cycle; here a cycle has one",
    ),
    ("-enable_ptx_file_line_stats", "statistics alone"),
    ("-gpgpu_TB_launch_latency", "cycles before each CTA starts"),
    ("-gpgpu_cache:dl1Pref*", "the L1D of kernels that prefer it, or shared memory, to be large"),
    ("-gpgpu_shmem_size_Pref*", "the shared memory of kernels that prefer it, or the L1D, to be large"),
    ("-gpgpu_shmem_sizeDefault", "the shared memory of kernels without preference"),
    ("-gpgpu_cache:dl2_texture_only", "1 would keep all but textures out of the L2"),
    ("-gpgpu_clock_gated_lanes", "power alone"),
    ("-power_*", "power alone; energy here comes from the configuration's section energy"),
    ("-gpuwattch_*", "power alone; energy here comes from the configuration's section energy"),
    ("-accelwattch_*", "power alone; energy here comes from the configuration's section energy"),
    ("-visualizer_*", "statistics alone"),
    ("-gpgpu_compute_capability_*", "what the GPU reports to a program"),
    (
        "-gpgpu_dual_issue_diff_exec_units",
        "two instructions of a warp in a cycle only for different pipes; here there is one",
    ),
    ("-gpgpu_flush_l1_cache", "1 empties the L1D before a kernel, as here"),
    ("-gpgpu_heap_size_limit", "what a program may allocate on the device"),
    ("-gpgpu_stack_size_limit", "a thread's stack"),
    ("-gpgpu_ignore_resources_limitation", "1 would run a CTA that fits no SM"),
    ("-gpgpu_inst_fetch_throughput", "fetches in a cycle; here as many as there are schedulers"),
    ("-gpgpu_l1_cache_write_ratio", "share of dirty lines below which the L1D evicts clean ones alone"),
    ("-gpgpu_max_insn_issue_per_warp", "instructions of a warp in a cycle; here one"),
    ("-gpgpu_mem_address_mask", "how the address mapping is written"),
    ("-gpgpu_memlatency_stat", "statistics alone"),
    ("-gpgpu_runtime_stat", "statistics alone"),
    ("-gpgpu_n_cluster_ejection_buffer_size", "packets that wait behind a cluster's port"),
    (
        "-trace_opcode_latency_initiation_tensor",
        "cycles of a SASS instruction, whose work differs by GPU; the options for PTX have the rate",
    ),
    (
        "-trace_opcode_latency_initiation_spec_op*",
        "specialized pipes; their instructions go to the pipes that are known here",
    ),
    ("-specialized_unit*", "specialized pipes; their instructions go to the pipes that are known here"),
    ("-gpgpu_occupancy_sm_number", "a count of occupancy for programs"),
    ("-gpgpu_ptx_*", "how PTX is read and executed, not its time"),
    ("-gpgpu_registers_per_block", "most registers of a CTA"),
    ("-gpgpu_shmem_per_block", "most shared memory of a CTA"),
    (
        "-gpgpu_shmem_limited_broadcast",
        "1 would broadcast one word of shared memory in a cycle; here each bank does",
    ),
    ("-gpgpu_simd_model", "1 is reconvergence at post-dominators, as here"),
    ("-gpgpu_runtime_*", "limits of launches from the device"),
    ("-icnt_*_buffer_limit", "packets that the crossbar of network mode 2 holds"),
    ("-icnt_arbiter_algo", "1 would arbitrate by iSLIP; here round robin by output"),
    ("-icnt_subnets", "2 are networks for requests and for replies, as here"),
    ("alloc_iters", "rounds of the allocators; here one grant for each output"),
    ("credit_delay", "cycles until a credit is back"),
    ("injection_rate", "synthetic traffic alone"),
    ("input_speedup", "ports of the switch for each input"),
    ("output_speedup", "ports of the switch for each output"),
    ("k", "ports of the network; here SMs and slices"),
    ("n", "stages of the network; here one"),
    ("network_count", "2 are networks for requests and for replies, as here"),
    ("subnets", "2 are networks for requests and for replies, as here"),
    ("packet_size*", "synthetic traffic alone"),
    ("*_subnet", "which network a packet takes; here requests take one and replies the other"),
    ("*_vc", "which virtual channels a packet may take"),
    ("routing_delay", "cycles of routing; the crossbar's latency is one number here"),
    ("routing_function", "a crossbar has one way"),
    ("sim_type", "how the network is driven"),
    ("sw_alloc_delay", "cycles of the switch's allocation; the crossbar's latency is one number here"),
    ("sw_allocator", "iSLIP; here round robin by output"),
    ("vc_allocator", "iSLIP; here round robin by output"),
    ("topology", "a fly of one stage is a crossbar, as here"),
    ("traffic", "synthetic traffic alone"),
    ("use_map", "how nodes are placed"),
    ("wait_for_tail_credit", "1 would hold a channel until its packet has left the next buffer"),
];

/// Returns the effect of an option, if it is known.
pub fn effect(name: &str) -> Option<&'static str> {
    EFFECTS.iter().find(|(pattern, _)| matches(pattern, name)).map(|(_, effect)| *effect)
}

/// Returns whether `pattern` matches `name`. A pattern has at most one `*`.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((first, last)) => {
            name.len() >= first.len() + last.len() && name.starts_with(first) && name.ends_with(last)
        }
    }
}
