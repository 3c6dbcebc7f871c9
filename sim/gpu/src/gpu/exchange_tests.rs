//! Checks, with and without timing, that lanes contribute nothing to an exchange unless they execute it. Reads of such lanes must
//! be reported.
use super::*;
use selvedge_ptx::ptx::{Arg, LaunchDims, Module, run_functional};

/// Returns the words that 32 threads leave in `%r2`, and the reported reads. `%r0` is the lane and `%r1` is 1000 more. `%p1` is
/// true in the first eight lanes, and `%p2` in the last eight.
fn run(statement: &str, timed: bool) -> (Vec<u32>, Vec<String>) {
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 p) {{\n.reg .pred %p<9>;\n\
         .reg .b32 %r<20>;\n.reg .b64 %rd<9>;\n.reg .f32 %f<9>;\nld.param.u64 %rd1, [p];\nmov.u32 %r0, %laneid;\n\
         add.u32 %r1, %r0, 1000;\nmov.u32 %r2, 77;\nsetp.lt.u32 %p1, %r0, 8;\nsetp.ge.u32 %p2, %r0, 24;\n\
         {statement}\nmul.wide.u32 %rd2, %r0, 4;\nadd.u64 %rd1, %rd1, %rd2;\nst.global.u32 [%rd1], %r2;\nret;\n}}\n"
    );
    let module = Module::parse("k.ptx", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let kernel = module.kernel("k").expect("there");
    let mut memory = DeviceMemory::new();
    memory.note_idle_reads();
    let buffer = memory.alloc(128, "p").expect("room");
    let params = kernel.pack(&[Arg::Ptr(buffer)]).expect("an address");
    let dims = LaunchDims::new([1; 3], [32, 1, 1]);
    let reads = if timed {
        let config = Arc::new(GpuConfig::load("gtx480").expect("built in"));
        let warnings = Arc::new(std::sync::Mutex::new(Vec::new()));
        let sink = Arc::clone(&warnings);
        let warn = move |text: &str| sink.lock().expect("no thread has panicked").push(text.to_owned());
        let control = Control::new(&Arc::default(), None, warn);
        let mut gpu = Gpu::new(&config, Parts::none(&config), Arc::new(control));
        let launched = LaunchedKernel::new(kernel, dims, params, 0, &config).expect("it fits");
        gpu.run(launched, &mut memory).expect("it ends");
        warnings.lock().expect("no thread has panicked").clone()
    } else {
        run_functional(&module, &kernel, &dims, &params, &mut memory).expect("it ends");
        memory.take_idle_reads()
    };
    (memory.read_u32s(buffer, 32).expect("there"), reads)
}

/// Checks the results of `statement`, on line 15, and its reports, with and without timing.
fn check(statement: &str, expected: impl Fn(u32) -> u32, report: Option<&str>) {
    for timed in [false, true] {
        let (words, reads) = run(statement, timed);
        assert_eq!(words, (0..32).map(&expected).collect::<Vec<_>>(), "{statement}, timed: {timed}");
        let line = |what| format!("k.ptx:15: kernel 'k', block (0,0,0), thread {what}");
        assert_eq!(reads, report.map(line).into_iter().collect::<Vec<_>>(), "{statement}, timed: {timed}");
    }
}

/// Returns a report, up to the name of the lane that is read.
fn report(thread: u32, text: &str, what: &str) -> Option<String> {
    Some(format!("({thread},0,0): `{text}` {what}"))
}

#[test]
fn a_shuffle_reads_0_of_a_lane_that_does_not_execute_it() {
    let reads = |lane: u32| format!("reads lane {lane}, which does not execute it, and gets 0");
    let first = |t: u32, value: u32| if t < 8 { value } else { 77 };
    for form in ["shfl.sync.down.b32 %r2, %r1, 16, 31, 0xff;", "shfl.down.b32 %r2, %r1, 16, 31;"] {
        let text = form.trim_end_matches(';');
        let says = report(0, &format!("@%p1 {text}"), &reads(16));
        check(&format!("@%p1 {form}"), |t| first(t, 0), says.as_deref());
        // With a branch instead of a guard.
        let says = report(0, text, &reads(16));
        check(&format!("@!%p1 bra END; {form} END:"), |t| first(t, 0), says.as_deref());
    }
    let some = "@%p1 shfl.sync.down.b32 %r2, %r1, 4, 31, 0xff";
    check(
        &format!("{some};"),
        |t| first(t, if t < 4 { 1004 + t } else { 0 }),
        report(4, some, &reads(8)).as_deref(),
    );
    let up = "@%p2 shfl.sync.up.b32 %r2, %r1, 4, 0, -1";
    let expected = |t: u32| {
        if t >= 28 {
            996 + t
        } else if t >= 24 {
            0
        } else {
            77
        }
    };
    check(&format!("{up};"), expected, report(24, up, &reads(20)).as_deref());
    let across = "@%p1 shfl.sync.bfly.b32 %r2, %r1, 8, 31, -1";
    check(&format!("{across};"), |t| first(t, 0), report(0, across, &reads(8)).as_deref());
    let index = "@%p1 shfl.sync.idx.b32 %r2, %r1, 30, 31, -1";
    check(&format!("{index};"), |t| first(t, 0), report(0, index, &reads(30)).as_deref());
    let found = "@%p1 shfl.sync.idx.b32 %r2|%p3, %r1, 30, 31, -1";
    let flag = format!("{found}; @%p1 selp.u32 %r3, 5, 6, %p3; @%p1 add.u32 %r2, %r2, %r3;");
    check(&flag, |t| first(t, 5), report(0, found, &reads(30)).as_deref());
    // A lane that has ended does not execute the exchange. A lane that reads itself does.
    let ended = "shfl.sync.idx.b32 %r3, %r1, 1, 31, -1";
    let odd = format!(
        "setp.eq.u32 %p3, %r0, 1; mul.wide.u32 %rd3, %r0, 4; add.u64 %rd3, %rd1, %rd3; \
         @%p3 st.global.u32 [%rd3], 9; @%p3 exit; {ended}; mov.u32 %r2, %r3;"
    );
    check(&odd, |t| if t == 1 { 9 } else { 0 }, report(0, ended, &reads(1)).as_deref());
    check("@%p1 shfl.sync.idx.b32 %r2, %r1, 3, 31, -1;", |t| first(t, 1003), None);
    check("@%p1 shfl.sync.down.b32 %r2, %r1, 8, 6151, -1;", |t| first(t, 1000 + t), None);
}

#[test]
fn votes_matches_and_reductions_leave_out_lanes_that_do_not_execute_them() {
    let first = |value: u32| move |t: u32| if t < 8 { value } else { 77 };
    let flag = "@%p1 selp.u32 %r2, 1, 0, %p4;";
    let always = "setp.eq.u32 %p3, %r0, %r0;";
    let other = "mov.u32 %r5, 4; @%p1 mov.u32 %r5, 3;";
    for (setup, form, after, value) in [
        (always, "vote.sync.ballot.b32 %r2, %p3, -1", "", 0xff),
        (always, "vote.sync.all.pred %p4, %p1, -1", flag, 1),
        (always, "vote.sync.any.pred %p4, %p2, -1", flag, 0),
        (always, "vote.sync.uni.pred %p4, %p1, -1", flag, 1),
        ("mov.u32 %r5, 3;", "match.any.sync.b32 %r2, %r5, -1", "", 0xff),
        (other, "match.all.sync.b32 %r2|%p4, %r5, -1", "", 0xff),
        ("mov.u64 %rd4, 3;", "match.any.sync.b64 %r2, %rd4, -1", "", 0xff),
        ("", "redux.sync.add.u32 %r2, %r1, -1", "", 8028),
        ("", "redux.sync.max.u32 %r2, %r1, -1", "", 1007),
        ("sub.s32 %r6, 5, %r1;", "redux.sync.min.s32 %r2, %r6, -1", "", (5 - 1007i32) as u32),
        ("", "redux.sync.or.b32 %r2, %r0, -1", "", 7),
    ] {
        let text = format!("@%p1 {form}");
        let what = "names lane 8 as a member, which does not execute it, and leaves it out";
        let says = report(0, &text, what);
        check(&format!("{setup} {text}; {after}"), first(value), says.as_deref());
        // If the mask does not name the lane, nothing is reported.
        let named = text.replace("-1", "0xff");
        check(&format!("{setup} {named}; {after}"), first(value), None);
    }
    for (form, after, value) in [
        ("vote.ballot.b32 %r2, %p3", "", 0xff),
        ("vote.all.pred %p4, %p1", flag, 1),
        ("vote.any.pred %p4, %p2", flag, 0),
        ("vote.uni.pred %p4, %p1", flag, 1),
        ("activemask.b32 %r2", "", 0xff),
    ] {
        check(&format!("{always} @%p1 {form}; {after}"), first(value), None);
    }
}

#[test]
fn a_matrix_product_takes_0_from_lanes_that_do_not_execute_it() {
    // All elements are 1; lanes 0 to 15 have rows 0 to 3 and 8 to 11, and columns 0 to 3.
    let setup = "mov.u32 %r5, 0x3c003c00; mov.f32 %f1, 0f00000000; setp.lt.u32 %p3, %r0, 16;";
    let form = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f2, %f3, %f4, %f5}, {%r5, %r5}, {%r5}, {%f1, %f1, %f1, %f1}";
    let expected = |t: u32| match t {
        0..16 if t % 4 < 2 => 8f32.to_bits(),
        0..16 => 0,
        _ => 77,
    };
    let text = format!("@%p3 {form}");
    let says = report(0, &text, "is executed by 16 of 32 lanes, and gets 0 from the others");
    check(&format!("{setup} {text}; @%p3 mov.b32 %r2, %f4;"), expected, says.as_deref());
    check(&format!("{setup} {form}; mov.b32 %r2, %f4;"), |_| 8f32.to_bits(), None);
}
