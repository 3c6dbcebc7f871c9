//! Tests of the front end, one file per topic.

mod arithmetic;
mod atomics;
mod bulk;
mod carry;
mod clusters;
mod compiled;
mod conformance;
mod control;
mod conversion;
mod device_runtime;
mod exact;
mod exchange;
mod faults;
mod forms;
mod fuzz;
mod halves;
mod indexed;
mod kernels;
mod leftovers;
mod lenient;
mod matrices;
mod mbarriers;
mod memory;
mod moves;
mod parsing;
mod pointers;
mod recursion;
mod refused;
mod regions;
mod registers;
mod selection;
mod small_forms;
mod strands;
mod surfaces;
mod system;
mod tensors;
mod textures;
mod video;
mod waits;
mod warp_groups;
mod warp_wide;
mod wmma;

use super::{Arg, FunctionalError, FunctionalStats, LaunchDims, Module, run_functional};
use crate::memory::DeviceMemory;

/// Environment variable with the name of the file to which tests write the forms they execute; see `forms.rs`.
pub(super) const FORMS_FILE: &str = "SELVEDGE_FORMS_FILE";

/// Records that a vector executes `form`. A test checks that every form has a vector.
fn note(form: &str) {
    // Tests run concurrently, and their lines must not interleave.
    static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let Some(path) = std::env::var_os(FORMS_FILE) else { return };
    let _turn = ONE_AT_A_TIME.lock();
    let mut file =
        std::fs::OpenOptions::new().append(true).create(true).open(path).expect("it can be written");
    std::io::Write::write_all(&mut file, format!("{form}\n").as_bytes()).expect("it can be written");
}

/// Records the forms of all statements of `text`. The caller must check their results.
pub(super) fn note_all(text: &str) {
    if std::env::var_os(FORMS_FILE).is_none() {
        return;
    }
    let statements =
        text.split([';', '{', '}', '\n']).map(|part| part.rsplit(": ").next().unwrap_or(part).trim());
    let words = statements.filter_map(|statement| statement.split_whitespace().find(|w| !w.starts_with('@')));
    words.filter(|word| !word.starts_with(['.', '%'])).for_each(note);
}

/// Wraps statements into a module with one kernel `k` whose parameter `out` is a buffer.
pub(super) fn kernel_text(declarations: &str, body: &str) -> String {
    format!(
        ".version 6.0\n.target sm_60\n.address_size 64\n{declarations}\n.visible .entry k(.param .u64 out)\n{{\n\
         .reg .pred %p<20>;\n.reg .b16 %h<20>;\n.reg .b32 %r<40>;\n.reg .f32 %f<20>;\n.reg .b64 %rd<40>;\n\
         .reg .f64 %fd<20>;\n{body}\n}}\n"
    )
}

/// Returns statements that load the address of the thread's element of `bytes` bytes into `%rd0`.
pub(super) fn own_element(bytes: u32) -> String {
    format!(
        "ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, {bytes}; add.s64 %rd0, %rd0, %rd1;\n"
    )
}

/// Runs kernel `k` of `text` in one CTA of `threads`, on a buffer that starts with `input`. Returns the buffer.
pub(super) fn run_words(
    text: &str,
    threads: u32,
    input: &[u32],
) -> Result<(Vec<u32>, FunctionalStats), FunctionalError> {
    note_all(text);
    run_noted(text, threads, input)
}

/// Runs as [`run_words`] does, for statements whose forms are already recorded.
fn run_noted(
    text: &str,
    threads: u32,
    input: &[u32],
) -> Result<(Vec<u32>, FunctionalStats), FunctionalError> {
    let module = Module::parse("test.ptx", text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut memory = DeviceMemory::new();
    module.load(&mut memory).expect("globals fit");
    let buffer = memory.alloc(4 * input.len() as u64, "out").expect("the buffer fits");
    memory.write_u32s(buffer, input).expect("the buffer holds the input");
    let kernel = module.kernel("k").expect("the text has kernel k");
    let params = kernel.pack(&[Arg::Ptr(buffer)]).expect("k takes one address");
    let launch = LaunchDims::new([1, 1, 1], [threads, 1, 1]);
    let stats = run_functional(&module, &kernel, &launch, &params, &mut memory)?;
    Ok((memory.read_u32s(buffer, input.len()).expect("the buffer is there"), stats))
}

/// Register type of an operand under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// 16 bits.
    H,
    /// 32 bits.
    W,
    /// 64 bits.
    D,
    /// A predicate, given as 0 or 1.
    P,
}

impl Kind {
    fn register(self, number: usize) -> String {
        let prefix = match self {
            Self::H => "%h",
            Self::W => "%r",
            Self::D => "%rd",
            Self::P => "%p",
        };
        format!("{prefix}{number}")
    }

    /// Returns a statement that narrows the 64-bit register `from` to register `number` of this kind.
    fn narrow(self, number: usize, from: &str) -> String {
        let to = self.register(number);
        match self {
            Self::H => format!("cvt.u16.u64 {to}, {from};"),
            Self::W => format!("cvt.u32.u64 {to}, {from};"),
            Self::D => format!("mov.b64 {to}, {from};"),
            Self::P => format!("setp.ne.u64 {to}, {from}, 0;"),
        }
    }

    fn widen(self, number: usize, to: &str) -> String {
        let from = self.register(number);
        match self {
            Self::H => format!("cvt.u64.u16 {to}, {from};"),
            Self::W => format!("cvt.u64.u32 {to}, {from};"),
            Self::D => format!("mov.b64 {to}, {from};"),
            Self::P => format!("selp.b64 {to}, 1, 0, {from};"),
        }
    }
}

/// Operands and the expected result, as bits.
pub(super) type Vector = ([u64; 3], u64);

fn shorthand(letter: char) -> Kind {
    match letter {
        'h' => Kind::H,
        'w' => Kind::W,
        'd' => Kind::D,
        _ => Kind::P,
    }
}

/// Runs `form` on every vector: first in all lanes, then only in odd lanes, where the even lanes must keep their
/// values. `kinds` has a letter per register of the result and the operands: h, w, d or p.
pub(super) fn check(form: &str, kinds: &str, vectors: &[Vector]) {
    note(form);
    let kinds: Vec<Kind> = kinds.chars().map(shorthand).collect();
    let operands = kinds.len() - 1;
    let registers: Vec<String> = (0..kinds.len()).map(|i| kinds[i].register(10 + i)).collect();
    for guarded in [false, true] {
        let mut body = own_element(32) + "and.b32 %r2, %r0, 1; setp.ne.s32 %p1, %r2, 0; mov.b64 %rd2, 1;\n";
        for (index, kind) in kinds.iter().enumerate().skip(1) {
            body += &format!(
                "ld.global.u64 %rd3, [%rd0+{}]; {}\n",
                8 * (index - 1),
                kind.narrow(10 + index, "%rd3")
            );
        }
        let guard = if guarded { "@%p1 " } else { "" };
        body += &format!("{}\n{guard}{form} {};\n", kinds[0].narrow(10, "%rd2"), registers.join(", "));
        body += &format!("{} st.global.u64 [%rd0+24], %rd4; ret;", kinds[0].widen(10, "%rd4"));
        let mut input = Vec::new();
        for lane in 0..32 {
            let (values, _) = vectors[lane % vectors.len()];
            for value in values.iter().chain(&[0]) {
                input.extend([*value as u32, (*value >> 32) as u32]);
            }
        }
        assert!(vectors.len() <= 32 && operands <= 3, "{form}: one vector per lane");
        let (out, _) = run_noted(&kernel_text("", &body), 32, &input).unwrap();
        for lane in 0..32 {
            let (values, expected) = vectors[lane % vectors.len()];
            let expected = if guarded && lane % 2 == 0 { 1 } else { expected };
            let got = u64::from(out[8 * lane + 6]) | u64::from(out[8 * lane + 7]) << 32;
            assert_eq!(got, expected, "{form} of {values:x?} in lane {lane}: {got:#x} is not {expected:#x}");
        }
    }
}
