//! Every configuration that GPGPU-Sim 4.2 is tested with is translated: option by option from one table of their values.
use super::{Import, import};
use crate::config::{Allocate, Bypass, GpuConfig, IndexFunction, WriteAllocate};

/// A row for each option, a column for each configuration; `-` where a file does not state the option. Those of the network's
/// file begin with `icnt:`.
const TABLE: &str = include_str!("../../../../../tests/data/gpgpusim-4.2.tsv");

/// The configurations, with the options that each file states and its network's.
fn files() -> Vec<(&'static str, String, String)> {
    let mut rows = TABLE.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let names = rows.next().expect("the table has a head");
    let mut files: Vec<_> = names[1..].iter().map(|name| (*name, String::new(), String::new())).collect();
    for row in rows {
        for ((_, options, network), value) in files.iter_mut().zip(&row[1..]) {
            match (row[0].strip_prefix("icnt:"), *value) {
                (_, "-") => {}
                (Some(name), value) => *network += &format!("{name} = {value};\n"),
                (None, value) => *options += &format!("{} {value}\n", row[0]),
            }
        }
    }
    files
}

fn imported(wanted: &str) -> (GpuConfig, Import) {
    let (name, options, network) =
        files().into_iter().find(|(name, ..)| *name == wanted).expect("it is in the table");
    let network = Some(("net.icnt", network.as_str()));
    let import = import(name, "gpgpusim.config", &options, network).expect("it can be translated");
    (GpuConfig::parse("imported.toml", &import.toml).expect("valid"), import)
}

#[test]
fn all_nine_are_accepted() {
    let names: Vec<_> = files().into_iter().map(|(name, ..)| name).collect();
    assert_eq!(names.len(), 9);
    for name in names {
        assert_eq!(imported(name).0.name, name);
    }
}

#[test]
fn each_option_is_translated_or_listed_with_what_it_would_do() {
    let mut silent = std::collections::BTreeSet::new();
    for (name, options, network) in files() {
        let (_, import) = imported(name);
        for note in &import.notes {
            assert!(!note.ends_with(": no counterpart"), "{name}: {note}");
        }
        let stated = options.lines().chain(network.lines()).filter_map(|line| line.split([' ', '=']).next());
        for option in stated {
            let is_listed = import.notes.iter().any(|note| note.contains(&format!(" {option} ")));
            let is_translated = import.toml.contains(&format!("# {option} "));
            if !is_listed && !is_translated && !READ_WITH_OTHERS.contains(&option) {
                silent.insert(option.to_owned());
            }
        }
    }
    assert!(silent.is_empty(), "{silent:?}");
}

/// Options whose values are read with another one's, whose name the translation gives, or that another one replaces.
const READ_WITH_OTHERS: [&str; 35] = [
    "-dram_seperate_write_queue_enable",
    "-gpgpu_adaptive_cache_config",
    "-gpgpu_enable_specialized_operand_collector",
    "-gpgpu_n_cores_per_cluster",
    "-gpgpu_n_mem_per_ctrlr",
    "-gpgpu_num_dp_units",
    "-gpgpu_num_int_units",
    "-gpgpu_operand_collector_num_in_ports_dp",
    "-gpgpu_operand_collector_num_in_ports_gen",
    "-gpgpu_operand_collector_num_in_ports_mem",
    "-gpgpu_operand_collector_num_in_ports_sfu",
    "-gpgpu_operand_collector_num_in_ports_sp",
    "-gpgpu_operand_collector_num_out_ports_dp",
    "-gpgpu_operand_collector_num_out_ports_gen",
    "-gpgpu_operand_collector_num_out_ports_mem",
    "-gpgpu_operand_collector_num_out_ports_sfu",
    "-gpgpu_operand_collector_num_out_ports_sp",
    "-gpgpu_operand_collector_num_units_gen",
    "-gpgpu_perfect_inst_const_cache",
    "-gpgpu_pipeline_widths",
    "-gpgpu_sub_core_model",
    "-icnt_flit_size",
    "-inter_config_file",
    "-network_mode",
    "-ptx_opcode_initiation_dp",
    "-ptx_opcode_initiation_fp",
    "-ptx_opcode_initiation_int",
    "-ptx_opcode_initiation_sfu",
    "-ptx_opcode_latency_sfu",
    "boundary_buffer_size",
    "ejection_buffer_size",
    "flit_size",
    "input_buffer_size",
    "internal_speedup",
    "num_vcs",
];

#[test]
fn a_sectored_l2_splits_requests_beside_bursts_of_64_bytes() {
    let (c, _) = imported("SM2_GTX480");
    assert_eq!((c.l2.sector_bytes, c.l2.split_requests, c.l2.port_bytes), (32, true, 32));
    assert_eq!((c.dram.burst_bytes, c.interconnect.flit_bytes), (64, 40));
    assert_eq!((c.l2.write_allocate, c.l1d.index), (WriteAllocate::Mask, IndexFunction::Fermi));
    let collector = c.sm.collector;
    assert_eq!((collector.banks, collector.steps, collector.sub_cores), (16, 1, false));
    assert_eq!((collector.alu.units, collector.alu.ports, collector.alu.registers), (6, 2, 2));
    assert_eq!((collector.sfu.units, collector.fp64.units, collector.memory.units), (8, 8, 2));
}

#[test]
fn sub_cores_streaming_caches_and_the_unified_memory_are_translated() {
    let (volta, _) = imported("SM7_TITANV");
    assert_eq!((volta.sm.count, volta.interconnect.sms_per_port), (80, 2));
    let collector = volta.sm.collector;
    assert_eq!((collector.banks, collector.steps, collector.sub_cores), (8, 2, true));
    assert_eq!((collector.shared.units, collector.alu.units, collector.alu.registers), (8, 0, 8));
    assert_eq!((volta.sm.alu.pipes, volta.sm.alu.lanes, volta.sm.fp64.lanes), (8, 16, 8));
    assert_eq!((volta.dram.write_queue, volta.dram.write_high, volta.dram.write_low), (128, 108, 32));
    assert_eq!((volta.l2.partitions, volta.l2.partition_index), (24, IndexFunction::IPoly));
    assert_eq!((volta.interconnect.latency, volta.interconnect.input_flits), (1, 512));
    let ways = |shared: u32| volta.l1d.ways_beside(shared << 10);
    assert_eq!([0, 1, 20, 96].map(ways), [256, 240, 192, 64]);

    let (ampere, _) = imported("SM86_RTX3070");
    assert_eq!((ampere.sm.launch_latency, ampere.l1d.allocate), (5000, Allocate::OnMiss));
    assert_eq!((ampere.dram.trc, ampere.dram.tras + ampere.dram.trp), (78, 79));
    let streaming = imported("SM75_RTX2060_S").0.l1d;
    assert_eq!((streaming.ways, streaming.allocate), (512, Allocate::OnFill));
    assert_eq!(imported("SM6_TITANX").0.l1d.bypass, Bypass::All);
    assert_eq!(imported("SM3_KEPLER_TITAN").0.sm.collector.memory.units, 8);
}

#[test]
fn built_in_machines_are_what_their_files_give() {
    for (built_in, file) in [("titan-v", "SM7_TITANV"), ("rtx3070", "SM86_RTX3070")] {
        let expected = GpuConfig { name: built_in.into(), ..imported(file).0 };
        assert_eq!(GpuConfig::load(built_in).expect("built in"), expected);
    }
}
