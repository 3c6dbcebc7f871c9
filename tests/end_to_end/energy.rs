//! The reported energy equals the sum over the counters and the table of docs/reference/energy.md.
use crate::command::{selvedge, selvedge_in};
use selvedge_sim::config::GpuConfig;
use serde_json::Value;

/// Components of the report's energy.
const COMPONENTS: [&str; 12] = [
    "instructions",
    "registers",
    "units",
    "shared_memory",
    "sm_active",
    "l1d",
    "read_only",
    "l2",
    "crossbar",
    "blocks",
    "leakage",
    "dram",
];

fn number(value: &Value, path: &str) -> f64 {
    let found = path.split('.').fold(value, |value, key| &value[key]);
    found.as_f64().unwrap_or_else(|| panic!("{path} is a number"))
}

/// Compares every component of some totals with the sum over their counters, by the formulas of the page.
fn check(totals: &Value, machine: &GpuConfig, what: &str) {
    let t = &machine.energy;
    let n = |path: &str| number(totals, path);
    let event = |name: &str| n(&format!("sm.events.{name}"));
    let both = |name: &str| event(name) + event(&format!("assist_{name}"));
    let fj = |count: f64, one: u32| count * f64::from(one) * 1e-6;
    let core_us = n("cycles") / f64::from(machine.clock.core_mhz);
    let load_hits = n("l1d.hits") - n("l1d.detail.write_hits");
    let evicted = n("dram.write_bursts") - n("dram.metadata_writes");
    let expected = [
        fj(n("warp_instructions") + event("assist_instructions"), t.instruction_fj),
        fj(both("register_reads"), t.register_read_fj) + fj(both("register_writes"), t.register_write_fj),
        fj(both("int_ops"), t.int_fj)
            + fj(event("int_mul_ops"), t.int_mul_fj)
            + fj(event("fp32_ops"), t.fp32_fj)
            + fj(event("fp64_ops"), t.fp64_fj)
            + fj(event("sfu_ops"), t.sfu_fj),
        fj(both("shared_cycles"), t.shared_cycle_fj),
        n("sm.resident_cycles") / f64::from(machine.clock.core_mhz) * f64::from(t.sm_active_mw),
        fj(n("l1d.accesses") * f64::from(machine.l1d.tags_per_way), t.l1d_lookup_fj)
            + fj(4.0 * (load_hits + event("assist_accesses")), t.l1d_read_fj)
            + fj(n("l1d.detail.sectors_filled"), t.l1d_write_fj),
        ["constant", "texture", "instruction"]
            .iter()
            .map(|cache| {
                fj(n(&format!("{cache}.accesses")), t.read_only_access_fj)
                    + fj(n(&format!("{cache}.detail.sectors_filled")), t.read_only_fill_fj)
            })
            .sum(),
        fj(n("l2.accesses"), t.l2_lookup_fj)
            + fj(n("crossbar.replies.data_bytes") / 32.0 + evicted, t.l2_read_fj)
            + fj(n("crossbar.requests.data_bytes") / 32.0 + n("l2.detail.sectors_filled"), t.l2_write_fj),
        fj(n("crossbar.requests.flits") + n("crossbar.replies.flits"), t.flit_fj),
        totals["blocks"]
            .as_object()
            .expect("an object")
            .iter()
            .map(|(block, count)| fj(count.as_f64().expect("a count"), t.blocks[block]))
            .sum(),
        core_us
            * (f64::from(machine.sm.count * t.sm_leakage_mw)
                + f64::from(machine.l2.partitions * t.partition_leakage_mw)),
        n("dram.energy.total_nj"),
    ];
    let near = |value: f64, expected: f64, name: &str| {
        assert!((value - expected).abs() <= 1e-9 * expected, "{what}: {name} {value}, expected {expected}");
    };
    for (name, expected) in COMPONENTS.iter().zip(expected) {
        near(n(&format!("energy.{name}_nj")), expected, name);
    }
    let total = n("energy.total_nj");
    near(total, expected.iter().sum(), "the total is the sum of the components");
    near(n("energy.mean_power_mw"), total / core_us, "power");
    near(n("energy.delay_product_nj_s"), total * core_us * 1e-6, "energy times delay");
}

#[test]
fn the_energy_of_runs_and_launches_follows_from_their_counters() {
    for (workload, mechanism, events) in [
        ("backprop", "base", &["sm.events.shared_cycles", "sm.events.fp32_ops"][..]),
        ("gesummv", "hw-bdi", &["blocks.bdi_compressor", "blocks.bdi_decompressor"]),
        ("gesummv", "latte-cc", &["blocks.sc_compressor", "blocks.sc_decompressor"]),
        ("bfs", "caba-bdi", &["sm.events.assist_instructions", "sm.events.assist_accesses"]),
    ] {
        let words = ["run", workload, "--mechanism", mechanism, "--engine", "model", "--json", "-"];
        let report: Value = serde_json::from_str(&selvedge(&words)).expect("a report");
        let spec: selvedge_sim::mechanism::MechanismSpec = mechanism.parse().expect("valid");
        let machine = spec.machine(&GpuConfig::load("gtx480").expect("built in")).expect("it suits");
        let what = format!("{workload} {mechanism}");
        check(&report["totals"], &machine, &what);
        for event in events {
            assert!(number(&report["totals"], event) > 0.0, "{what}: {event}");
        }
        let kernels = report["kernels"].as_array().expect("a list");
        kernels.iter().for_each(|kernel| check(kernel, &machine, &what));
        let of_kernels: f64 = kernels.iter().map(|kernel| number(kernel, "energy.total_nj")).sum();
        let total = number(&report["totals"], "energy.total_nj");
        assert!(
            (of_kernels / total - 1.0).abs() < 1e-9,
            "{what}: {of_kernels} in the launches, {total} in all"
        );
    }
}

#[test]
fn a_table_of_ones_own_takes_the_place_of_the_built_in_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let mine = "base = \"gtx480\"\nname = \"mine\"\n[energy]\ninstruction_fj = 0\nsm_leakage_mw = 0\npartition_leakage_mw = 0\n";
    std::fs::write(folder.path().join("mine.toml"), mine).expect("written");
    let words = ["run", "vecadd", "--config", "mine.toml", "--json", "-"];
    let output = selvedge_in(folder.path(), &words);
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    assert_eq!(number(&report["totals"], "energy.instructions_nj"), 0.0);
    assert_eq!(number(&report["totals"], "energy.leakage_nj"), 0.0);
    assert!(number(&report["totals"], "energy.l2_nj") > 0.0);
    std::fs::write(folder.path().join("mine.toml"), mine.replace("= 0\nsm", "= 2000000000\nsm"))
        .expect("written");
    let output = selvedge_in(folder.path(), &words);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        error.contains("mine.toml:4: energy.instruction_fj = 2000000000: must be 0 to 1000000000"),
        "{error}"
    );
}

#[test]
fn the_page_has_the_table_of_the_built_in_machine() {
    let page = std::fs::read_to_string("docs/reference/energy.md").expect("the page is there");
    for (name, value) in GpuConfig::load("gtx480").expect("built in").energy.entries() {
        let row = format!("| `{name}` | {value} |");
        assert!(page.contains(&row), "docs/reference/energy.md should have a row that begins with\n{row}");
    }
}
