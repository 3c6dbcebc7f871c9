//! Tests the bytes that every form of load and store of real benchmarks moves, in every space.

use super::forms::FORMS;
use super::{kernel_text, note, run_noted};

/// Returns the bytes that a vector moves. Signs and values vary from byte to byte.
fn pattern() -> [u8; 32] {
    std::array::from_fn(|i| (0x81 + 37 * i) as u8)
}

/// Modifiers of a form: the space, elements per lane, and the type.
struct Form<'a> {
    space: &'a str,
    elements: usize,
    bits: usize,
    signed: bool,
}

fn read(form: &str) -> Form<'_> {
    let parts: Vec<&str> = form.split('.').skip(1).collect();
    let of = parts[parts.len() - 1];
    let space = parts.iter().find(|p| ["param", "const", "global", "shared", "local"].contains(p));
    let elements = parts.iter().find_map(|p| p.strip_prefix('v')?.parse().ok()).unwrap_or(1);
    Form {
        space: space.unwrap_or(&""),
        elements,
        bits: of[1..].parse().unwrap(),
        signed: of.starts_with('s'),
    }
}

impl Form<'_> {
    /// Returns the registers of elements of this type. Bytes use 32-bit registers.
    fn registers(&self) -> String {
        let prefix = match self.bits {
            16 => "%h",
            64 => "%rd2",
            _ => "%r1",
        };
        let list: Vec<String> = (0..self.elements).map(|n| format!("{prefix}{n}")).collect();
        if self.elements == 1 { list[0].clone() } else { format!("{{{}}}", list.join(", ")) }
    }

    /// Returns an address in the space, `offset` bytes after the start of the pattern.
    fn address(&self, offset: usize) -> String {
        let base = match self.space {
            "param" => "slot",
            "const" => "table",
            "shared" => "box",
            "local" => "frame",
            "global" => "%rd0",
            _ => "%rd9",
        };
        format!("[{base}+{offset}]")
    }

    /// Returns the name of the space in an instruction.
    fn dot_space(&self) -> String {
        if self.space.is_empty() { String::new() } else { format!(".{}", self.space) }
    }
}

/// Declares the variables of the spaces. The generic address points to shared memory.
fn declarations() -> String {
    let bytes = pattern().map(|b| b.to_string()).join(", ");
    format!(".const .align 16 .b8 table[32] = {{{bytes}}}; .shared .align 16 .b8 box[32];")
}

const SPACES: &str = ".param .align 16 .b8 slot[32]; .local .align 16 .b8 frame[32];\n\
                      ld.param.u64 %rd0, [out]; mov.u64 %rd8, box; cvta.shared.u64 %rd9, %rd8;\n";

/// Runs `body` in two of three lanes, on a buffer with the pattern and 64 bytes of results. Returns the results.
fn results(body: &str) -> Vec<u8> {
    let guarded = "mov.u32 %r30, %tid.x; setp.eq.u32 %p9, %r30, 1; @%p9 bra END;\n";
    let text = kernel_text(&declarations(), &format!("{SPACES}{guarded}{body}\nEND: ret;"));
    let input: Vec<u32> =
        pattern().as_chunks::<4>().0.iter().map(|c| u32::from_le_bytes(*c)).chain([0; 16]).collect();
    let (out, _) = run_noted(&text, 3, &input).unwrap();
    out[8..].iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Returns statements that write the pattern to the form's space, word by word. Two spaces have it from the start.
fn fill(form: &Form) -> String {
    if ["const", "global"].contains(&form.space) {
        return String::new();
    }
    let word = |n: usize| {
        let (space, address) = (form.dot_space(), form.address(8 * n));
        format!("ld.global.u64 %rd5, [%rd0+{}]; st{space}.u64 {address}, %rd5;\n", 8 * n)
    };
    (0..4).map(word).collect()
}

#[test]
fn every_load_extends_what_lies_there() {
    for name in FORMS.lines().filter(|form| form.starts_with("ld.")) {
        note(name);
        let form = read(name);
        let bytes = form.bits / 8;
        // The access starts at the second vector, so that the offset matters. It is aligned to the whole vector.
        let start = bytes * form.elements;
        let mut body = fill(&form) + &format!("{name} {}, {};\n", form.registers(), form.address(start % 32));
        for n in 0..form.elements {
            let at = 32 + 8 * n;
            body += &match form.bits {
                16 => format!("st.global.u16 [%rd0+{at}], %h{n};\n"),
                64 => format!("st.global.u64 [%rd0+{at}], %rd2{n};\n"),
                _ => format!("st.global.u32 [%rd0+{at}], %r1{n};\n"),
            };
        }
        let out = results(&body);
        for n in 0..form.elements {
            let from = start % 32 + n * bytes;
            let mut wanted = [0; 8];
            wanted[..bytes].copy_from_slice(&pattern()[from..from + bytes]);
            // A signed byte fills a 32-bit register.
            if form.bits == 8 && form.signed && wanted[0] >= 0x80 {
                wanted[1..4].fill(0xff);
            }
            assert_eq!(out[8 * n..8 * n + 8], wanted, "{name}, element {n}");
        }
    }
}

#[test]
fn every_store_writes_its_bytes_and_no_others() {
    for name in FORMS.lines().filter(|form| form.starts_with("st.")) {
        note(name);
        let form = read(name);
        let bytes = form.bits / 8;
        let start = bytes * form.elements % 32;
        let mut body = String::new();
        // The values are the last bytes of the pattern. The upper bits of a byte's register are set.
        for n in 0..form.elements {
            let from = 32 - bytes * (n + 1);
            body += &match form.bits {
                8 => format!("ld.global.u8 %r1{n}, [%rd0+{from}]; or.b32 %r1{n}, %r1{n}, 0xabcdef00;\n"),
                16 => format!("ld.global.u16 %h{n}, [%rd0+{from}];\n"),
                64 => format!("ld.global.u64 %rd2{n}, [%rd0+{from}];\n"),
                _ => format!("ld.global.u32 %r1{n}, [%rd0+{from}];\n"),
            };
        }
        // Global memory contains the pattern itself, so the store goes to the results.
        let global = form.space == "global";
        let target = if global { form.address(32 + start) } else { form.address(start) };
        body += &format!("{name} {target}, {};\n", form.registers());
        if !global {
            for n in 0..4 {
                let (space, address) = (form.dot_space(), form.address(8 * n));
                body +=
                    &format!("ld{space}.u64 %rd5, {address}; st.global.u64 [%rd0+{}], %rd5;\n", 32 + 8 * n);
            }
        }
        let mut wanted = [0; 32];
        for n in 0..form.elements {
            let from = 32 - bytes * (n + 1);
            wanted[start + n * bytes..][..bytes].copy_from_slice(&pattern()[from..from + bytes]);
        }
        assert_eq!(results(&body)[..32], wanted, "{name}");
    }
}
