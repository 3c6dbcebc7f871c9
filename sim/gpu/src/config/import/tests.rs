//! Tests that the import translates options with a counterpart, lists the others and never panics.
use super::*;
use crate::config::{DramScheduler, IndexFunction, L2WritePolicy, SchedulerPolicy, WriteAllocate};
use proptest::prelude::*;
use selvedge_testing::{fuzz, one_line};

/// All options with a counterpart, and some without.
const SAMPLE: &str = "# a small machine
-gpgpu_ptx_sim_mode 0
-gpgpu_n_clusters 7
-gpgpu_n_cores_per_cluster 2
-gpgpu_n_mem 16
-gpgpu_n_sub_partition_per_mchannel 2
-gpgpu_clock_domains 1000.0:900.0:500.0:800.0
-gpgpu_shader_registers 65536
-gpgpu_shader_core_pipeline 2048:32   # 64 warps
-gpgpu_shader_cta 16
-gpgpu_num_sched_per_core 4
-gpgpu_scheduler two_level_active:6:0:1
-gpgpu_num_sp_units 4
-gpgpu_num_sfu_units 1
-ptx_opcode_latency_int 6,13,7,8,120
-ptx_opcode_latency_fp 5,13,5,6,40
-ptx_opcode_latency_dp 9,19,9,9,300
-ptx_opcode_initiation_int 1,2,2,1,8
-ptx_opcode_initiation_fp 1,2,1,1,4
-ptx_opcode_initiation_dp 8,16,8,8,130
-gpgpu_shmem_size 98304
-gpgpu_shmem_num_banks 32
-gpgpu_shmem_warp_parts 1
-gpgpu_cache:dl1 N:64:128:6,L:L:f:N:X,A:48:6,10
-gpgpu_cache:dl2 32:128:8,L:B:m:W:L,A:24:4,4:0,32
-gpgpu_memory_partition_indexing 2
-gpgpu_dram_partition_queues 9:10:11:12
-inter_config_file small.icnt
-rop_latency 100
-dram_latency 50
-gpgpu_dram_scheduler 0
-gpgpu_frfcfs_dram_sched_queue_size 20
-gpgpu_n_mem_per_ctrlr 2
-gpgpu_dram_buswidth 4
-gpgpu_dram_burst_length 4
-dram_data_command_freq_ratio 4
-gpgpu_mem_addr_mapping dramid@9;0000.00RR.RRRRRRRR.RBBCCCCB.CSSSSSSS
-gpgpu_dram_timing_opt \"nbk=8:CCD=2:RRD=5:RCD=11:RAS=27:RP=10:RC=41:
                        CL=13:WL=3:CDLR=6:WR=14:nbkgrp=1:CCDL=0:RTPL=0\"
";

const NETWORK: &str =
    "// a small network\nnetwork_count = 2;\nflit_size = 64; // bytes\nnum_vcs = 2;\nvc_buf_size = 10;\n";

fn machine(text: &str) -> GpuConfig {
    let import = import("my", &[("my.config", text)], None).expect("it can be translated");
    GpuConfig::parse("my.toml", &import.toml).expect("valid")
}

fn notes(text: &str) -> Vec<String> {
    import("my", &[("my.config", text)], None).expect("it can be translated").notes
}

fn error(text: &str) -> String {
    let found = import("my", &[("my.config", text)], None).expect_err("it is wrong");
    found.first().map(ToString::to_string).unwrap_or_default()
}

#[test]
fn a_file_without_an_option_is_refused() {
    for text in ["", "\0\0\0\0", "gpgpu_n_clusters 15\n", "# -gpgpu_n_clusters 15\n", "- 5"] {
        assert!(error(text).starts_with("my.config:1: no option: must be"), "{text:?}: {}", error(text));
    }
}

#[test]
fn cores_are_translated() {
    let c = machine(SAMPLE);
    assert_eq!(c.name, "my");
    let sm = c.sm;
    assert_eq!((sm.count, sm.warps, sm.threads, sm.ctas), (14, 64, 2048, 16));
    assert_eq!((sm.registers, sm.shared_bytes, sm.schedulers), (65536, 98304, 4));
    assert_eq!((sm.scheduler, sm.active_warps), (SchedulerPolicy::TwoLevel, 6));
    assert_eq!((sm.alu.pipes, sm.alu.interval, sm.alu.int_latency, sm.alu.int_mul_latency), (4, 1, 6, 8));
    assert_eq!(sm.alu.int_div_latency, 120);
    assert_eq!((sm.alu.fp32_latency, sm.sfu.latency, sm.sfu.interval), (5, 40, 4));
    assert_eq!((sm.fp64.latency, sm.fp64.div_latency, sm.fp64.interval), (9, 300, 8));
    assert_eq!((sm.lsu.shared_banks, sm.lsu.lanes), (32, 32));
    let k = c.clock;
    assert_eq!((k.core_mhz, k.interconnect_mhz, k.l2_mhz, k.dram_mhz), (1000, 900, 500, 800));
}

#[test]
fn caches_and_partitions_are_translated() {
    let c = machine(SAMPLE);
    let l1d = c.l1d;
    assert_eq!((l1d.sets, l1d.ways, l1d.line_bytes, l1d.index), (64, 6, 128, IndexFunction::Bxor));
    assert_eq!((l1d.mshr_entries, l1d.mshr_merges, l1d.miss_queue), (48, 6, 10));
    assert_eq!(l1d.allocate, crate::config::Allocate::OnFill);
    let l2 = c.l2;
    assert_eq!((l2.partitions, l2.slices, l2.slice_bytes), (16, 2, 256));
    assert_eq!((l2.sets, l2.ways, l2.index), (32, 8, IndexFunction::Bmod));
    assert_eq!((l2.mshr_entries, l2.mshr_merges, l2.partition_index), (24, 4, IndexFunction::IPoly));
    assert_eq!((l2.request_queue, l2.dram_queue, l2.reply_queue, l2.interleave_bytes), (9, 10, 12, 512));
    // 100 core cycles at 1000 MHz are 50 L2 cycles at 500 MHz.
    assert_eq!(l2.hit_latency, 50);
}

#[test]
fn generations_before_40_split_small_elements_into_segments() {
    for (generation, segments) in [(13, true), (20, true), (35, true), (61, false), (86, false)] {
        let text = format!("-gpgpu_coalesce_arch {generation}\n");
        assert_eq!(machine(&text).sm.lsu.segments, segments, "{generation}");
        assert_eq!(notes(&text).iter().any(|note| note.contains("each sector")), !segments, "{generation}");
    }
}

#[test]
fn copies_fill_the_l2_where_the_file_says_so() {
    let fills = |text| machine(text).l2.fill_on_copy;
    assert!(fills("-gpgpu_perf_sim_memcpy 1\n") && !fills("-gpgpu_perf_sim_memcpy 0\n"));
    let old = "-gpgpu_cache:dl2 64:128:8,L:B:m:W,A:32:4,4:0,32\n";
    let new = "-gpgpu_cache:dl2 S:64:128:8,L:B:m:L:L,A:32:4,4:0,32\n";
    assert!(!fills(old) && fills(new), "the default of 4.x");
    assert!(!fills(&format!("{new}-gpgpu_perf_sim_memcpy 0\n")));
}

#[test]
fn sectored_caches_have_sectors_of_32_bytes() {
    let l1d = machine("-gpgpu_cache:dl1 S:64:128:6,L:L:f:N:L,A:48:6,10\n").l1d;
    assert_eq!((l1d.line_bytes, l1d.sector_bytes), (128, 32));
    let l1d = machine("-gpgpu_cache:dl1 64:64:6,L:L:f:N:L,A:48:6,10\n").l1d;
    assert_eq!((l1d.line_bytes, l1d.sector_bytes), (64, 64));
}

#[test]
fn read_only_caches_are_translated() {
    let text = "-gpgpu_const_cache:l1 64:64:2,L:R:f:N,A:2:32,4
-gpgpu_tex_cache:l1 4:128:24,L:R:m:N,F:128:4,130:2
-gpgpu_cache:il1 N:8:128:4,L:R:f:N:L,A:3:30,5\n";
    let sm = machine(text).sm;
    let keys = |c: &crate::config::ReadOnly| {
        [c.sets, c.ways, c.line_bytes, c.mshr_entries, c.mshr_merges, c.miss_queue]
    };
    assert_eq!(keys(&sm.constant), [64, 2, 64, 2, 32, 4]);
    assert_eq!(keys(&sm.texture), [4, 24, 128, 128, 4, 130]);
    assert_eq!(keys(&sm.instruction), [8, 4, 128, 3, 30, 5]);
    let perfect = machine(&format!("{text}-gpgpu_perfect_inst_const_cache 1\n")).sm;
    assert_eq!([perfect.constant.sets, perfect.texture.sets, perfect.instruction.sets], [0, 4, 0]);
}

#[test]
fn write_policies_are_translated() {
    let l2 = |letters: &str| machine(&format!("-gpgpu_cache:dl2 64:128:8,L:{letters},A:32:4,4\n")).l2;
    for (letters, policy, allocate) in [
        ("B:m:W:L", L2WritePolicy::WriteBack, WriteAllocate::ForwardAndFetch),
        ("B:m:F:L", L2WritePolicy::WriteBack, WriteAllocate::Fetch),
        ("B:m:L:L", L2WritePolicy::WriteBack, WriteAllocate::Mask),
        ("T:m:N:L", L2WritePolicy::WriteThrough, WriteAllocate::None),
    ] {
        assert_eq!((l2(letters).write_policy, l2(letters).write_allocate), (policy, allocate), "{letters}");
    }
    assert_eq!(l2("B:m:W:L").allocate, crate::config::Allocate::OnMiss);
    assert_eq!(l2("B:f:W:L").allocate, crate::config::Allocate::OnFill);
    for (letter, policy) in
        [("E", "write-evict"), ("T", "write-through"), ("B", "write-back"), ("L", "local-write-back")]
    {
        let l1d = machine(&format!("-gpgpu_cache:dl1 32:128:4,L:{letter}:m:N:L,A:32:8,8\n")).l1d;
        assert_eq!(l1d.write_policy.name(), policy);
    }
}

#[test]
fn the_dram_is_translated_with_a_list_over_two_lines() {
    let d = machine(SAMPLE).dram;
    assert_eq!((d.banks, d.tccd, d.trrd, d.trcd, d.tras, d.trp, d.trc), (8, 2, 5, 11, 27, 10, 41));
    assert_eq!((d.tcl, d.tcwl, d.tcdlr, d.twr, d.trtp), (13, 3, 6, 14, 1));
    assert_eq!((d.bus_bytes, d.burst_bytes, d.data_rate, d.row_bytes), (8, 32, 4, 4096));
    assert_eq!((d.queue, d.write_high, d.write_low, d.controller_latency), (20, 0, 0, 40));
    assert_eq!((d.bank_groups, d.tccdl), (1, 0));
    assert_eq!(d.scheduler, DramScheduler::Fcfs);
    assert_eq!(d.mapping.text(), "dramid@9;0000.00RR.RRRRRRRR.RBBCCCCB.CSSSSSSS");
}

#[test]
fn queues_and_bank_groups_are_translated() {
    let text = "-gpgpu_frfcfs_dram_sched_queue_size 32\n-gpgpu_dram_return_queue_size 116\n";
    let d = machine(text).dram;
    assert_eq!((d.queue, d.return_queue, d.write_high), (32, 116, 0), "one queue for reads and writes");
    let apart = "-dram_seperate_write_queue_enable 1\n-dram_write_queue_size 32:28:16\n";
    let d = machine(&format!("{text}{apart}")).dram;
    assert_eq!((d.write_high, d.write_low), (28, 16));
    let timing = "-gpgpu_dram_timing_opt nbk=16:CCD=2:nbkgrp=4:CCDL=3\n";
    let group_of = |policy: u32| {
        let d = machine(&format!("{timing}-dram_bnkgrp_indexing_policy {policy}\n")).dram;
        assert_eq!((d.bank_groups, d.tccdl), (4, 3));
        [0, 1, 5, 15].map(|bank| d.bank_group(bank))
    };
    assert_eq!((group_of(0), group_of(1)), ([0, 0, 1, 3], [0, 1, 1, 3]));
}

#[test]
fn a_router_with_one_virtual_channel_stands_still_between_packets() {
    let gap = |network: &str| {
        let import =
            import("my", &[("my.config", SAMPLE)], Some(("my.icnt", network))).expect("it can be translated");
        GpuConfig::parse("my.toml", &import.toml).expect("valid").interconnect.packet_gap
    };
    assert_eq!(gap("num_vcs = 1;\nvc_alloc_delay = 2;\n"), 2);
    assert_eq!(gap("num_vcs = 1;\nvc_alloc_delay = 1;\ninternal_speedup = 2.0;\n"), 0, "it is hidden");
    assert_eq!(gap("num_vcs = 2;\nvc_alloc_delay = 1;\n"), 0, "another channel has its turn");
}

#[test]
fn the_l1_latency_is_in_front_of_every_access() {
    let l1d = machine("-gpgpu_l1_latency 20\n").l1d;
    assert_eq!((l1d.front_latency, l1d.hit_latency), (19, 1));
}

#[test]
fn banks_of_the_l1d_are_those_of_sectors() {
    let banks = |options: &str| machine(options).l1d.banks;
    assert_eq!(banks("-gpgpu_l1_banks 4\n-gpgpu_l1_banks_byte_interleaving 32\n"), 4);
    assert_eq!(banks("-gpgpu_l1_banks 1\n"), 1);
    assert_eq!(banks("-gpgpu_l1_banks 2\n"), 1, "two sectors of a line would share a bank");
    let short = "-gpgpu_cache:dl1 N:64:64:4,L:T:m:L:L,A:32:8,8\n";
    assert_eq!(banks(&format!("{short}-gpgpu_l1_banks 2\n")), 2);
}

#[test]
fn timings_without_names_are_read_by_their_order() {
    let d = machine("-gpgpu_dram_timing_opt 16:2:6:12:28:12:40:12:4:5:12:4:3:2\n").dram;
    assert_eq!((d.banks, d.tccd, d.trrd, d.trcd, d.tras, d.trp), (16, 2, 6, 12, 28, 12));
    assert_eq!((d.trc, d.tcl, d.tcwl, d.tcdlr, d.twr, d.trtp), (40, 12, 4, 5, 12, 2));
}

#[test]
fn the_interconnects_file_gives_flits_and_queues() {
    let network = Some(("small.icnt", NETWORK));
    let import = import("my", &[("my.config", SAMPLE)], network).expect("it can be translated");
    let i = GpuConfig::parse("my.toml", &import.toml).expect("valid").interconnect;
    assert_eq!((i.flit_bytes, i.input_flits, i.output_flits), (64, 20 + 9, 10 + 16));
    assert!(import.notes.contains(&"small.icnt:2: network_count 2: no counterpart: 2 are networks for requests and for replies, as here".to_string()));
    assert!(import.notes.contains(
        &"my.config:28: -inter_config_file small.icnt: ignored: --icnt names the file".to_string()
    ));
}

#[test]
fn each_option_without_counterpart_is_listed_with_its_line() {
    let text = "-gpgpu_ptx_sim_mode 0\n\n-gpgpu_n_mem 6 -no_such_thing 1 2\n-inter_config_file x.icnt\n";
    let expected = [
        "my.config:1: -gpgpu_ptx_sim_mode 0: no counterpart: how PTX is read and executed, not its time",
        "my.config:3: -no_such_thing 1 2: no counterpart",
        "my.config:4: -inter_config_file x.icnt: not read: name it with --icnt",
    ];
    assert_eq!(notes(text), expected);
}

#[test]
fn what_is_only_nearly_the_same_is_listed() {
    for (option, says) in [
        ("-gpgpu_cache:dl1 8:128:4,L:L:m:N:P,A:32:8,8", "taken as bmod"),
        ("-gpgpu_cache:dl1 32:128:4,F:L:m:N:L,A:32:8,8", "least recently used"),
        ("-gpgpu_cache:dl1 32:128:4,L:R:m:N:L,A:32:8,8", "taken as write-evict"),
        ("-gpgpu_cache:dl1 32:128:4,L:L:m:W:L,A:32:8,8", "allocate nothing"),
        ("-gpgpu_scheduler fancy", "there are lrr"),
        ("-gpgpu_cache:dl2 64:128:8,L:B:m:Z:L,A:32:4,4", "there are N, W, F and L"),
        ("-dram_bnkgrp_indexing_policy 2 -gpgpu_dram_timing_opt nbk=16:nbkgrp=4:CCDL=3", "there are 0"),
        ("-gpgpu_memory_partition_indexing 4", "taken as bmod"),
        ("-gpgpu_shmem_warp_parts 3", "next larger one"),
    ] {
        let notes = notes(option);
        assert!(notes.iter().any(|n| n.starts_with("my.config:1: -") && n.contains(says)), "{notes:?}");
    }
}

#[test]
fn the_last_of_several_settings_counts() {
    let c = machine("-gpgpu_n_mem 4\n-gpgpu_n_mem 8\n");
    assert_eq!(c.l2.partitions, 8);
}

/// Options of Accel-Sim's file `trace.config`.
const TRACE: &str = "-trace_opcode_latency_initiation_int 2,2\n-trace_opcode_latency_initiation_sp 3,1\n";

#[test]
fn a_later_file_replaces_options_of_an_earlier_one() {
    let options = "-ptx_opcode_latency_int 6,13,7,8,120\n-gpgpu_n_mem 4\n-gpgpu_shader_cta 4\n";
    let network = ("my.icnt", "flit_size = 64;\n");
    let later = format!("{TRACE}-gpgpu_n_mem 8\n");
    let files = [("my.config", options), ("trace.config", later.as_str())];
    let done = import("my", &files, Some(network)).expect("it can be translated");
    let c = GpuConfig::parse("my.toml", &done.toml).expect("valid");
    assert_eq!((c.sm.alu.int_latency, c.sm.alu.int_mul_latency, c.sm.alu.fp32_latency), (2, 2, 3));
    assert_eq!((c.l2.partitions, c.sm.ctas, c.interconnect.flit_bytes), (8, 4, 64));
    assert!(done.toml.starts_with("# From my.config, trace.config: "), "{}", done.toml);
    let note = "my.config:2: -gpgpu_n_mem 4: ignored: replaced by -gpgpu_n_mem in trace.config:3";
    assert!(done.notes.contains(&note.to_string()), "{:?}", done.notes);

    let reversed = import("my", &[files[1], files[0]], None).expect("it can be translated");
    let c = GpuConfig::parse("my.toml", &reversed.toml).expect("valid");
    assert_eq!((c.l2.partitions, c.sm.alu.int_latency), (4, 2), "kinds of latency have their own order");
}

#[test]
fn mistakes_and_notes_name_the_file_that_they_are_in() {
    let refused = |second: &str| {
        let found = import("my", &[("my.config", SAMPLE), ("trace.config", second)], None);
        found.expect_err("it is wrong").first().map(ToString::to_string).unwrap_or_default()
    };
    let wrong = refused("\n-trace_opcode_latency_initiation_sp five,1\n");
    assert!(wrong.starts_with("trace.config:2: -trace_opcode_latency_initiation_sp = five: must"), "{wrong}");
    let wrong = refused("-gpgpu_n_mem 77\n");
    assert!(wrong.starts_with("trace.config:1: -gpgpu_n_mem: l2.partitions = 77: must"), "{wrong}");
    assert!(refused("nothing\n").starts_with("trace.config:1: no option: must be"));
    let files = [("my.config", "-gpgpu_n_mem 6\n"), ("trace.config", "-gpgpu_n_mem 6\n-no_such_thing 1\n")];
    let notes = import("my", &files, None).expect("it can be translated").notes;
    assert_eq!(notes[1], "trace.config:2: -no_such_thing 1: no counterpart");
}

#[test]
fn options_without_effect_are_listed() {
    for (text, says) in [
        ("-gpgpu_adaptive_cache_config 0", "ignored: no key depends on it"),
        ("-gpgpu_perfect_inst_const_cache 0", "ignored: no key depends on it"),
        ("-smem_latency 20 -gpgpu_smem_latency 24", "replaced by -gpgpu_smem_latency in my.config:1"),
        ("-ptx_opcode_latency_sfu 9 -trace_opcode_latency_initiation_sfu 20,8", "replaced by -trace_opcode"),
        ("-dram_write_queue_size 32:28:16", "ignored: no key depends on it"),
        ("-network_mode 1", "ignored: 1 is the network of a file"),
    ] {
        let notes = notes(text);
        assert!(notes.iter().any(|n| n.starts_with("my.config:1: -") && n.contains(says)), "{notes:?}");
    }
}

#[test]
fn a_value_names_every_option_that_it_comes_from() {
    let text =
        "-gpgpu_n_clusters 7 -gpgpu_n_cores_per_cluster 2 -gpgpu_num_sp_units 2 -gpgpu_num_int_units 3";
    let toml = import("my", &[("my.config", text)], None).expect("it can be translated").toml;
    for line in [
        "count = 14 # -gpgpu_n_clusters 7, -gpgpu_n_cores_per_cluster 2",
        "pipes = 2 # -gpgpu_num_sp_units 2",
        "int_pipes = 3 # -gpgpu_num_int_units 3",
        "sms_per_port = 2 # -gpgpu_n_cores_per_cluster 2",
    ] {
        assert!(toml.lines().any(|l| l == line), "{line}:\n{toml}");
    }
}

#[test]
fn a_file_without_a_counterpart_is_the_base() {
    let mut c = machine("-gpgpu_ptx_sim_mode 0\n");
    c.name = BASE.into();
    assert_eq!(c, GpuConfig::load(BASE).expect("built in"));
}

#[test]
fn mistakes_name_file_line_option_and_what_is_allowed() {
    for (text, says) in [
        ("\n-gpgpu_n_mem six", "my.config:2: -gpgpu_n_mem = six: must be an integer"),
        ("-gpgpu_n_mem 77", "my.config:1: -gpgpu_n_mem: l2.partitions = 77: must be 1 to 64"),
        ("-gpgpu_cache:dl1 what", "my.config:1: -gpgpu_cache:dl1 = what: must be SETS:LINE:WAYS"),
        ("-gpgpu_cache:dl1 32:512:4,L:L:m:N,A:32:8,8", "my.config:1: -gpgpu_cache:dl1: l1d.line_bytes = 512"),
        ("-gpgpu_shader_core_pipeline 1024:16", "must be warps of 32 threads"),
        ("-gpgpu_clock_domains 1:2:3", "must be four frequencies"),
        ("-gpgpu_clock_domains nan:1:1:1", "must be four frequencies"),
        ("-gpgpu_mem_addr_mapping dramid@40;CCSS", "must be fewer than 32 bits"),
        (
            "-gpgpu_mem_addr_mapping dramid@8;RRBBX",
            "my.config:1: -gpgpu_mem_addr_mapping = dramid@8;RRBBX: position 14: `X`",
        ),
        (
            "-gpgpu_mem_addr_mapping dramid@8;RRBB.CCCCSSSSSSSS",
            "my.config:1: -gpgpu_mem_addr_mapping: dram.mapping = dramid@8;RRBB.CCCCSSSSSSSS: position 13: 2 letters B",
        ),
    ] {
        let e = error(text);
        assert!(e.contains(says), "`{e}` should say `{says}`");
    }
}

proptest! {
    #[test]
    fn no_mutation_of_the_sample_makes_it_panic(
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0u8..4, any::<char>()), 1..30)
    ) {
        let mut text: Vec<char> = SAMPLE.chars().collect();
        for (at, kind, new) in edits {
            let place = at.index(text.len().max(1)).min(text.len().saturating_sub(1));
            match kind {
                _ if text.is_empty() => text.push(new),
                0 => text[place] = new,
                1 => text.insert(place, new),
                2 => drop(text.remove(place)),
                _ => text.truncate(place.max(1)),
            }
        }
        let text: String = text.into_iter().collect();
        check(&text)?;
    }

    #[test]
    fn no_number_makes_it_panic(line in any::<prop::sample::Index>(), number in prop::num::i64::ANY) {
        let lines: Vec<&str> = SAMPLE.lines().collect();
        let at = line.index(lines.len());
        let mut digits = false;
        let mut changed = String::new();
        for c in lines[at].chars() {
            if c.is_ascii_digit() && !digits {
                changed += &number.to_string();
            } else if !c.is_ascii_digit() {
                changed.push(c);
            }
            digits = c.is_ascii_digit();
        }
        check(&SAMPLE.replace(lines[at], &changed))?;
    }
}

#[test]
fn fuzz_options_of_gpgpu_sim_are_translated_or_refused_with_their_line() {
    // The network's file follows the options' file, so that the fuzzer damages both.
    let mark = "\n// network\n";
    let files = [format!("{SAMPLE}{mark}{NETWORK}").into_bytes(), SAMPLE.as_bytes().to_vec()];
    fuzz("gpgpu-sim", &files, 400, |bytes| {
        let Ok(text) = std::str::from_utf8(bytes) else { return Ok(()) };
        let (options, network) = text.split_once(mark).unwrap_or((text, NETWORK));
        match import("my", &[("my.config", options)], Some(("my.icnt", network))) {
            Ok(import) => {
                let parsed = GpuConfig::parse("my.toml", &import.toml);
                prop_assert!(parsed.is_ok(), "{:?}", parsed);
            }
            Err(found) => {
                prop_assert!(!found.is_empty(), "refused without a word");
                for error in found {
                    let text = error.to_string();
                    let file = if text.contains("my.icnt:") { "my.icnt" } else { "my.config" };
                    one_line(&text, file, false)?;
                }
            }
        }
        Ok(())
    });
}

/// Checks that every accepted text gives a valid configuration, and that every error has one line.
fn check(text: &str) -> Result<(), TestCaseError> {
    match import("my", &[("my.config", text)], Some(("my.icnt", text))) {
        Ok(import) => {
            let parsed = GpuConfig::parse("my.toml", &import.toml);
            prop_assert!(parsed.is_ok(), "{:?}", parsed);
        }
        Err(found) => {
            prop_assert!(!found.is_empty());
            for error in found {
                prop_assert!(!error.to_string().contains('\n'), "{}", error);
            }
        }
    }
    Ok(())
}
