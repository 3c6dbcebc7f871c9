//! Tests `wmma`, and the `mma` of eight rows, of four bits, of one bit and of double precision.

use super::super::small_float::SmallFloat;
use super::super::{Module, OpClass, Rounding};
use super::exact::{self, DOUBLE};
use super::{kernel_text, note_all, own_element, run_words};

/// Rows of numbers.
type Matrix = Vec<Vec<f64>>;

/// Returns small integers from `low` to `low + count - 1`, whose products and sums are exact in every format.
fn matrix(rows: usize, columns: usize, seed: usize, (low, count): (f64, usize)) -> Matrix {
    let value = |place: usize| low + ((place * 7 + place / 5 + place * place / 11) % count) as f64;
    (0..rows).map(|r| (0..columns).map(|c| value(seed + 31 * r + c)).collect()).collect()
}

fn bits_of(of: &str) -> usize {
    match of {
        "b1" => 1,
        "s4" | "u4" => 4,
        "s8" | "u8" => 8,
        "f16" | "bf16" => 16,
        "f64" => 64,
        _ => 32,
    }
}

/// Returns the smallest value of a type in the tests, and the number of values.
fn range(of: &str) -> (f64, usize) {
    match of {
        "b1" => (0.0, 2),
        "u4" | "u8" => (0.0, 7),
        _ => (-3.0, 7),
    }
}

fn encode(of: &str, value: f64) -> u64 {
    match of {
        "f16" => SmallFloat::Half.encode(value, Rounding::Nearest).into(),
        "bf16" => SmallFloat::Brain.encode(value, Rounding::Nearest).into(),
        "tf32" | "f32" => (value as f32).to_bits().into(),
        "f64" => value.to_bits(),
        _ => value as i64 as u64 & (u64::MAX >> (64 - bits_of(of))),
    }
}

/// Writes a matrix to `memory` from byte `start` on, with `stride` elements from line to line.
fn place(memory: &mut [u32], start: usize, of: &str, matrix: &Matrix, (by_row, stride): (bool, usize)) {
    let bits = bits_of(of);
    for (r, row) in matrix.iter().enumerate() {
        for (c, value) in row.iter().enumerate() {
            let at = 8 * start + bits * if by_row { r * stride + c } else { c * stride + r };
            let code = encode(of, *value);
            memory[at / 32] |= (code as u32) << (at % 32);
            if bits == 64 {
                memory[at / 32 + 1] = (code >> 32) as u32;
            }
        }
    }
}

fn product(a: &Matrix, b: &Matrix, c: &Matrix, of_bits: Option<&str>) -> Matrix {
    let pair = |a: f64, b: f64| match of_bits {
        Some("xor") => f64::from(u8::from(a != b)),
        _ => a * b,
    };
    let sum = |r: usize, column: usize| -> f64 {
        c[r][column] + a[r].iter().zip(b).map(|(a, b)| pair(*a, b[column])).sum::<f64>()
    };
    (0..a.len()).map(|r| (0..b[0].len()).map(|column| sum(r, column)).collect()).collect()
}

fn list(prefix: &str, first: usize, count: usize) -> String {
    let registers: Vec<String> = (first..first + count).map(|n| format!("{prefix}{n}")).collect();
    format!("{{{}}}", registers.join(", "))
}

/// Numbers of registers of a, b, and of c and d of 32 bits, as the PTX ISA states them.
fn counts(of: &str, shape: &str) -> [usize; 3] {
    match (of, shape) {
        ("f16", _) => [8, 8, 8],
        ("bf16", "m16n16k16") => [4, 4, 8],
        ("bf16", "m8n32k16") => [2, 8, 8],
        ("bf16", _) => [8, 2, 8],
        ("tf32", _) => [4, 4, 8],
        ("s8" | "u8", "m16n16k16") => [2, 2, 8],
        ("s8" | "u8", "m8n32k16") => [1, 4, 8],
        ("s8" | "u8", _) => [4, 1, 8],
        _ => [1, 1, 2],
    }
}

/// One product: shape, its sides, types of the factors, of the addend and of the result.
type Case = (&'static str, [usize; 3], &'static str, &'static str, &'static str);

/// Loads three matrices from memory, multiplies, and stores the result by way of shared memory.
fn check_wmma((shape, [m, n, k], of, from, to): Case, [a_row, b_row, c_row]: [bool; 3], op: &str) {
    let [a_count, b_count, wide_count] = counts(of, shape);
    let count = |of: &str| if of == "f16" { 4 } else { wide_count };
    let layout = |by_row: bool| if by_row { "row" } else { "col" };
    let (a, b, c) = (matrix(m, k, 1, range(of)), matrix(k, n, 2, range(of)), matrix(m, n, 3, range(from)));
    // Strides differ from the sides; a narrow type needs whole bytes.
    let pad = if bits_of(of) < 8 { k } else { 16 };
    let stride = |by_row: bool, rows: usize, columns: usize| if by_row { columns } else { rows };
    let [a_stride, b_stride, c_stride] =
        [stride(a_row, m, k) + pad, stride(b_row, k, n) + pad, stride(c_row, m, n) + 8];
    let mut memory = vec![0u32; 8192];
    place(&mut memory, 0, of, &a, (a_row, a_stride));
    place(&mut memory, 8192, of, &b, (b_row, b_stride));
    place(&mut memory, 16384, from, &c, (c_row, c_stride));
    let double = of == "f64";
    let (prefix, first) = if double { ("%fd", [1, 2, 3, 5]) } else { ("%r", [1, 9, 17, 25]) };
    let [a_list, b_list] = [list(prefix, first[0], a_count), list(prefix, first[1], b_count)];
    let [c_list, d_list] = [list(prefix, first[2], count(from)), list(prefix, first[3], count(to))];
    let (al, bl, cl) = (layout(a_row), layout(b_row), layout(c_row));
    let types = if of == "f16" { format!("{to}.{from}") } else { format!("{to}.{of}.{of}.{from}") };
    let op = if op.is_empty() { String::new() } else { format!(".{op}.popc") };
    let body = format!(
        "ld.param.u64 %rd0, [out]; mov.u32 %r34, {a_stride}; add.u64 %rd1, %rd0, 8192;\n\
         wmma.load.a.sync.aligned.{al}.{shape}.global.{of} {a_list}, [%rd0], %r34;\n\
         wmma.load.b.sync.aligned.{bl}.{shape}.{of} {b_list}, [%rd1], {b_stride};\n\
         wmma.load.c.sync.aligned.{cl}.{shape}.global.{from} {c_list}, [%rd1+8192], {c_stride};\n\
         wmma.mma{op}.sync.aligned.{al}.{bl}.{shape}.{types} {d_list}, {a_list}, {b_list}, {c_list};\n\
         wmma.store.d.sync.aligned.{cl}.{shape}.shared.{to} [tile], {d_list}; mov.u32 %r35, tile;\n\
         wmma.load.c.sync.aligned.{cl}.{shape}.shared.{to} {d_list}, [%r35]; mov.u32 %r34, {n};\n\
         wmma.store.d.sync.aligned.row.{shape}.global.{to} [%rd1+16384], {d_list}, %r34; ret;"
    );
    let text = kernel_text(".shared .align 32 .b8 tile[2048];", &body);
    let (out, _) = run_words(&text, 32, &memory).unwrap();
    let mut wanted = vec![0u32; 8192];
    let d = product(&a, &b, &c, op.starts_with(".xor").then_some("xor"));
    place(&mut wanted, 24576, to, &d, (true, n));
    let words = m * n * bits_of(to) / 32;
    assert_eq!(out[6144..][..words], wanted[6144..][..words], "{shape} {types} {al} {bl} {cl}");
}

#[test]
fn fragments_are_loaded_multiplied_and_stored_in_every_shape_and_type() {
    let shapes = [("m16n16k16", [16, 16, 16]), ("m32n8k16", [32, 8, 16]), ("m8n32k16", [8, 32, 16])];
    let layouts = [[true, false, true], [false, true, false], [true, true, false], [false, false, true]];
    for layout in layouts {
        for (shape, sides) in shapes {
            for (from, to) in [("f16", "f16"), ("f32", "f32"), ("f16", "f32"), ("f32", "f16")] {
                check_wmma((shape, sides, "f16", from, to), layout, "");
            }
            check_wmma((shape, sides, "bf16", "f32", "f32"), layout, "");
            check_wmma((shape, sides, "s8", "s32", "s32"), layout, "");
            check_wmma((shape, sides, "u8", "s32", "s32"), layout, "");
        }
        check_wmma(("m16n16k8", [16, 16, 8], "tf32", "f32", "f32"), layout, "");
        check_wmma(("m8n8k4", [8, 8, 4], "f64", "f64", "f64"), layout, "");
    }
    for c_row in [true, false] {
        let layout = [true, false, c_row];
        check_wmma(("m8n8k32", [8, 8, 32], "s4", "s32", "s32"), layout, "");
        check_wmma(("m8n8k32", [8, 8, 32], "u4", "s32", "s32"), layout, "");
        check_wmma(("m8n8k128", [8, 8, 128], "b1", "s32", "s32"), layout, "xor");
        check_wmma(("m8n8k128", [8, 8, 128], "b1", "s32", "s32"), layout, "and");
    }
}

/// Runs an `mma` on registers that `input` gives for each lane, and returns each lane's result registers.
fn run_mma(form: &str, double: bool, counts: [usize; 4], input: impl Fn(usize) -> Vec<u64>) -> Vec<Vec<u64>> {
    let size = if double { 8 } else { 4 };
    let words = 64;
    let mut memory = vec![0u32; 32 * words];
    for lane in 0..32 {
        for (at, value) in input(lane).into_iter().enumerate() {
            let first = words * lane + at * size / 4;
            memory[first] = value as u32;
            if double {
                memory[first + 1] = (value >> 32) as u32;
            }
        }
    }
    let [d, a, b, c] = counts;
    let prefix = if double { "%m" } else { "%w" };
    let loads: String = (0..a + b + c)
        .map(|n| format!("ld.global.b{} {prefix}{}, [%rd0+{}];\n", 8 * size, 8 + n, n * size))
        .collect();
    let stores: String =
        (0..d).map(|n| format!("st.global.b{} [%rd0+{}], {prefix}{n};\n", 8 * size, n * size)).collect();
    let body = format!(".reg .b32 %w<40>; .reg .f64 %m<40>;\n{}{loads}", own_element(4 * words as u32))
        + &format!(
            "{form} {}, {}, {}, {};\n{stores}ret;",
            list(prefix, 0, d),
            list(prefix, 8, a),
            list(prefix, 8 + a, b),
            list(prefix, 8 + a + b, c)
        );
    let (out, _) = run_words(&kernel_text("", &body), 32, &memory).unwrap();
    let value = |lane: usize, n: usize| {
        let first = words * lane + n * size / 4;
        u64::from(out[first]) | if double { u64::from(out[first + 1]) << 32 } else { 0 }
    };
    (0..32).map(|lane| (0..d).map(|n| value(lane, n)).collect()).collect()
}

/// Packs elements into registers, the lowest first.
fn pack(of: &str, elements: &[f64]) -> Vec<u64> {
    let bits = bits_of(of);
    let word = |chunk: &[f64]| chunk.iter().enumerate().fold(0, |w, (i, v)| w | encode(of, *v) << (i * bits));
    elements.chunks((32 / bits).max(1)).map(word).collect()
}

/// Runs an `mma` of `m` rows in the layout of the PTX ISA's figures, and compares the result element by element.
fn check_mma(form: &str, (m, k): (usize, usize), [a_type, b_type]: [&str; 2], to: &str, op: Option<&str>) {
    let (a, b) = (matrix(m, k, 1, range(a_type)), matrix(k, 8, 2, range(b_type)));
    let c = matrix(m, 8, 3, (-3.0, 7));
    let per_register = (32 / bits_of(a_type)).max(1);
    let blocks = m / 8;
    let input = |lane: usize| {
        let (group, thread) = (lane / 4, lane % 4);
        let column = |i: usize, r: usize| thread * per_register + i % per_register + 4 * per_register * r;
        let of_a: Vec<f64> = (0..m * k / 32)
            .map(|i| {
                let register = i / per_register;
                a[group + 8 * (register % blocks)][column(i, register / blocks)]
            })
            .collect();
        let of_b: Vec<f64> = (0..k / 4).map(|i| b[column(i, i / per_register)][group]).collect();
        let of_c: Vec<f64> = (0..2 * blocks).map(|i| c[group + 8 * (i / 2)][2 * thread + i % 2]).collect();
        [pack(a_type, &of_a), pack(b_type, &of_b), pack(to, &of_c)].concat()
    };
    let second = k / (4 * per_register);
    let counts = [2 * blocks, blocks * second, second, 2 * blocks];
    let out = run_mma(form, to == "f64", counts, input);
    let d = product(&a, &b, &c, op);
    for (lane, got) in out.iter().enumerate() {
        let wanted: Vec<f64> =
            (0..2 * blocks).map(|i| d[lane / 4 + 8 * (i / 2)][2 * (lane % 4) + i % 2]).collect();
        assert_eq!(*got, pack(to, &wanted), "{form}, lane {lane}");
    }
}

#[test]
fn products_of_few_bits_and_of_eight_rows_are_those_of_whole_numbers() {
    let form = |m: usize, k: usize, types: &str| format!("mma.sync.aligned.m{m}n8k{k}.row.col.{types}");
    check_mma(&form(8, 16, "s32.s8.s8.s32"), (8, 16), ["s8", "s8"], "s32", None);
    check_mma(&form(8, 16, "satfinite.s32.u8.s8.s32"), (8, 16), ["u8", "s8"], "s32", None);
    for (m, k) in [(8, 32), (16, 32), (16, 64)] {
        check_mma(&form(m, k, "s32.s4.s4.s32"), (m, k), ["s4", "s4"], "s32", None);
        check_mma(&form(m, k, "satfinite.s32.u4.s4.s32"), (m, k), ["u4", "s4"], "s32", None);
    }
    for (m, k) in [(8, 128), (16, 128), (16, 256)] {
        for op in ["xor", "and"] {
            let types = format!("s32.b1.b1.s32.{op}.popc");
            check_mma(&form(m, k, &types), (m, k), ["b1", "b1"], "s32", Some(op));
        }
    }
    for (m, k) in [(8, 4), (16, 4), (16, 8), (16, 16)] {
        check_mma(&form(m, k, "f64.f64.f64.f64"), (m, k), ["f64", "f64"], "f64", None);
    }
}

#[test]
fn double_precision_adds_one_product_after_the_other() {
    // Numbers whose sums are inexact, so that order and rounding show.
    let number = |seed: usize| (((seed * 2_654_435_761) % 1_000_003) as f64 / 1e5 - 5.0).powi(3);
    for rounding in ['n', 'z', 'm', 'p'] {
        let input = |lane: usize| (0..4).map(|n| number(4 * lane + n).to_bits()).collect();
        let form = format!("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64.r{rounding}");
        let out = run_mma(&form, true, [2, 1, 1, 2], input);
        for (lane, got) in out.iter().enumerate() {
            for (n, got) in got.iter().enumerate() {
                let (row, column) = (lane / 4, 2 * (lane % 4) + n);
                let sum = (0..4).fold(number(4 * lane + 2 + n).to_bits(), |sum, k| {
                    let [a, b] = [number(4 * (4 * row + k)), number(4 * (4 * column + k) + 1)];
                    let [a, b, sum] = [a.to_bits(), b.to_bits(), sum].map(|bits| DOUBLE.read(bits));
                    let sum = exact::add(&exact::multiply(&a, &b), &sum, rounding);
                    DOUBLE.write(&sum, rounding).expect("it is a number")
                });
                assert_eq!(*got, sum, "r{rounding}, lane {lane}");
            }
        }
    }
}

#[test]
fn quarters_of_a_warp_multiply_their_own_matrices() {
    for (a_row, b_row) in [(true, false), (false, true), (true, true), (false, false)] {
        for (to, from) in [("f16", "f16"), ("f32", "f32"), ("f32", "f16")] {
            let layout = |by_row: bool| if by_row { "row" } else { "col" };
            let form =
                format!("mma.sync.aligned.m8n8k4.{}.{}.{to}.f16.f16.{from}", layout(a_row), layout(b_row));
            let range = (-3.0, 7);
            let of = |quarter: usize| {
                let seed = 100 * quarter;
                (matrix(8, 4, seed, range), matrix(4, 8, seed + 1, range), matrix(8, 8, seed + 2, range))
            };
            // Quarter q has lanes 4 q to 4 q + 3 and those 16 above, which hold the lower rows or right columns.
            let upper = |lane: usize| 4 * (lane / 16);
            let half_place = |lane: usize, i: usize| (lane % 4 + upper(lane), i);
            let single_place =
                |lane: usize, i: usize| ((lane & 1) + (i & 2) + upper(lane), (i & 4) + (lane & 2) + (i & 1));
            let sum_place = |of: &str, lane: usize, i: usize| {
                if of == "f16" { half_place(lane, i) } else { single_place(lane, i) }
            };
            let input = |lane: usize| {
                let (a, b, c) = of(lane % 16 / 4);
                let of_a: Vec<f64> = (0..4)
                    .map(|i| if a_row { a[lane % 4 + upper(lane)][i] } else { a[i + upper(lane)][lane % 4] })
                    .collect();
                let of_b: Vec<f64> = (0..4)
                    .map(|i| if b_row { b[lane % 4][i + upper(lane)] } else { b[i][lane % 4 + upper(lane)] })
                    .collect();
                let of_c: Vec<f64> = (0..8)
                    .map(|i| {
                        let (row, column) = sum_place(from, lane, i);
                        c[row][column]
                    })
                    .collect();
                [pack("f16", &of_a), pack("f16", &of_b), pack(from, &of_c)].concat()
            };
            let count = |of: &str| if of == "f16" { 4 } else { 8 };
            let out = run_mma(&form, false, [count(to), 2, 2, count(from)], input);
            for (lane, got) in out.iter().enumerate() {
                let (a, b, c) = of(lane % 16 / 4);
                let d = product(&a, &b, &c, None);
                let wanted: Vec<f64> = (0..8)
                    .map(|i| {
                        let (row, column) = sum_place(to, lane, i);
                        d[row][column]
                    })
                    .collect();
                assert_eq!(*got, pack(to, &wanted), "{form}, lane {lane}");
            }
        }
    }
}

#[test]
fn a_result_may_replace_a_factor() {
    // Both parts of the product read the registers that the first part writes.
    let body = own_element(64)
        + "mov.b32 %r1, 0x3c003c00; mov.b32 %r2, %r1; mov.b32 %r3, %r1; mov.b32 %r4, %r1; mov.b32 %r5, 0;\n\
           wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16 {%r1, %r2, %r3, %r4}, \
           {%r1, %r2, %r3, %r4, %r1, %r2, %r3, %r4}, {%r1, %r2, %r3, %r4, %r1, %r2, %r3, %r4}, {%r5, %r5, %r5, %r5};\n\
           st.global.v4.b32 [%rd0], {%r1, %r2, %r3, %r4}; ret;";
    let (out, _) = run_words(&kernel_text("", &body), 32, &[0; 512]).unwrap();
    for lane in 0..32 {
        // The sum of 16 products of 1.
        assert_eq!(out[16 * lane..][..4], [0x4c00_4c00; 4], "lane {lane}");
    }
}

#[test]
fn matrices_are_transposed_and_stored() {
    let body = own_element(4)
        + "mov.u32 %r10, tile; and.b32 %r11, %r0, 7; shl.b32 %r11, %r11, 4; add.u32 %r10, %r10, %r11;\n\
           shl.b32 %r1, %r0, 1; add.u32 %r2, %r1, 1; shl.b32 %r2, %r2, 16; or.b32 %r1, %r1, %r2;\n\
           movmatrix.sync.aligned.m8n8.trans.b16 %r3, %r1;\n\
           stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r10], {%r3};\n\
           shl.b32 %r12, %r0, 2; mov.u32 %r13, tile; add.u32 %r12, %r12, %r13; ld.shared.u32 %r4, [%r12];\n\
           st.global.u32 [%rd0], %r4; stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r10], {%r3};\n\
           ld.shared.u32 %r5, [%r12]; add.u64 %rd0, %rd0, 128; st.global.u32 [%rd0], %r5; ret;";
    let text = kernel_text(".shared .align 16 .b8 tile[128];", &body);
    let (out, _) = run_words(&text, 32, &[0; 64]).unwrap();
    // Element (row, column) of the first matrix is 8 row + column.
    for lane in 0..32u32 {
        let (row, column) = (lane / 4, lane % 4 * 2);
        assert_eq!(out[lane as usize], (8 * row + column) | (8 * row + column + 1) << 16, "lane {lane}");
        let transposed = (8 * column + row) | (8 * column + 8 + row) << 16;
        assert_eq!(out[32 + lane as usize], transposed, "lane {lane}");
    }
}

#[test]
fn one_member_is_elected() {
    let body = own_element(4)
        + "griddepcontrol.wait; setmaxnreg.inc.sync.aligned.u32 64; mov.u32 %r2, 99;\n\
           elect.sync %r1|%p1, 0xfffffff0; selp.u32 %r2, 1000, 0, %p1; add.u32 %r2, %r2, %r1; griddepcontrol.launch_dependents;\n\
           elect.sync _|%p2, -1; @%p2 add.u32 %r2, %r2, 5000; st.global.u32 [%rd0], %r2; ret;";
    note_all(&body);
    let (out, _) = run_words(&kernel_text("", &body), 32, &[0; 32]).unwrap();
    let wanted = |lane: u32| match lane {
        0 => 5004,
        4 => 1004,
        _ => 4,
    };
    assert_eq!(out, (0..32).map(wanted).collect::<Vec<_>>());
}

#[test]
fn products_that_ptx_does_not_have_are_refused() {
    for form in [
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16 {%r1, %r2, %r3, %r4}, {%r1, %r2, %r3, %r4}, {%r1, %r2}, {%r1, %r2}",
        "mma.sync.aligned.m8n8k32.row.col.s32.s4.s8.s32 {%r1, %r2}, {%r1}, {%r1}, {%r1, %r2}",
        "mma.sync.aligned.m8n8k16.row.row.s32.s8.s8.s32 {%r1, %r2}, {%r1}, {%r1}, {%r1, %r2}",
        "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32 {%r1, %r2}, {%r1}, {%r1}, {%r1, %r2}",
        "wmma.load.a.sync.aligned.col.m8n8k32.s4 {%r1}, [%rd1], 32",
        "wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r1, %r2, %r3, %r4}, [%rd1], 32",
        "wmma.load.a.sync.aligned.row.m16n16k16.f32 {%r1, %r2, %r3, %r4}, [%rd1], 32",
    ] {
        let module = super::super::Module::parse("form.ptx", &kernel_text("", &format!("{form}; ret;")));
        assert!(module.is_err(), "{form}");
    }
}

/// Returns the sum of the work of the matrix products of a statement.
fn work(statement: &str) -> (u32, u32) {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() {{\n.reg .b32 %r<32>;\n.reg .f64 %d<16>;\n\
         {statement};\nret;\n}}\n"
    );
    let module = Module::parse("work.ptx", &text).expect(statement);
    let code = &module.kernel("k").expect("it has the kernel").code;
    code.iter().fold((0, 0), |(single, double), instr| match instr.class {
        OpClass::Matrix(work) => (single + u32::from(work), double),
        OpClass::MatrixFp64(work) => (single, double + u32::from(work)),
        _ => (single, double),
    })
}

#[test]
fn the_work_of_a_product_is_its_multiply_adds_in_proportion_to_the_bits() {
    let list = |name: &str, count: usize| {
        let all: Vec<_> = (0..count).map(|n| format!("%{name}{n}")).collect();
        format!("{{{}}}", all.join(", "))
    };
    let mma = |form: &str, name: &str, [d, a, b]: [usize; 3]| {
        let [sums, first, second] = [d, a, b].map(|count| list(name, count));
        work(&format!("mma.sync.aligned.{form} {sums}, {first}, {second}, {sums}"))
    };
    for (form, registers, expected) in [
        ("m16n8k16.row.col.f32.f16.f16.f32", [4, 4, 2], 16 * 8 * 16),
        ("m16n8k8.row.col.f16.f16.f16.f16", [2, 2, 1], 16 * 8 * 8),
        ("m16n8k8.row.col.f32.tf32.tf32.f32", [4, 4, 2], 16 * 8 * 8 * 2),
        ("m16n8k32.row.col.s32.s8.s8.s32", [4, 4, 2], 16 * 8 * 32 / 2),
        ("m16n8k64.row.col.s32.s4.s4.s32", [4, 4, 2], 16 * 8 * 64 / 4),
        ("m8n8k128.row.col.s32.b1.b1.s32.and.popc", [2, 1, 1], 8 * 8 * 128 / 16),
        // Each quarter of the warp has a separate product.
        ("m8n8k4.row.col.f32.f16.f16.f32", [8, 2, 2], 4 * 8 * 8 * 4),
    ] {
        assert_eq!(mma(form, "r", registers), (expected, 0), "{form}");
    }
    assert_eq!(mma("m8n8k4.row.col.f64.f64.f64.f64", "d", [2, 1, 1]), (0, 8 * 8 * 4));
    assert_eq!(mma("m16n8k16.row.col.f64.f64.f64.f64", "d", [4, 8, 4]), (0, 16 * 8 * 16));
    let (sums, factors) = (list("r", 8), list("r", 8));
    let wmma = "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32";
    assert_eq!(work(&format!("{wmma} {sums}, {factors}, {factors}, {sums}")), (16 * 16 * 16, 0));
}
