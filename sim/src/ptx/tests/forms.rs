//! Does every instruction form that real benchmarks use decode?

use super::super::Module;
use super::kernel_text;

/// One form a line; lines that start with '#' are comments.
const FORMS: &str = include_str!("forms.txt");

/// The register numbered `number` of the file that suits a type such as `u32`.
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

/// As many registers as `lanes`, in braces when it is more than one.
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

/// An address in the instruction's state space.
fn address(modifiers: &[&str]) -> &'static str {
    if modifiers.contains(&"param") { "[slot]" } else { "[%rd9]" }
}

/// The operands of an arithmetic instruction: its result and its sources.
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

/// The operands of a well-formed instruction of form `form`.
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
