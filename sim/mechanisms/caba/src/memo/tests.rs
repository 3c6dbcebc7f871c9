//! Tests of memoization on the whole GPU, with kernels that it must speed up, must not change, or that stress it.
use super::table::SharedTable;
use super::*;
use crate::lanes::{Lanes, ParentRegion};
use crate::routine::Routine;
use crate::tests::counter;
use selvedge_gpu::mechanism::probe::{ProbeSpec, Probes};
use selvedge_gpu::sm::part::{AssistIssue, RegionEntry, RegionMemo, RegionReply, SmPart, Word};
use selvedge_hw::Engine;
use selvedge_mechanism_testing::kernels::ROUNDS;
use selvedge_mechanism_testing::{NOTHING, SmallKernel, run_kernel, run_workload};
use selvedge_sim::mechanism::MechanismSpec;
use selvedge_sim::report::RunReport;

/// Calls `f` with %r3 and puts the result into %r4.
const CALL: &str = "{\n.param .b32 p;\n.param .b32 q;\nst.param.b32 [p], %r3;\ncall (q), f, (p);\nld.param.b32 %r4, [q];\n}\n";

/// A kernel `k` of a buffer in %rd1, with the thread's number in %r1 and its own word's address in %rd3.
struct Task {
    functions: &'static str,
    /// Body of a loop of 64 passes, which %r2 counts.
    body: String,
    /// Bytes of shared memory that a CTA has.
    shared: u32,
}

/// Returns a kernel that sets %r3 by `argument`, calls `f`, and adds up the results.
fn task(argument: &str) -> Task {
    Task { functions: ROUNDS, body: format!("{argument}\n{CALL}add.u32 %r5, %r5, %r4;\n"), shared: 0 }
}

/// Sets %r3 to one of 64 values.
const FEW: &str = "add.u32 %r3, %r1, %r2;\nand.b32 %r3, %r3, 63;";

/// Sets %r3 to a value that no pass had before.
const FRESH: &str = "mad.lo.u32 %r3, %r2, 7680, %r1;";

impl Task {
    fn run(&self, mechanism: &str, engine: Engine) -> RunReport {
        let own = match self.shared {
            0 => String::new(),
            shared => format!(".shared .b8 own[{shared}];\nst.shared.u32 [own], %r1;\n"),
        };
        let body = format!(
            "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd3, %rd1, %rd3;\n{own}mov.u32 %r2, 0;\nmov.u32 %r5, 0;\n\
             PASS:\n{}add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p9, %r2, 64;\n@%p9 bra PASS;\nst.global.u32 [%rd3], %r5;",
            self.body
        );
        let kernel = SmallKernel {
            grid: 9,
            block: 256,
            words: 9 * 256,
            functions: self.functions,
            body: &body,
            ..NOTHING
        };
        run_kernel(&kernel, "base = \"gtx480\"\n[sm]\ncount = 3\n", mechanism, engine).report
    }

    fn base_and_memo(&self) -> (u64, RunReport) {
        (self.run("base", Engine::Model).totals.cycles, self.run("caba-memo", Engine::Model))
    }
}

#[test]
fn what_was_computed_before_is_looked_up() {
    let (base, report) = task(FEW).base_and_memo();
    let memo = report.totals.cycles;
    assert!(memo * 100 < base * 70, "base {base}, caba-memo {memo}");
    // In each of 64 passes, the eight warps of each of nine CTAs look up. Results that were not found are stored.
    let [asked, found, stored] =
        ["regions_asked", "regions_found", "region_results_stored"].map(|name| counter(&report, name));
    assert_eq!(asked, 9 * 8 * 64);
    assert_eq!(stored, asked - found);
    assert_eq!(counter(&report, "assist_warps_high"), asked + stored);
    assert_eq!(counter(&report, "assist_warps_finished"), asked + stored);
    assert!(found * 100 > asked * 90, "{found} of {asked}");
    // The moves of parameters, two instructions before the loop, 40 passes of four, and the instructions after it.
    let skipped = counter(&report, "region_instructions_skipped");
    assert_eq!(skipped % found, 0);
    assert!((160..170).contains(&(skipped / found)), "{}", skipped / found);
    assert_eq!(counter(&report, "table_entries"), 3 * 1024);
}

#[test]
fn values_that_do_not_recur_cost_little_before_their_region_is_given_up() {
    let (base, report) = task(FRESH).base_and_memo();
    let memo = report.totals.cycles;
    assert!(memo * 100 <= base * 104, "base {base}, caba-memo {memo}");
    assert_eq!(counter(&report, "regions_found"), 0);
    assert!(counter(&report, "regions_given_up") >= 3, "in each SM");
}

#[test]
fn a_kernel_without_functions_runs_as_without() {
    let kernel = Task { functions: "", body: "mad.lo.u32 %r5, %r5, 5, %r2;\n".into(), shared: 0 };
    let (base, report) = kernel.base_and_memo();
    assert_eq!(report.totals.cycles, base);
    assert_eq!(counter(&report, "regions_asked"), 0);
}

#[test]
fn the_table_has_what_the_ctas_leave_of_shared_memory() {
    let entries = |shared: u32| {
        let report = Task { shared, ..task(FEW) }.run("caba-memo", Engine::Model);
        (counter(&report, "regions_found") > 0, counter(&report, "tables_cleared"))
    };
    // Three CTAs leave 6 KB of an SM's 48 KB. In each SM the table is cleared at the kernel's start, when it becomes smaller,
    // and when it has all the shared memory again.
    assert_eq!(entries(14 << 10), (true, 3 * 3));
    assert!(!entries(16 << 10).0, "all of it is taken");
}

#[test]
fn lanes_that_part_inside_or_call_alone_get_what_is_theirs() {
    // Odd lanes execute 10 more passes. Only lanes with values below 20 call `f`; the others keep a number.
    let parting = ".func (.param .b32 r) f(.param .b32 x) {\n.reg .b32 %a<4>;\n.reg .pred %q;\n.reg .pred %s;\n\
        ld.param.u32 %a0, [x];\nmov.u32 %a1, 0;\nand.b32 %a2, %a0, 1;\nmad.lo.u32 %a2, %a2, 10, 40;\n\
        setp.eq.u32 %s, %a0, 3;\n@%s bra THREE;\n\
        AGAIN:\nmad.lo.u32 %a0, %a0, 1664525, 1013904223;\nadd.u32 %a1, %a1, 1;\nsetp.lt.u32 %q, %a1, %a2;\n\
        @%q bra AGAIN;\nst.param.b32 [r], %a0;\nret;\nTHREE:\nst.param.b32 [r], 333;\nret;\n}\n";
    let call = CALL.replace("call (q)", "setp.lt.u32 %p1, %r3, 20;\nst.param.b32 [q], 7;\n@%p1 call (q)");
    let body = format!("{FEW}\n{call}add.u32 %r5, %r5, %r4;\n");
    let kernel = Task { functions: parting, body, shared: 0 };
    let (base, report) = kernel.base_and_memo();
    assert!(counter(&report, "regions_found") > 0, "and every value was checked");
    assert!(report.totals.cycles < base);
}

#[test]
fn functions_of_every_shape_are_looked_up() {
    let two = ROUNDS
        .replace("(.param .b32 x)", "(.param .b32 x, .param .b32 y)")
        .replace("mov.u32 %a1, 0;", "ld.param.u32 %a2, [y];\nxor.b32 %a0, %a0, %a2;\nmov.u32 %a1, 0;");
    let two: &str = two.leak();
    let call = CALL
        .replace(
            "st.param.b32 [p], %r3;",
            ".param .b32 s;\nst.param.b32 [p], %r3;\nshr.u32 %r6, %r3, 2;\nst.param.b32 [s], %r6;",
        )
        .replace("f, (p)", "f, (p, s)");
    let kernel = Task { functions: two, body: format!("{FEW}\n{call}add.u32 %r5, %r5, %r4;\n"), shared: 0 };
    let (base, report) = kernel.base_and_memo();
    assert!(
        counter(&report, "regions_found") > 0 && report.totals.cycles < base,
        "two inputs: {base} {report:?}"
    );
    let wide = ROUNDS
        .replace("(.param .b32 r)", "(.param .b64 r)")
        .replace("st.param.b32 [r], %a0;", ".reg .b64 %w;\nmul.wide.u32 %w, %a0, 77;\nst.param.b64 [r], %w;");
    let call = CALL.replace(".param .b32 q", ".param .b64 q").replace(
        "ld.param.b32 %r4, [q];",
        "ld.param.b64 %rd5, [q];\nshr.u64 %rd5, %rd5, 20;\ncvt.u32.u64 %r4, %rd5;",
    );
    let kernel =
        Task { functions: wide.leak(), body: format!("{FEW}\n{call}add.u32 %r5, %r5, %r4;\n"), shared: 0 };
    let (base, report) = kernel.base_and_memo();
    assert!(counter(&report, "regions_found") > 0 && report.totals.cycles < base, "a result of 64 bits");
    // Three inputs and a result do not fit into an entry.
    let three = two
        .replace("(.param .b32 x, .param .b32 y)", "(.param .b32 x, .param .b32 y, .param .b32 z)")
        .replace("mov.u32 %a1, 0;", "ld.param.u32 %a3, [z];\nxor.b32 %a0, %a0, %a3;\nmov.u32 %a1, 0;");
    let call = CALL.replace("call (q), f, (p)", "call (q), f, (p, p, p)").replace("st.param.b32 [p], %r3;", ".param .b32 s;\nst.param.b32 [p], %r3;\nst.param.b32 [s], %r2;\n.param .b32 t;\nst.param.b32 [t], %r1;");
    let call = call.replace("(p, p, p)", "(p, s, t)");
    let kernel =
        Task { functions: three.leak(), body: format!("{FEW}\n{call}add.u32 %r5, %r5, %r4;\n"), shared: 0 };
    assert_eq!(counter(&kernel.base_and_memo().1, "regions_asked"), 0);
}

#[test]
fn short_functions_are_not_asked_for() {
    let short = ".func (.param .b32 r) f(.param .b32 x) {\n.reg .b32 %a<2>;\nld.param.u32 %a0, [x];\n\
                 mad.lo.u32 %a0, %a0, 5, 7;\nst.param.b32 [r], %a0;\nret;\n}\n";
    let kernel = Task { functions: short, ..task(FEW) };
    let (base, report) = kernel.base_and_memo();
    assert_eq!(counter(&report, "regions_asked"), 0);
    assert_eq!(report.totals.cycles, base);
    let all = kernel.run("caba-memo,least=1", Engine::Model);
    assert!(counter(&all, "regions_found") > 0, "but they can be");
}

#[test]
fn every_engine_gives_the_same_report() {
    // Recurring values, fresh values, and a table with little shared memory.
    for task in [task(FEW), task(FRESH), Task { shared: 14 << 10, ..task(FEW) }] {
        let run = |engine| {
            let report = task.run("caba-memo", engine);
            (report.totals.cycles, report.mechanism_counters)
        };
        let model = run(Engine::Model);
        assert_eq!(run(Engine::Rtl), model);
        assert_eq!(run(Engine::Lockstep), model);
    }
}

#[test]
fn the_workload_made_for_it_has_the_values_of_its_reference() {
    let report = run_workload("tone_map", "gtx480", "caba-memo").report;
    assert!(counter(&report, "regions_found") > 0);
}

/// Checks that a look-up of each shape finds in the table exactly the results that were stored.
#[test]
fn the_routines_find_what_they_have_stored_and_nothing_else() {
    for shape in SHAPES {
        let table = SharedTable::default();
        table.lock().clear(256);
        let run = |routine: &Routine, words: Vec<Word>| {
            let region = ParentRegion { words, given: Vec::new(), table: Some(SharedTable::clone(&table)) };
            let mut lanes = Lanes::of_region(region);
            for instruction in &routine.code {
                lanes.execute(instruction, 0x00ff_ffff).expect("it reaches no line");
            }
            lanes
        };
        let word = |seed: u32| -> Word { std::array::from_fn(|lane| seed + lane as u32) };
        let head = vec![[5; 32], [table.lock().shift(); 32]];
        let inputs: Vec<Word> = (0..shape.inputs as u32).map(|n| word(1000 * n + 3)).collect();
        let results: Vec<Word> = (0..shape.results as u32).map(|n| word(70_000 + n)).collect();
        let ask = [head.clone(), inputs.clone()].concat();
        assert!(run(&shape.lookup(), ask.clone()).made.is_none(), "the table is empty");
        run(&shape.store(), [head.clone(), inputs.clone(), results.clone(), vec![[0; 32]]].concat());
        let found = run(&shape.lookup(), ask);
        assert!(found.made.is_some(), "{shape:?}");
        for (given, result) in found.region.given.iter().zip(&results) {
            assert!(super::table::agree(given, result, 0x00ff_ffff));
        }
        assert_eq!(found.region.given.len(), shape.results);
        let other_region = [vec![[6; 32], head[1]], inputs.clone()].concat();
        assert!(run(&shape.lookup(), other_region).made.is_none(), "another region's tag");
        for input in 0..shape.inputs {
            let mut other = [head.clone(), inputs.clone()].concat();
            other[2 + input][23] ^= 1 << 31;
            assert!(run(&shape.lookup(), other).made.is_none(), "one lane of input {input} differs");
        }
    }
}

#[test]
fn a_wrong_entry_of_the_table_is_found_out() {
    let options = sm::MemoSettings {
        entries: 64,
        least: 1,
        controllers: crate::deployment::AssistControllers {
            params: Default::default(),
            schedulers: 2,
            warps: 48,
            integers: selvedge_gpu::sm::pipes::PipeKind::Alu,
        },
        latencies: AssistLatencies { alu: 1, load: 1, shared: 1, store: 1 },
        shared_bytes: 48 << 10,
    };
    let probes = Probes::new(ProbeSpec::default(), Engine::Model);
    let mut own = MemoSm::new(0, options, &probes);
    let memory = selvedge_ptx::memory::DeviceMemory::new();
    let mut now = 0;
    let mut answer = |own: &mut MemoSm, seed: u32| -> RegionReply {
        let inputs = vec![std::array::from_fn(|lane| seed + lane as u32)];
        own.region_entered(
            now,
            RegionEntry { kernel: 0, warp: 3, region: 7, mask: u32::MAX, inputs, results: 1 },
        );
        for _ in 0..1000 {
            now += 1;
            own.tick(now, &memory).expect("nothing is wrong yet");
            if let Some(answer) = own.region_reply() {
                return answer;
            }
            if own.extras(now).is_some_and(|extras| extras.ready.iter().any(|warps| warps >> 3 & 1 == 1)) {
                own.issue_extra(now, 3);
            }
        }
        panic!("no answer");
    };
    assert_eq!(answer(&mut own, 5), RegionReply { warp: 3, is_known: false });
    own.region_computed(0, 3, vec![[9; 32]]);
    assert_eq!(answer(&mut own, 5), RegionReply { warp: 3, is_known: true }, "after its results were stored");
    assert!(own.region_skipped(3, 1, &[[9; 32]]).is_ok());
    assert!(answer(&mut own, 5).is_known);
    let mut computed = [9; 32];
    computed[30] = 10;
    let wrong = own.region_skipped(3, 1, &[computed]).expect_err("the table has another value").to_string();
    assert!(
        wrong.contains("sm0.awc") && wrong.contains("has 0x9") && wrong.contains("0xa in lane 30"),
        "{wrong}"
    );
}

#[test]
fn its_registers_come_out_of_the_threads_and_bad_options_are_refused() {
    let base = GpuConfig::load("gtx480").expect("built in");
    let spec: MechanismSpec = "caba-memo".parse().expect("valid");
    let extra = spec.machine(&base).expect("it suits").sm.extra_registers - base.sm.extra_registers;
    assert_eq!(extra, 12 + 2 + 1, "r4 to r15, and the inputs of a region and where they were not found");
    let error = |text: &str| text.parse::<MechanismSpec>().expect_err("it is wrong").to_string();
    assert!(error("caba-memo,entries=100").contains("power of two from 64 to 65536"));
    assert!(error("caba-memo,least=0").contains("must be 1 to 65536"));
    assert!(error("caba-memo+caba-bdi").contains("both have the SMs' assist warps"));
}
