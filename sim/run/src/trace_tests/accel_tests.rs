//! Tests that the timing model executes the contents of Accel-Sim's traces.
use super::spec;
use crate::report::RunReport;
use crate::run::{Source, run};
use selvedge_gpu::gpu::Control;
use std::path::Path;
use std::sync::Arc;

fn report(name: &str) -> RunReport {
    let source = Source::find(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/traces").join(name).display().to_string(),
    )
    .expect("valid");
    let outcome = run(&spec(source, "base"), Arc::new(Control::default())).expect("it starts");
    assert!(outcome.fault.is_none());
    outcome.report
}

#[test]
fn the_vector_addition_does_what_its_lines_say() {
    // The trace has eight warps of 15 instructions. Seven warps execute 14 of them in 32 lanes, and an EXIT in no lane. The last
    // one processes 26 numbers: five instructions in 32 lanes, an EXIT in 6, nine in 26.
    for name in ["kernel-1.traceg", "kernel-2.traceg.xz"] {
        let report = report(name);
        let totals = &report.totals;
        assert_eq!(
            (totals.warp_instructions, totals.thread_instructions),
            (8 * 15, 7 * 14 * 32 + 5 * 32 + 6 + 9 * 26)
        );
        // The warps access eight lines of 128 bytes in each of the three buffers, a line per warp.
        assert_eq!((totals.sm.memory_instructions, totals.sm.transactions), (24, 24));
        assert_eq!((totals.l1d.accesses, totals.l1d.misses), (24, 24), "{name}: nobody touches a line again");
        assert_eq!((totals.l2.accesses, totals.l2.misses), (24, 24), "{name}");
        // The 16 lines that are read come from DRAM. So does the line that the last warp writes only in part, with 26 numbers.
        // Each has four sectors of 32 bytes. Written lines stay in the L2.
        let dram = totals.dram;
        assert_eq!((totals.l2_traffic.fills, dram.bursts, dram.writes), (17, 17 * 4, 0), "{name}");
        assert_eq!(totals.sm.ctas, 4);
        assert_eq!(
            (report.kernels.len(), report.kernels[0].grid, report.kernels[0].block),
            (1, [4, 1, 1], [64, 1, 1])
        );
        assert_eq!(report.size, "trace");
    }
}

#[test]
fn a_list_runs_its_kernels_in_order_with_what_the_first_left_in_the_l2() {
    let (one, both) = (report("kernel-1.traceg"), report("kernelslist.g"));
    assert_eq!(both.kernels.len(), 2);
    assert_eq!(both.kernels[0].totals, one.kernels[0].totals);
    let second = &both.kernels[1].totals;
    assert_eq!(second.warp_instructions, one.totals.warp_instructions);
    assert_eq!((second.l1d.misses, second.l2.misses), (24, 0), "the L1Ds start empty, the L2 does not");
}

/// Returns the trace of a kernel of one warp with these instructions.
fn kernel(instructions: &[&str]) -> String {
    let header = "-kernel name = k\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-shmem = 1024\n-nregs = 8\n\
                  -shmem base_addr = 0x00007f0002000000\n-local mem base_addr = 0x00007f0000000000\n\
                  -accelsim tracer version = 5\n#traces format = ...\n#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\n";
    let count = instructions.len();
    format!("{header}insts = {count}\n{}\n#END_TB\n", instructions.join("\n"))
}

#[test]
fn a_load_that_its_guard_disables_in_every_lane_delays_what_waits_for_it_and_accesses_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let run_with = |mask: &str, name: &str| {
        let load = format!("0000 {mask} 1 R2 LDG.E.SYS 1 R4 4 1 0x100 4 0");
        let text = kernel(&[&load, "0010 ffffffff 1 R3 IADD3 1 R2 0", "0020 ffffffff 0 EXIT 0 0 0"]);
        std::fs::write(folder.path().join(name), text).expect("written");
        let source = Source::find(&folder.path().join(name).display().to_string()).expect("valid");
        let outcome = run(&spec(source, "base"), Arc::new(Control::default())).expect("it starts");
        assert!(outcome.fault.is_none(), "{:?}", outcome.fault.map(|fault| fault.to_string()));
        (outcome.report.totals.cycles, outcome.report.totals.l1d.accesses)
    };
    let ((disabled, none), (enabled, one)) =
        (run_with("00000000", "a.traceg"), run_with("ffffffff", "b.traceg"));
    assert_eq!((none, one), (0, 1));
    assert!(disabled + 100 < enabled, "{disabled} and {enabled}: a trip to DRAM lies between them");
}

/// Runs a kernel of one warp with these instructions.
fn run_kernel(instructions: &[&str]) -> RunReport {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("k.traceg");
    std::fs::write(&path, kernel(instructions)).expect("written");
    let source = Source::find(&path.display().to_string()).expect("valid");
    let outcome = run(&spec(source, "base"), Arc::new(Control::default())).expect("it starts");
    assert!(outcome.fault.is_none(), "{:?}", outcome.fault.map(|fault| fault.to_string()));
    outcome.report
}

#[test]
fn a_wait_for_a_group_of_copies_takes_their_trip_to_dram() {
    let cycles = |groups_left: u32| {
        let wait = format!("0020 ffffffff 0 DEPBAR.LE 0 0 {groups_left}");
        let mut lines = vec![
            "0000 ffffffff 0 LDGSTS.E.BYPASS.128 1 R2 16 1 0x100 16 0",
            "0010 ffffffff 0 LDGDEPBAR 0 0 0",
        ];
        lines.push(&wait);
        // A chain that is longer than the trip.
        lines.extend(["0030 ffffffff 1 R3 IADD3 1 R3 0 0"; 60]);
        lines.push("0040 ffffffff 0 EXIT 0 0 0");
        run_kernel(&lines).totals.cycles
    };
    let (waits, goes_on) = (cycles(0), cycles(1));
    assert!(goes_on + 100 < waits, "{goes_on} and {waits}");
}

#[test]
fn a_bulk_copy_reads_its_lines_past_the_l1d() {
    // 16 addresses of 32 bytes are four lines.
    let copy = "0000 00000001 0 UTMALDG.2D 2 UR4 UR8 32 0x400 0 512 0 4 0x1000 16 \
                32 32 32 32 32 32 32 32 32 32 32 32 32 32 32 0 0";
    let totals = run_kernel(&[copy, "0010 ffffffff 0 EXIT 0 0 0"]).totals;
    assert_eq!((totals.sm.memory_instructions, totals.sm.transactions), (1, 4));
    assert_eq!((totals.l1d.misses, totals.l2.accesses, totals.l2.misses), (0, 4, 4));
    assert_eq!(totals.dram.bursts, 4 * 4);
}
