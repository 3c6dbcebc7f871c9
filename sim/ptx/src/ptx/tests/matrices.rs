//! Tests matrix products, loads of their fragments, and copies to shared memory.

use super::super::small_float::SmallFloat;
use super::super::{Module, Rounding};
use super::{kernel_text, note_all, own_element, run_words};

/// Operands of one product: rows of A, B and C.
struct Operands {
    a: Vec<Vec<f64>>,
    b: Vec<Vec<f64>>,
    c: Vec<Vec<f64>>,
}

impl Operands {
    /// Returns small integers, whose products and sums are exact in every format.
    fn small(k: usize, unsigned: bool) -> Self {
        let value = |seed: usize| ((seed * 7 + seed / 5) % 7) as f64 - if unsigned { 0.0 } else { 3.0 };
        let matrix = |rows: usize, columns: usize, seed: usize| {
            (0..rows).map(|r| (0..columns).map(|c| value(seed + 31 * r + c)).collect()).collect()
        };
        Operands { a: matrix(16, k, 1), b: matrix(k, 8, 2), c: matrix(16, 8, 3) }
    }

    fn product(&self, row: usize, column: usize) -> f64 {
        self.c[row][column] + self.a[row].iter().zip(&self.b).map(|(a, b)| a * b[column]).sum::<f64>()
    }
}

/// Packs elements of `bits` bits into words, the lowest first.
fn pack(elements: &[f64], encode: &dyn Fn(f64) -> u32, bits: u32) -> Vec<u32> {
    let per_word = (32 / bits) as usize;
    let word =
        |chunk: &[f64]| chunk.iter().enumerate().fold(0, |w, (i, v)| w | encode(*v) << (i as u32 * bits));
    elements.chunks(per_word).map(word).collect()
}

fn float(format: SmallFloat) -> impl Fn(f64) -> u32 {
    move |value| format.encode(value, Rounding::Nearest)
}

/// Runs a product and compares it element by element. Fragments have the layout of the PTX ISA's figures.
fn check_product(form: &str, k: usize, bits: u32, encode: &dyn Fn(f64) -> u32, sum: &str, unsigned: bool) {
    let operands = Operands::small(k, unsigned);
    let (a_count, b_count) = (16 * k * bits as usize / 1024, 8 * k * bits as usize / 1024);
    let half_sum = sum == "f16";
    let c_count = if half_sum { 2 } else { 4 };
    let encode_sum = |value: f64| match sum {
        "f16" => SmallFloat::Half.encode(value, Rounding::Nearest),
        "f32" => (value as f32).to_bits(),
        _ => value as i32 as u32,
    };
    let mut input = Vec::new();
    for lane in 0..32 {
        let (group, thread) = (lane / 4, lane % 4);
        let per_word = (32 / bits) as usize;
        // The figures number the elements of a thread. These expressions give the row and column of each.
        let a: Vec<f64> = (0..a_count * per_word)
            .map(|i| {
                let register = i / per_word;
                let row = group + if register % 2 == 1 { 8 } else { 0 };
                let column = thread * per_word + i % per_word + if register >= 2 { 4 * per_word } else { 0 };
                operands.a[row][column]
            })
            .collect();
        let b: Vec<f64> = (0..b_count * per_word)
            .map(|i| operands.b[thread * per_word + i % per_word + i / per_word * 4 * per_word][group])
            .collect();
        let c: Vec<f64> =
            (0..4).map(|i| operands.c[if i < 2 { group } else { group + 8 }][thread * 2 + i % 2]).collect();
        let mut words = pack(&a, encode, bits);
        words.extend(pack(&b, encode, bits));
        words.extend(pack(&c, &encode_sum, if half_sum { 16 } else { 32 }));
        words.resize(16, 0);
        input.extend(words);
    }
    let registers = |first: usize, count: usize| {
        (first..first + count).map(|n| format!("%r{n}")).collect::<Vec<_>>().join(", ")
    };
    let loads: String = (0..a_count + b_count + c_count)
        .map(|n| format!("ld.global.b32 %r{}, [%rd0+{}];\n", 10 + n, 4 * n))
        .collect();
    let stores: String =
        (0..c_count).map(|n| format!("st.global.b32 [%rd0+{}], %r{};\n", 4 * n, 30 + n)).collect();
    let body = own_element(64)
        + &loads
        + &format!(
            "{form} {{{}}}, {{{}}}, {{{}}}, {{{}}};\n{stores}ret;",
            registers(30, c_count),
            registers(10, a_count),
            registers(10 + a_count, b_count),
            registers(10 + a_count + b_count, c_count)
        );
    let (out, _) = run_words(&kernel_text("", &body), 32, &input).unwrap();
    for lane in 0..32 {
        let (group, thread) = (lane / 4, lane % 4);
        let d: Vec<f64> = (0..4)
            .map(|i| operands.product(if i < 2 { group } else { group + 8 }, thread * 2 + i % 2))
            .collect();
        let wanted = pack(&d, &encode_sum, if half_sum { 16 } else { 32 });
        assert_eq!(out[16 * lane..][..c_count], wanted, "{form}, lane {lane}");
    }
}

#[test]
fn products_of_every_shape_and_type_are_those_of_whole_numbers() {
    let form = |shape: &str, types: &str| format!("mma.sync.aligned.{shape}.row.col.{types}");
    for k in [8, 16] {
        let shape = format!("m16n8k{k}");
        for sum in ["f16", "f32"] {
            let types = format!("{sum}.f16.f16.{sum}");
            check_product(&form(&shape, &types), k, 16, &float(SmallFloat::Half), sum, false);
        }
        check_product(&form(&shape, "f32.bf16.bf16.f32"), k, 16, &float(SmallFloat::Brain), "f32", false);
    }
    for k in [4, 8] {
        let shape = format!("m16n8k{k}");
        check_product(&form(&shape, "f32.tf32.tf32.f32"), k, 32, &float(SmallFloat::Tf32), "f32", false);
    }
    for k in [16, 32] {
        let shape = format!("m16n8k{k}");
        let byte = |value: f64| value as i8 as u8 as u32;
        check_product(&form(&shape, "s32.s8.s8.s32"), k, 8, &byte, "s32", false);
        check_product(&form(&shape, "satfinite.s32.u8.s8.s32"), k, 8, &byte, "s32", true);
    }
    check_product(&form("m16n8k32", "f32.e4m3.e4m3.f32"), 32, 8, &float(SmallFloat::E4m3), "f32", false);
    check_product(&form("m16n8k32", "f32.e5m2.e5m2.f32"), 32, 8, &float(SmallFloat::E5m2), "f32", false);
}

#[test]
fn integer_sums_wrap_or_saturate() {
    for (modifier, wanted) in [("", i32::MIN as u32 + 508), (".satfinite", i32::MAX as u32)] {
        let body = own_element(4)
            + &format!(
                "mov.b32 %r1, 0x01010101; mov.b32 %r2, 0x7f7f7f7f; mov.b32 %r3, 0; mov.b32 %r4, 0x7ffffffd;\n\
                 setp.ge.u32 %p1, %r0, 4; @%p1 mov.b32 %r1, 0; and.b32 %r5, %r0, 3; setp.ne.u32 %p2, %r5, 0;\n\
                 @%p2 mov.b32 %r1, 0;\n\
                 mma.sync.aligned.m16n8k16.row.col{modifier}.s32.s8.s8.s32 {{%r10, %r11, %r12, %r13}}, \
                 {{%r1, %r3}}, {{%r2}}, {{%r4, %r4, %r4, %r4}};\n\
                 st.global.u32 [%rd0], %r10; ret;"
            );
        let (out, _) = run_words(&kernel_text("", &body), 32, &[0; 32]).unwrap();
        // 4 x 127 is added to a value that is 3 below the maximum.
        assert_eq!(out[0], wanted.wrapping_sub(if modifier.is_empty() { 3 } else { 0 }), "{modifier}");
    }
}

#[test]
fn fragments_are_loaded_from_rows_and_columns() {
    for (count, transposed) in [(1, false), (2, false), (4, false), (4, true)] {
        let list = (1..=count).map(|n| format!("%r{n}")).collect::<Vec<_>>().join(", ");
        let trans = if transposed { ".trans" } else { "" };
        let form = format!("ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16");
        let stores: String =
            (1..=count).map(|n| format!("st.global.u32 [%rd0+{}], %r{n};\n", 4 * (n - 1))).collect();
        // Element e of the 256 in shared memory has the value e. Row r starts at byte 16 r.
        let body = own_element(16)
            + &format!(
                "mov.u32 %r20, tile; shl.b32 %r21, %r0, 4; add.u32 %r22, %r20, %r21; shl.b32 %r23, %r0, 3; mov.u32 %r24, 0;\n\
                 L: add.u32 %r25, %r23, %r24; shl.b32 %r26, %r24, 1; add.u32 %r26, %r26, %r22; cvt.u16.u32 %h1, %r25;\n\
                 st.shared.u16 [%r26], %h1; add.u32 %r24, %r24, 1; setp.lt.u32 %p1, %r24, 8; @%p1 bra L;\n\
                 bar.sync 0; {form} {{{list}}}, [%r22];\n{stores}ret;"
            );
        let (out, _) =
            run_words(&kernel_text(".shared .align 16 .b8 tile[512];", &body), 32, &[0; 128]).unwrap();
        for lane in 0..32 {
            for matrix in 0..count {
                let element = |row: usize, column: usize| (64 * matrix + 8 * row + column) as u32;
                let (line, pair) = (lane / 4, lane % 4 * 2);
                let [low, high] = if transposed {
                    [element(pair, line), element(pair + 1, line)]
                } else {
                    [element(line, pair), element(line, pair + 1)]
                };
                assert_eq!(out[4 * lane + matrix], low | high << 16, "x{count} {trans} lane {lane}");
            }
        }
    }
}

#[test]
fn a_load_of_fragments_needs_the_whole_warp_and_aligned_rows() {
    let body =
        own_element(4) + "mov.u32 %r20, tile; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r20]; ret;";
    let text = kernel_text(".shared .align 16 .b8 tile[512];", &body);
    let refused = run_words(&text, 16, &[0; 32]).unwrap_err().to_string();
    assert!(refused.ends_with("needs all 32 lanes of the warp, got 16"), "{refused}");
    let refused = run_words(&text.replace("[%r20]", "[%r20+8]"), 32, &[0; 32]).unwrap_err().to_string();
    assert!(refused.contains("needs an address that is a multiple of 16"), "{refused}");
}

#[test]
fn copies_to_shared_memory_fill_with_zeros() {
    let body = own_element(32)
        + "mov.u32 %r20, tile; shl.b32 %r21, %r0, 4; add.u32 %r22, %r20, %r21;\n\
           cp.async.cg.shared.global.L2::128B [%r22], [%rd0], 16; cp.async.commit_group; cp.async.wait_group 0;\n\
           ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r22];\n\
           cp.async.ca.shared.global [%r22+8], [%rd0+8], 8, 4; cp.async.wait_all;\n\
           ld.shared.v2.u32 {%r5, %r6}, [%r22+8]; add.u32 %r1, %r1, %r4;\n\
           st.global.v4.u32 [%rd0+16], {%r1, %r2, %r5, %r6}; ret;";
    let text = kernel_text(".shared .align 16 .b8 tile[512];", &body);
    let input: Vec<u32> = (0..32 * 8).collect();
    let (out, _) = run_words(&text, 32, &input).unwrap();
    for (lane, got) in out.chunks(8).enumerate() {
        let first = 8 * lane as u32;
        assert_eq!(got[4..], [2 * first + 3, first + 1, first + 2, 0], "lane {lane}");
    }
}

#[test]
fn a_wait_depends_on_every_copy_and_on_nothing_without_one() {
    let body = "mov.u32 %r1, 0; mov.u64 %rd1, 0; cp.async.wait_all; cp.async.ca.shared.global [%r1], [%rd1], 4;\n\
                cp.async.ca.shared.global [%r1], [%rd1], 4; cp.async.wait_group 1; ret;";
    note_all(body);
    let module = Module::parse("test.ptx", &kernel_text("", body)).unwrap();
    let code = &module.kernels()[0].code;
    let written: Vec<u16> = code[3..5].iter().flat_map(|copy| copy.dests().iter().copied()).collect();
    assert_eq!((written.len(), written[0] != written[1]), (2, true));
    // A wait before the copies may follow them in a loop.
    assert_eq!((code[2].sources(), code[5].sources()), (&written[..], &written[..]));
}
