//! Tests that every instruction form of real benchmarks decodes.

use super::super::Module;
use super::{FORMS_FILE, kernel_text};

/// One form per line. Lines that start with '#' are comments.
pub(super) const FORMS: &str = include_str!("forms.txt");

/// Returns register `number` of the file that matches a type such as `u32`.
fn register(of: &str, number: usize) -> String {
    let file = match of {
        "pred" => "%p",
        "u8" | "s8" | "b8" | "u16" | "s16" | "b16" => "%h",
        "f32" => "%f",
        "f64" => "%fd",
        "u64" | "s64" | "b64" => "%rd",
        _ => "%r",
    };
    format!("{file}{number}")
}

/// Returns `lanes` registers, in braces if there are several.
fn registers(of: &str, lanes: usize) -> String {
    let list = (1..=lanes).map(|number| register(of, number)).collect::<Vec<_>>().join(", ");
    if lanes == 1 { list } else { format!("{{{list}}}") }
}

fn lanes(modifiers: &[&str]) -> usize {
    if modifiers.contains(&"v4") {
        4
    } else if modifiers.contains(&"v2") {
        2
    } else {
        1
    }
}

/// Returns an address in the instruction's state space.
fn address(modifiers: &[&str]) -> &'static str {
    if modifiers.contains(&"param") { "[slot]" } else { "[%rd9]" }
}

/// Returns the operands of an arithmetic instruction: its result and its sources.
fn arithmetic(name: &str, modifiers: &[&str]) -> String {
    let of = *modifiers.last().unwrap_or(&"b32");
    let double = |of: &str| match of {
        "u16" | "s16" => "b32",
        _ => "b64",
    };
    let (result, sources) = match name {
        "setp" => ("pred", vec![of, of]),
        "selp" => (of, vec![of, of, "pred"]),
        "cvt" => (modifiers[modifiers.len() - 2], vec![of]),
        "popc" | "clz" | "bfind" => ("b32", vec![of]),
        "shl" | "shr" => (of, vec![of, "b32"]),
        "bfe" => (of, vec![of, "b32", "b32"]),
        "bfi" => (of, vec![of, of, "b32", "b32"]),
        "mul" if modifiers[0] == "wide" => (double(of), vec![of, of]),
        "mad" if modifiers[0] == "wide" => (double(of), vec![of, of, double(of)]),
        "mad" | "madc" | "fma" | "prmt" | "shf" => (of, vec![of, of, of]),
        "mov" | "not" | "neg" | "abs" | "brev" | "ex2" | "lg2" | "sin" | "cos" | "rcp" | "rsqrt" | "sqrt"
        | "cvta" => (of, vec![of]),
        _ => (of, vec![of, of]),
    };
    let operands = std::iter::once(result).chain(sources).enumerate();
    operands.map(|(number, of)| register(of, number + 1)).collect::<Vec<_>>().join(", ")
}

/// Returns the operands of a well-formed instruction of form `form`.
fn operands(form: &str) -> String {
    let parts: Vec<&str> = form.split('.').collect();
    let (name, modifiers) = (parts[0], &parts[1..]);
    let of = *modifiers.last().unwrap_or(&"");
    match name {
        "ld" => format!("{}, {}", registers(of, lanes(modifiers)), address(modifiers)),
        "st" => format!("{}, {}", address(modifiers), registers(of, lanes(modifiers))),
        "atom" if modifiers.contains(&"cas") => {
            format!("{}, [%rd9], {}, {}", register(of, 1), register(of, 2), register(of, 3))
        }
        "atom" => format!("{}, [%rd9], {}", register(of, 1), register(of, 2)),
        "red" => format!("[%rd9], {}", register(of, 1)),
        "tex" => {
            let dimensions = if modifiers[0] == "1d" { 1 } else { 2 };
            let coordinates = registers(of, dimensions);
            let braced = if dimensions == 1 { format!("{{{coordinates}}}") } else { coordinates };
            format!("{}, [%rd9, {braced}]", registers(modifiers[modifiers.len() - 2], 4))
        }
        "bra" => "LABEL".to_owned(),
        "ret" | "exit" | "membar" => String::new(),
        "call" => "(slot), function, (slot)".to_owned(),
        "bar" if modifiers == ["warp", "sync"] => "-1".to_owned(),
        "bar" if modifiers[0] == "red" => "%p1, 0, %p2".to_owned(),
        "bar" | "barrier" => "0".to_owned(),
        "shfl" => "%r1|%p1, %r2, 1, 31, -1".to_owned(),
        "vote" => format!("{}, %p2, -1", register(of, 1)),
        _ => arithmetic(name, modifiers),
    }
}

#[test]
fn every_form_of_real_benchmarks_decodes() {
    let forms: Vec<&str> = FORMS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    assert!(forms.len() > 400, "the list of forms is whole");
    let function = ".func (.param .b64 r) function(.param .b64 a) { ret; }";
    let refused: Vec<String> = forms
        .iter()
        .filter_map(|form| {
            let body = format!(".param .b64 slot;\nLABEL: {form} {};\nret;", operands(form));
            Module::parse("form.ptx", &kernel_text(function, &body)).err().map(|error| error.to_string())
        })
        .collect();
    assert!(refused.is_empty(), "{} of {} forms:\n{}", refused.len(), forms.len(), refused.join("\n"));
}

#[test]
fn every_form_of_real_benchmarks_is_executed_by_a_vector() {
    // A second run of the other tests of this crate writes the forms that they execute to a file.
    let folder = tempfile::tempdir().unwrap();
    let noted = folder.path().join("forms");
    let tests = std::env::current_exe().unwrap();
    let words = ["ptx::tests::", "--skip", "::forms::", "--skip", "::fuzz::", "--skip", "::parsing::"];
    let run = std::process::Command::new(tests).args(words).env(FORMS_FILE, &noted).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
    let noted = std::fs::read_to_string(noted).unwrap();
    let noted: std::collections::HashSet<&str> = noted.lines().collect();
    let forms = FORMS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let missing: Vec<&str> = forms.filter(|form| !noted.contains(form)).collect();
    assert!(missing.is_empty(), "{} forms without a vector: {}", missing.len(), missing.join(" "));
}

/// Further forms, each with its operands.
const MORE: &[&str] = &[
    "ld.global.ca.u32 %r1, [%rd1]",
    "ld.global.cg.u32 %r1, [%rd1]",
    "ld.global.cs.v2.f32 {%f1, %f2}, [%rd1]",
    "ld.global.lu.u64 %rd2, [%rd1]",
    "ld.global.cv.u8 %h1, [%rd1]",
    "ld.relaxed.gpu.global.u32 %r1, [%rd1]",
    "ld.acquire.sys.u64 %rd2, [%rd1]",
    "ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1]",
    "ld.weak.shared::cta.f64 %fd1, [%r1]",
    "ldu.global.f32 %f1, [%rd1]",
    "st.global.wb.u32 [%rd1], %r1",
    "st.global.cs.f64 [%rd1], %fd1",
    "st.global.wt.u16 [%rd1], %h1",
    "st.release.gpu.global.u32 [%rd1], %r1",
    "st.volatile.shared.u32 [%r1], 7",
    "prefetch.global.L2 [%rd1]",
    "prefetchu.L1 [%rd1]",
    "atom.acq_rel.gpu.global.add.u64 %rd2, [%rd1], %rd3",
    "atom.relaxed.cta.shared::cta.cas.b64 %rd2, [%r1], %rd3, %rd4",
    "atom.global.sys.add.f64 %fd1, [%rd1], %fd2",
    "atom.dec.u32 %r1, [%rd1], %r2",
    "red.relaxed.sys.global.max.s64 [%rd1], %rd2",
    "red.shared.inc.u32 [%r1], 4",
    "membar.sys",
    "fence.acq_rel.gpu",
    "fence.sc.cta",
    "bar.arrive 1, 64",
    "bar.cta.sync 0",
    "barrier.cta.sync.aligned 2, 64",
    "bar.red.popc.u32 %r1, 0, 32, !%p1",
    "barrier.red.and.pred %p1, 0, %p2",
    "nanosleep.u32 100",
    "trap",
    "brkpt",
    "shfl.up.b32 %r1, %r2, 1, 0",
    "vote.uni.pred %p1, !%p2",
    "lop3.b32 %r1, %r2, %r3, %r4, 0xe8",
    "shf.l.clamp.b32 %r1, %r2, %r3, 7",
    "isspacep.param %p1, %rd1",
    "mul24.hi.u32 %r1, %r2, %r3",
    "mad24.lo.s32 %r1, %r2, %r3, %r4",
    "addc.cc.u64 %rd1, %rd2, %rd3",
    "madc.lo.cc.s32 %r1, %r2, %r3, %r4",
    "add.sat.f32 %f1, %f2, %f3",
    "add.ftz.sat.f32 %f1, %f2, %f3",
    "mad.rn.f32 %f1, %f2, %f3, %f4",
    "tanh.approx.f32 %f1, %f2",
    "div.full.ftz.f32 %f1, %f2, %f3",
    "min.NaN.f32 %f1, %f2, %f3",
    "cvt.rmi.ftz.sat.f32.f32 %f1, %f2",
    "cvt.sat.u8.s32 %r1, %r2",
    "cvt.rp.f16.f32 %h1, %f1",
    "cvt.rzi.s64.f16 %rd1, %h1",
    "tex.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6, %f7, %f8}]",
    "tex.1d.v4.f32.s32 {%f1, _, _, _}, [%rd1, {%r1, %r2, %r3, %r4}]",
    "mov.u32 %r1, %clock",
    "mov.u64 %rd1, %clock64",
    "mov.u32 %r1, %lanemask_gt",
    "mov.b64 %rd1, {%h1, %h2, %h3, %h4}",
    "mov.u16 %h1, %ctaid.x",
    "cvt.u32.u16 %r1, %tid.x",
];

#[test]
fn further_forms_decode() {
    for statement in MORE {
        let text = kernel_text("", &format!("{statement}; ret;"));
        assert!(Module::parse("form.ptx", &text).is_ok(), "{:?}", Module::parse("form.ptx", &text).err());
    }
}
