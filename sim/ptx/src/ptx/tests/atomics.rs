//! Tests the stored and returned values of atomics of every width, space and ordering.

use super::forms::FORMS;
use super::{kernel_text, own_element, run_words};

fn words(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

/// Form, old value, operand and expected new value.
const WIDE: [(&str, u64, u64, u64); 15] = [
    ("add.u64", u64::MAX, 2, 1),
    ("add.u64", 0xffff_ffff, 1, 0x1_0000_0000),
    ("min.u64", 1 << 63, 5, 5),
    ("min.s64", 1 << 63, 5, 1 << 63),
    ("max.u64", 1 << 63, 5, 1 << 63),
    ("max.s64", 1 << 63, 5, 5),
    ("and.b64", 0xff00_ff00_ff00_ff00, 0x0ff0_0ff0_0ff0_0ff0, 0x0f00_0f00_0f00_0f00),
    ("or.b64", 0xff00_0000_0000_0000, 1, 0xff00_0000_0000_0001),
    ("xor.b64", u64::MAX, 0xff, 0xffff_ffff_ffff_ff00),
    ("exch.b64", 7, 0x8000_0000_0000_0001, 0x8000_0000_0000_0001),
    // 1.5 + 2.25, -0.0 + 0.0, infinity - infinity and the smallest subnormal twice.
    ("add.f64", 0x3ff8_0000_0000_0000, 0x4002_0000_0000_0000, 0x400e_0000_0000_0000),
    ("add.f64", 1 << 63, 0, 0),
    ("add.f64", 0x7ff0_0000_0000_0000, 0xfff0_0000_0000_0000, 0xfff8_0000_0000_0000),
    ("add.f64", 1, 1, 2),
    ("add.noftz.f64", 1 << 63, 1 << 63, 1 << 63),
];

#[test]
fn wide_atomics_work_in_every_ordering_and_scope() {
    let prefixes =
        ["atom", "atom.relaxed.cta", "atom.acquire.gpu", "atom.release.sys", "atom.acq_rel.cluster"];
    for (index, (form, old, operand, new)) in WIDE.into_iter().enumerate() {
        // `.noftz` only matters for half precision. Other types must accept it without effect.
        let prefix = prefixes[index % prefixes.len()];
        let body = own_element(24)
            + &format!("ld.global.u64 %rd3, [%rd0+8]; {prefix}.global.{form} %rd4, [%rd0], %rd3; st.global.u64 [%rd0+16], %rd4; ret;")
                .replace("%rd3", if form.ends_with("f64") { "%fd3" } else { "%rd3" })
                .replace("%rd4", if form.ends_with("f64") { "%fd4" } else { "%rd4" });
        let input = [words(old), words(operand), [0, 0]].concat();
        let (out, _) = run_words(&kernel_text("", &body), 1, &input).unwrap();
        assert_eq!(out, [words(new), words(operand), words(old)].concat(), "{prefix}.global.{form}");
    }
}

#[test]
fn a_wide_compare_and_swap_compares_all_bits() {
    let body = own_element(16)
        + "mov.u64 %rd3, 0x100000005; atom.global.cas.b64 %rd4, [%rd0], %rd3, 9; st.global.u64 [%rd0+8], %rd4; ret;";
    let run = |old: u64| run_words(&kernel_text("", &body), 1, &[words(old), [0, 0]].concat()).unwrap().0;
    assert_eq!(run(0x1_0000_0005), [words(9), words(0x1_0000_0005)].concat());
    assert_eq!(run(5), [words(5), words(5)].concat());
}

#[test]
fn lanes_of_a_partial_warp_update_shared_memory_one_after_the_other() {
    // Odd lanes of 20 threads add their number. Each gets the sum of the odd numbers below it.
    let body = own_element(4)
        + "mov.u32 %r1, 0; and.b32 %r2, %r0, 1; setp.eq.s32 %p1, %r2, 1; @%p1 atom.shared.add.u32 %r1, [box], %r0;\n\
           bar.sync 0; ld.shared.u32 %r3, [box]; mad.lo.u32 %r1, %r3, 1000, %r1; st.global.u32 [%rd0], %r1; ret;";
    let (out, _) = run_words(&kernel_text(".shared .u32 box;", &body), 20, &[0; 20]).unwrap();
    let below = |t: u32| if t % 2 == 1 { (t / 2) * (t / 2) } else { 0 };
    assert_eq!(out, (0..20).map(|t| 100_000 + below(t)).collect::<Vec<_>>());
}

#[test]
fn counters_wrap_where_their_operand_says() {
    for (form, old, operand, new) in [
        ("inc.u32", 0u32, 0u32, 0u32),
        ("inc.u32", u32::MAX - 1, u32::MAX, u32::MAX),
        ("inc.u32", u32::MAX, u32::MAX, 0),
        ("inc.u32", 9, 4, 0),
        ("dec.u32", 1, u32::MAX, 0),
        ("dec.u32", 0, u32::MAX, u32::MAX),
        ("dec.u32", 4, 4, 3),
    ] {
        for space in ["", ".global"] {
            let body = own_element(4) + &format!("red.relaxed.gpu{space}.{form} [%rd0], {operand}; ret;");
            assert_eq!(run_words(&kernel_text("", &body), 1, &[old]).unwrap().0, [new], "{form}");
        }
    }
}

/// Returns the expected new value, from a reference that interprets the numbers.
fn left(op: &str, of: &str, shared: bool, old: u32, operand: u32) -> u32 {
    let (a, b) = match of {
        "s32" => (i64::from(old as i32), i64::from(operand as i32)),
        _ => (i64::from(old), i64::from(operand)),
    };
    match (op, of) {
        // Outside shared memory, a subnormal number counts as zero of its sign.
        ("add", "f32") => {
            let value = |bits: u32| {
                let number = f32::from_bits(bits);
                if number.is_subnormal() && !shared { 0f32.copysign(number) } else { number }
            };
            value((value(old) + value(operand)).to_bits()).to_bits()
        }
        ("add", _) => (a + b) as u32,
        ("min", _) => a.min(b) as u32,
        ("max", _) => a.max(b) as u32,
        ("inc", _) => {
            if a >= b {
                0
            } else {
                old + 1
            }
        }
        ("and", _) => old & operand,
        ("or", _) => old | operand,
        ("exch", _) => operand,
        ("cas", _) => {
            if old == operand {
                77
            } else {
                old
            }
        }
        other => panic!("no reference for {other:?}"),
    }
}

#[test]
fn every_atomic_of_benchmarks_leaves_its_result_and_returns_the_old_value() {
    let words = [0, 1, 5, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, u32::MAX];
    let floats = [0.0f32, -0.0, 1.5, -3.25, 1e-40, f32::MAX, f32::INFINITY].map(f32::to_bits);
    let atomics = FORMS.lines().filter(|form| form.starts_with("atom.") || form.starts_with("red."));
    for form in atomics {
        let parts: Vec<&str> = form.split('.').collect();
        let op = parts.iter().find(|p| ["add", "min", "max", "inc", "and", "or", "exch", "cas"].contains(p));
        let (op, of) = (op.unwrap(), parts[parts.len() - 1]);
        let shared = parts.contains(&"shared");
        let values = if of == "f32" { floats } else { words };
        for old in values {
            for operand in values {
                let register = if of == "f32" { "%f" } else { "%r" };
                let returned = if parts[0] == "red" { String::new() } else { format!("{register}4, ") };
                let swap = if *op == "cas" { ", 77" } else { "" };
                let place = if shared { "[box]" } else { "[%rd0]" };
                let body = own_element(16)
                    + &format!(
                        "ld.global.u32 %r2, [%rd0]; st.shared.u32 [box], %r2; mov.b32 {register}4, 0;\n\
                         ld.global.b32 {register}3, [%rd0+4]; {form} {returned}{place}, {register}3{swap};\n\
                         st.global.b32 [%rd0+8], {register}4; ld.shared.u32 %r5, [box]; st.global.u32 [%rd0+12], %r5; ret;"
                    );
                let input = [old, operand, 0, 0];
                let (out, _) = run_words(&kernel_text(".shared .u32 box;", &body), 1, &input).unwrap();
                let new = left(op, of, shared, old, operand);
                let got = if shared { out[3] } else { out[0] };
                assert_eq!(got, new, "{form} of {old:#x} and {operand:#x}");
                assert_eq!(out[2], if parts[0] == "red" { 0 } else { old }, "{form} returns the old value");
            }
        }
    }
}
