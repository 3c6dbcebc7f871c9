//! Finds kernels by the names that their sources give them.
use selvedge_ptx::ptx::{Kernel, Module};
use std::sync::Arc;

/// Finds the kernel called `name`: by its name in the PTX, or else by the name that its C++ source gives it, with or without the
/// namespaces before it.
///
/// # Errors
/// There is none, or several have that name, in words.
pub(super) fn find(module: &Module, name: &str) -> Result<Arc<Kernel>, String> {
    if let Some(kernel) = module.kernel(name) {
        return Ok(kernel);
    }
    let is_meant = |kernel: &&Arc<Kernel>| {
        identifiers(&kernel.name).is_some_and(|parts| {
            let whole = parts.join("::");
            whole == name || whole.strip_suffix(name).is_some_and(|before| before.ends_with("::"))
        })
    };
    let meant: Vec<&Arc<Kernel>> = module.kernels().iter().filter(is_meant).collect();
    let list = |kernels: &[&Arc<Kernel>]| {
        kernels.iter().map(|kernel| kernel.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    match meant[..] {
        [kernel] => Ok(Arc::clone(kernel)),
        [] => {
            let all: Vec<&Arc<Kernel>> = module.kernels().iter().collect();
            let there = if all.is_empty() { "none".into() } else { list(&all) };
            Err(format!("no kernel `{name}` in the PTX: there are {there}"))
        }
        _ => Err(format!("kernel `{name}` may be any of {}", list(&meant))),
    }
}

/// Returns the identifiers of a function's name as the C++ ABI mangles it, outermost first; none for other names.
fn identifiers(mangled: &str) -> Option<Vec<&str>> {
    let rest = mangled.strip_prefix("_Z")?;
    let (nested, mut rest) = rest.strip_prefix('N').map_or((false, rest), |rest| (true, rest));
    let mut parts = Vec::new();
    loop {
        // A name of one file alone.
        rest = rest.strip_prefix('L').unwrap_or(rest);
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let length: usize = rest[..digits].parse().ok()?;
        let (part, after) = rest[digits..].split_at_checked(length)?;
        parts.push(part);
        rest = after;
        if !nested || !rest.starts_with(|c: char| c.is_ascii_digit() || c == 'L') {
            return Some(parts);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module() -> Module {
        let entry = |name: &str| format!(".visible .entry {name}() {{ ret; }}\n");
        let names = [
            "plain",
            "_Z6KernelP4NodePi",
            "_ZN2ns3addIfEEvPT_",
            "_ZN2ns3addIdEEvPT_",
            "_ZL5localv",
            "_Z4plus",
        ];
        let text: String = names.map(entry).concat();
        Module::parse("k.ptx", &format!(".version 6.0\n.target sm_60\n.address_size 64\n{text}"))
            .expect("valid")
    }

    #[test]
    fn kernels_are_found_by_the_names_of_their_source() {
        let found = |name: &str| find(&module(), name).map(|kernel| kernel.name.clone());
        assert_eq!(found("plain").as_deref(), Ok("plain"));
        assert_eq!(found("Kernel").as_deref(), Ok("_Z6KernelP4NodePi"));
        assert_eq!(found("_Z6KernelP4NodePi").as_deref(), Ok("_Z6KernelP4NodePi"));
        assert_eq!(found("local").as_deref(), Ok("_ZL5localv"));
    }

    #[test]
    fn names_of_none_or_several_are_refused_with_the_candidates() {
        let refused = |name: &str| find(&module(), name).expect_err("refused");
        for name in ["add", "ns::add"] {
            let says = format!("kernel `{name}` may be any of _ZN2ns3addIfEEvPT_, _ZN2ns3addIdEEvPT_");
            assert_eq!(refused(name), says);
        }
        let all = "plain, _Z6KernelP4NodePi, _ZN2ns3addIfEEvPT_, _ZN2ns3addIdEEvPT_, _ZL5localv, _Z4plus";
        for name in ["kernel", "dd", "Kerne"] {
            assert_eq!(refused(name), format!("no kernel `{name}` in the PTX: there are {all}"));
        }
    }

    #[test]
    fn names_that_are_not_mangled_well_have_no_identifiers() {
        for name in ["_Z", "_Z9short", "_ZN", "_Z99999999999999999999a", "main", "_ZN3abcE"] {
            let parts = identifiers(name);
            assert_eq!(parts, if name == "_ZN3abcE" { Some(vec!["abc"]) } else { None }, "{name}");
        }
    }
}
