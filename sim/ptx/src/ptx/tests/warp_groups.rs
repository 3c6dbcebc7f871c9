//! Tests `wgmma`: factors have the published canonical layouts in shared memory, and integer arithmetic computes the same sums.

use super::super::small_float::SmallFloat;
use super::super::{Module, OpClass, Rounding};
use super::{kernel_text, run_words};

/// Words of each factor in shared memory.
const FACTOR_WORDS: usize = 4096;

/// A layout as pairs of extents and strides, in elements. The first pairs are of the line, the others of the inner position.
struct Layout {
    line: Vec<(usize, usize)>,
    inner: Vec<(usize, usize)>,
    /// Bits of the swizzle: the exponents of 1, 2, 4 and 8 pieces of 16 bytes.
    swizzle: u32,
}

/// Direction of a factor, its swizzle as in the descriptor, and the distances of the descriptor in bytes.
#[derive(Clone, Copy)]
struct Factor {
    by_line: bool,
    swizzle: usize,
    leading: usize,
    stride: usize,
}

impl Factor {
    /// Returns the canonical layout: `T` elements in 16 bytes.
    fn layout(self, t: usize, element_bits: usize) -> Layout {
        let [leading, stride] = [self.leading, self.stride].map(|bytes| 8 * bytes / element_bits);
        let exponent = [0, 3, 2, 1][self.swizzle];
        let pieces = 1 << exponent;
        let (line, inner) = match (self.by_line, self.swizzle) {
            // ((8,m),(T,2)):((1T,SBO),(1,LBO)) and, with swizzle, ((8,m),(T,2)):((xT,SBO),(1,T))
            (true, 0) => (vec![(8, t), (32, stride)], vec![(t, 1), (2, leading)]),
            (true, _) => (vec![(8, pieces * t), (32, stride)], vec![(t, 1), (2, t)]),
            // ((T,1,m),(8,k)):((1,T,SBO),(1T,LBO)) and ((T,x,m),(8,k)):((1,T,LBO),(xT,SBO))
            (false, 0) => (vec![(t, 1), (32, stride)], vec![(8, t), (2, leading)]),
            (false, _) => (vec![(t, 1), (pieces, t), (32, leading)], vec![(8, pieces * t), (2, stride)]),
        };
        Layout { line, inner, swizzle: exponent }
    }

    fn descriptor(self, address: usize) -> u64 {
        let field = |bytes: usize| (bytes / 16) as u64;
        field(address) | field(self.leading) << 16 | field(self.stride) << 32 | (self.swizzle as u64) << 62
    }

    /// Writes lines of elements to shared memory from byte `start` on.
    fn write(self, memory: &mut [u32], start: usize, of: &str, lines: &[Vec<i64>]) {
        let bits = bits_of(of);
        let layout = self.layout(128 / bits, bits);
        let place = |mut index: usize, pairs: &[(usize, usize)]| {
            let mut offset = 0;
            for (extent, stride) in pairs {
                offset += index % extent * stride;
                index /= extent;
            }
            offset
        };
        for (line, values) in lines.iter().enumerate() {
            for (inner, value) in values.iter().enumerate() {
                let bit = 8 * start + bits * (place(line, &layout.line) + place(inner, &layout.inner));
                // Swizzle<B,4,3>: bits 4 to 4 + B of the address, combined with bits 7 to 7 + B.
                let address = bit / 8;
                let mask = (1 << layout.swizzle) - 1;
                let bit = 8 * (address ^ (address >> 7 & mask) << 4) + bit % 8;
                memory[bit / 32] |= encode(of, *value) << (bit % 32);
            }
        }
    }
}

fn bits_of(of: &str) -> usize {
    match of {
        "b1" => 1,
        "s8" | "u8" | "e4m3" | "e5m2" => 8,
        "f16" | "bf16" => 16,
        _ => 32,
    }
}

fn encode(of: &str, value: i64) -> u32 {
    let small = |format: SmallFloat| format.encode(value as f64, Rounding::Nearest);
    match of {
        "f16" => small(SmallFloat::Half),
        "bf16" => small(SmallFloat::Brain),
        "e4m3" => small(SmallFloat::E4m3),
        "e5m2" => small(SmallFloat::E5m2),
        "tf32" | "f32" => (value as f32).to_bits(),
        _ => value as u32 & (u32::MAX >> (32 - bits_of(of))),
    }
}

/// Returns small integers, whose products and sums are exact in every format.
fn lines(count: usize, k: usize, of: &str, seed: usize) -> Vec<Vec<i64>> {
    let (low, many) = match of {
        "b1" => (0, 2),
        "u8" => (0, 5),
        _ => (-2, 5),
    };
    let value = |n: usize| low + ((n * 7 + n / 5 + n * n / 11) % many) as i64;
    (0..count).map(|line| (0..k).map(|inner| value(seed + 37 * line + inner)).collect()).collect()
}

struct Case {
    types: [&'static str; 3],
    n: usize,
    /// Place of the first factor; `None`: in registers.
    a: Option<Factor>,
    b: Factor,
    /// Text after the predicate.
    tail: &'static str,
    modifiers: &'static str,
    signs: (i64, i64),
    adds: bool,
}

/// Rows of 128 bytes with swizzle.
const ROWS_OF_128: Factor = Factor { by_line: true, swizzle: 1, leading: 16, stride: 1024 };

impl Case {
    fn new(types: [&'static str; 3], n: usize) -> Self {
        let tail = match bits_of(types[1]) {
            16 => ", 1, 1, 0, 0",
            _ if types[0] == "s32" => "",
            _ => ", 1, 1",
        };
        let modifiers = if types[1] == "b1" { ".and.popc" } else { "" };
        Self { types, n, a: Some(ROWS_OF_128), b: ROWS_OF_128, tail, modifiers, signs: (1, 1), adds: true }
    }

    fn k(&self) -> usize {
        256 / bits_of(self.types[1])
    }

    /// Returns the kernel: each thread loads the factors' words, its registers of A and its sums, and stores its new sums.
    fn text(&self, sums: usize) -> String {
        let list = |name: &str, count: usize| {
            let names: Vec<String> = (0..count).map(|i| format!("%{name}{i}")).collect();
            format!("{{{}}}", names.join(", "))
        };
        let [to, a, b] = self.types;
        let factor = match self.a {
            Some(a) => format!("{:#x}", a.descriptor(0)),
            None => list("x", 4),
        };
        let mut body = format!(
            ".reg .b32 %s<130>; .reg .b32 %x<4>;\n\
             ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 4; add.s64 %rd2, %rd0, %rd1;\n\
             mov.u32 %r1, tile; mad.lo.u32 %r1, %r0, 4, %r1; mov.u64 %rd3, %rd2; mov.u32 %r2, 0;\n\
             NEXT: ld.global.u32 %r3, [%rd3]; st.shared.u32 [%r1], %r3; add.u64 %rd3, %rd3, 512; add.u32 %r1, %r1, 512;\n\
             add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, {}; @%p1 bra NEXT;\nbar.sync 0;\n",
            2 * FACTOR_WORDS / 128
        );
        for i in 0..4 {
            body += &format!("ld.global.u32 %x{i}, [%rd3+{}];\n", 512 * i);
        }
        for i in 0..sums {
            body += &format!("ld.global.u32 %s{i}, [%rd3+{}];\n", 512 * (4 + i));
        }
        body += &format!(
            "mov.u64 %rd4, {:#x}; setp.ne.u32 %p2, {}, 0; wgmma.fence.sync.aligned;\n\
             wgmma.mma_async.sync.aligned.m64n{}k{}.{to}.{a}.{b}{} {}, {factor}, %rd4, %p2{};\n\
             wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n",
            self.b.descriptor(4 * FACTOR_WORDS),
            u8::from(self.adds),
            self.n,
            self.k(),
            self.modifiers,
            list("s", sums),
            self.tail
        );
        for i in 0..sums {
            body += &format!("st.global.u32 [%rd3+{}], %s{i};\n", 512 * (4 + i));
        }
        let text = kernel_text(".shared .align 1024 .b32 tile[8192];", &format!("{body}ret;"));
        text.replace(".target sm_60", ".target sm_90a")
    }

    /// Runs the product of four warps and compares each sum.
    fn check(&self) {
        let ([to, of_a, of_b], k) = (self.types, self.k());
        let halves = to == "f16";
        let sums = if halves { self.n / 4 } else { self.n / 2 };
        let a = lines(64, k, of_a, 3);
        let b = lines(self.n, k, of_b, 1000);
        let c = lines(64, self.n, "s8", 77);
        let mut words = vec![0; 2 * FACTOR_WORDS + 128 * (4 + sums)];
        if let Some(place) = self.a {
            place.write(&mut words, 0, of_a, &a);
        }
        self.b.write(&mut words, 4 * FACTOR_WORDS, of_b, &b);
        let per_register = 32 / bits_of(of_a).min(32);
        // Register and half of the sum of a row and column, in thread 32 (row / 16) + 4 (row % 8) + column / 2 % 4.
        let thread = |row: usize, column: usize| row / 16 * 32 + row % 8 * 4 + column / 2 % 4;
        let at = |register: usize, thread: usize| 2 * FACTOR_WORDS + 128 * register + thread;
        for (row, values) in a.iter().enumerate() {
            for (inner, value) in values.iter().enumerate() {
                let (group, element) = (inner / per_register, inner % per_register);
                let register = row / 8 % 2 + 2 * (group / 4);
                let word = &mut words[at(register, row / 16 * 32 + row % 8 * 4 + group % 4)];
                *word |= encode(of_a, *value) << (bits_of(of_a) * element % 32);
            }
        }
        let register = |row: usize, column: usize| {
            let in_block = row / 8 % 2;
            match halves {
                true => (4 + column / 8 * 2 + in_block, 16 * (column % 2)),
                false => (4 + column / 8 * 4 + 2 * in_block + column % 2, 0),
            }
        };
        let of_sum = if to == "s32" { "s32" } else { to };
        for (row, column) in (0..64).flat_map(|row| (0..self.n).map(move |column| (row, column))) {
            let (number, shift) = register(row, column);
            words[at(number, thread(row, column))] |= encode(of_sum, c[row][column]) << shift;
        }
        let text = self.text(sums);
        let (out, _) = run_words(&text, 128, &words).unwrap_or_else(|error| panic!("{error}\n{text}"));
        for (row, column) in (0..64).flat_map(|row| (0..self.n).map(move |column| (row, column))) {
            let products: i64 = (0..k).map(|i| a[row][i] * self.signs.0 * b[column][i] * self.signs.1).sum();
            let sum = products + if self.adds { c[row][column] } else { 0 };
            let (number, shift) = register(row, column);
            let got = out[at(number, thread(row, column))] >> shift & if halves { 0xffff } else { u32::MAX };
            assert_eq!(got, encode(of_sum, sum), "{:?} n {} at {row}, {column}", self.types, self.n);
        }
    }
}

#[test]
fn products_of_all_types_are_those_of_integers() {
    for types in [
        ["f32", "f16", "f16"],
        ["f16", "f16", "f16"],
        ["f32", "bf16", "bf16"],
        ["f32", "tf32", "tf32"],
        ["f32", "e4m3", "e5m2"],
        ["f16", "e5m2", "e4m3"],
        ["s32", "s8", "u8"],
        ["s32", "b1", "b1"],
    ] {
        Case::new(types, 64).check();
    }
}

#[test]
fn products_have_up_to_256_columns() {
    for n in [8, 24, 128] {
        Case::new(["f32", "f16", "f16"], n).check();
    }
    // 256 columns need 128 registers for the sums of f32.
    let b = Factor { by_line: true, swizzle: 3, leading: 16, stride: 256 };
    Case { b, ..Case::new(["f32", "f16", "f16"], 256) }.check();
}

#[test]
fn factors_have_each_layout() {
    let by_line = [(0, 128, 256), (3, 16, 256), (2, 16, 512), (1, 16, 1024)];
    // Distances of core matrices: 64 lines are one, two, four or eight swizzled rows.
    let by_inner = [(0, 1024, 128), (3, 512, 2048), (2, 1024, 2048), (1, 2048, 1024)];
    let layout = |by_line| move |(swizzle, leading, stride)| Factor { by_line, swizzle, leading, stride };
    for factor in by_line.map(layout(true)) {
        Case { a: Some(factor), b: factor, ..Case::new(["f32", "f16", "f16"], 64) }.check();
    }
    for factor in by_inner.map(layout(false)) {
        let tail = ", 1, 1, 1, 1";
        Case { a: Some(factor), b: factor, tail, ..Case::new(["f32", "f16", "f16"], 64) }.check();
        let tail = ", 1, 1, 0, 1";
        Case { b: factor, tail, ..Case::new(["f32", "bf16", "bf16"], 64) }.check();
    }
}

#[test]
fn the_first_factor_may_be_in_registers() {
    for (types, tail) in [
        (["f32", "f16", "f16"], ", 1, 1, 0"),
        (["f32", "tf32", "tf32"], ", 1, 1"),
        (["s32", "s8", "s8"], ""),
        (["s32", "b1", "b1"], ""),
    ] {
        Case { a: None, tail, ..Case::new(types, 32) }.check();
    }
}

#[test]
fn factors_have_signs_and_the_predicate_drops_the_old_sums() {
    let case = || Case::new(["f32", "f16", "f16"], 16);
    Case { tail: ", -1, 1, 0, 0", signs: (-1, 1), ..case() }.check();
    Case { tail: ", -1, -1, 0, 0", signs: (-1, -1), ..case() }.check();
    Case { adds: false, ..case() }.check();
}

#[test]
fn a_factor_outside_of_shared_memory_is_a_fault() {
    let far = Factor { stride: 0x3000, ..ROWS_OF_128 };
    let text = Case { b: far, ..Case::new(["f32", "f16", "f16"], 64) }.text(32);
    let words = vec![0; 2 * FACTOR_WORDS + 128 * 40];
    let said = run_words(&text, 128, &words).expect_err("a factor outside").to_string();
    assert!(said.contains("of the shared memory, which has 32768 bytes"), "{said}");
    assert!(said.contains("wgmma.mma_async"), "{said}");
}

#[test]
fn a_wait_needs_the_products_before_it() {
    let text = Case::new(["f32", "f16", "f16"], 64).text(32);
    let module = Module::parse("k.ptx", &text).unwrap_or_else(|error| panic!("{error}"));
    let kernel = module.kernel("k").expect("there");
    let code = || kernel.code.iter();
    let product = code().find(|instr| matches!(instr.class, OpClass::Matrix(_))).expect("a product");
    // 16 rows, 64 columns, 16 inner positions.
    assert_eq!(product.class, OpClass::Matrix(16 * 64 * 16));
    let [flag] = *product.dests() else { panic!("one number") };
    assert!(code().any(|instr| instr.sources() == [flag]), "the wait");
}

#[test]
fn the_registers_of_sums_count() {
    let of = |n: usize| {
        let text = Case::new(["f32", "f16", "f16"], n).text(n / 2);
        Module::parse("k.ptx", &text).expect("valid").kernel("k").expect("there").registers
    };
    let (few, many) = (of(64), of(128));
    assert!(few >= 32 && many - few == 32, "{few} and {many}");
}
