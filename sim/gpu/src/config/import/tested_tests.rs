//! Tests that all configurations of GPGPU-Sim 4.2's test set are translated, option by option, from a table of their values.
use super::{Import, import};
use crate::config::{
    Allocate, AluConfig, BypassedLoads, GpuConfig, IndexFunction, TensorConfig, WriteAllocate,
};

/// A row per option and a column per configuration; `-` marks an option that the file does not set. Options of the network's file
/// begin with `icnt:`.
const TABLE: &str = include_str!("../../../../../tests/data/gpgpusim-4.2.tsv");

/// Returns the configurations, with the options of each file and of its network.
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
    let import =
        import(name, &[("gpgpusim.config", options.as_str())], network).expect("it can be translated");
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
            let is_translated =
                [" # ", ", "].iter().any(|before| import.toml.contains(&format!("{before}{option} ")));
            if !is_listed && !is_translated {
                silent.insert(option.to_owned());
            }
        }
    }
    assert!(silent.is_empty(), "{silent:?}");
}

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
    assert_eq!((collector.shared.units, collector.alu.units, collector.alu.registers), (8, 0, 4));
    assert_eq!((collector.int.units, collector.int.registers), (0, 4));
    let AluConfig { pipes, interval, int_pipes, int_interval, .. } = volta.sm.alu;
    assert_eq!((pipes, interval, int_pipes, int_interval), (4, 2, 4, 2));
    assert_eq!((volta.sm.fp64.interval, volta.sm.fp64.div_interval), (4, 130));
    assert_eq!((volta.dram.write_queue, volta.dram.write_high, volta.dram.write_low), (128, 108, 32));
    assert_eq!((volta.l2.partitions, volta.l2.partition_index), (24, IndexFunction::IPoly));
    assert_eq!((volta.interconnect.latency, volta.interconnect.input_flits), (1, 512));
    let ways = |shared: u32| volta.l1d.ways_beside(shared << 10);
    assert_eq!([0, 1, 20, 96].map(ways), [256, 240, 192, 64]);

    let (ampere, _) = imported("SM86_RTX3070");
    let TensorConfig { pipes, macs, fp64_macs, latency } = ampere.sm.tensor;
    assert_eq!((pipes, macs, fp64_macs, latency), (4, 64, 0, 1));
    assert_eq!((ampere.sm.alu.interval, ampere.sm.alu.int_interval, ampere.sm.fp64.interval), (1, 2, 64));
    assert_eq!((ampere.sm.collector.tensor.units, ampere.sm.collector.tensor.registers), (0, 4));
    assert_eq!(imported("SM6_TITANX").0.sm.tensor.pipes, 0);
    assert_eq!((ampere.sm.launch_latency, ampere.l1d.allocate), (5000, Allocate::OnMiss));
    assert_eq!((ampere.dram.trc, ampere.dram.tras + ampere.dram.trp), (78, 79));
    let streaming = imported("SM75_RTX2060_S").0.l1d;
    assert_eq!((streaming.ways, streaming.allocate), (512, Allocate::OnFill));
    assert_eq!(imported("SM6_TITANX").0.l1d.bypass, BypassedLoads::All);
    assert_eq!(imported("SM3_KEPLER_TITAN").0.sm.collector.memory.units, 8);
}

#[test]
fn built_in_machines_are_what_their_files_give() {
    for (built_in, file) in [("titan-v", "SM7_TITANV"), ("rtx3070", "SM86_RTX3070")] {
        let mut expected = GpuConfig { name: built_in.into(), ..imported(file).0 };
        if built_in == "titan-v" {
            // The file has a tensor core per scheduler; the GPU has two.
            assert_eq!(std::mem::replace(&mut expected.sm.tensor.pipes, 8), 4);
        }
        assert_eq!(GpuConfig::load(built_in).expect("built in"), expected);
    }
}
