//! Finds kernels by their names in the source.
use selvedge_ptx::ptx::{Kernel, Module, RefusedKernel};
use std::sync::Arc;

/// Error of a lookup of a kernel by name.
#[derive(Debug, PartialEq, thiserror::Error)]
pub(super) enum NoKernel {
    /// The kernel cannot be executed.
    #[error(transparent)]
    Refused(RefusedKernel),
    /// No kernel has that name, or several have it.
    #[error("{0}")]
    Name(String),
}

#[derive(Clone, Copy)]
enum Candidate<'a> {
    Executable(&'a Arc<Kernel>),
    Refused(&'a RefusedKernel),
}

impl<'a> Candidate<'a> {
    fn name(self) -> &'a str {
        match self {
            Candidate::Executable(kernel) => &kernel.name,
            Candidate::Refused(refused) => &refused.kernel,
        }
    }
}

/// Finds the kernel called `name`. The name may be the PTX name or the C++ name, with or without namespaces.
///
/// # Errors
/// [`NoKernel`] if no kernel has that name, several have it, or it cannot be executed.
pub(super) fn find(module: &Module, name: &str) -> Result<Arc<Kernel>, NoKernel> {
    let executable = module.kernels().iter().map(Candidate::Executable);
    let all: Vec<Candidate<'_>> = executable.chain(module.refused().iter().map(Candidate::Refused)).collect();
    let is_meant = |kernel: &&Candidate<'_>| {
        identifiers(kernel.name()).is_some_and(|parts| {
            let whole = parts.join("::");
            whole == name || whole.strip_suffix(name).is_some_and(|before| before.ends_with("::"))
        })
    };
    let mut meant: Vec<_> = all.iter().filter(|kernel| kernel.name() == name).collect();
    if meant.is_empty() {
        meant = all.iter().filter(is_meant).collect();
    }
    let list = |kernels: &[&Candidate<'_>]| {
        kernels.iter().map(|kernel| kernel.name()).collect::<Vec<_>>().join(", ")
    };
    match meant[..] {
        [Candidate::Executable(kernel)] => Ok(Arc::clone(kernel)),
        [Candidate::Refused(refused)] => Err(NoKernel::Refused(RefusedKernel::clone(refused))),
        [] => {
            let all: Vec<_> = all.iter().collect();
            let there = if all.is_empty() { "none".into() } else { list(&all) };
            Err(NoKernel::Name(format!("no kernel '{name}' in the PTX: there are {there}")))
        }
        _ => Err(NoKernel::Name(format!("kernel '{name}' may be any of {}", list(&meant)))),
    }
}

/// Returns the identifiers of a function name that the C++ ABI mangled, the outermost first; `None` for other names.
fn identifiers(mangled: &str) -> Option<Vec<&str>> {
    let rest = mangled.strip_prefix("_Z")?;
    let (nested, mut rest) = rest.strip_prefix('N').map_or((false, rest), |rest| (true, rest));
    let mut parts = Vec::new();
    loop {
        // `L` marks a name with internal linkage.
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
        let found = |name: &str| find(&module(), name).expect("there").name.clone();
        assert_eq!(found("plain"), "plain");
        assert_eq!(found("Kernel"), "_Z6KernelP4NodePi");
        assert_eq!(found("_Z6KernelP4NodePi"), "_Z6KernelP4NodePi");
        assert_eq!(found("local"), "_ZL5localv");
    }

    #[test]
    fn names_of_none_or_several_are_refused_with_the_candidates() {
        let refused = |name: &str| find(&module(), name).expect_err("refused").to_string();
        for name in ["add", "ns::add"] {
            let says = format!("kernel '{name}' may be any of _ZN2ns3addIfEEvPT_, _ZN2ns3addIdEEvPT_");
            assert_eq!(refused(name), says);
        }
        let all = "plain, _Z6KernelP4NodePi, _ZN2ns3addIfEEvPT_, _ZN2ns3addIdEEvPT_, _ZL5localv, _Z4plus";
        for name in ["kernel", "dd", "Kerne"] {
            assert_eq!(refused(name), format!("no kernel '{name}' in the PTX: there are {all}"));
        }
    }

    #[test]
    fn a_kernel_that_cannot_be_executed_is_found_and_refused_with_its_line() {
        let text = ".version 6.0\n.target sm_60\n.address_size 64\n.entry good() { ret; }\n\
            .entry _Z3badPj() {\n unknown.u32;\n ret; }\n";
        let module = Module::parse_all(&[("k.ptx".into(), text.into())]).expect("it is PTX");
        assert_eq!(find(&module, "good").expect("executable").name, "good");
        for name in ["bad", "_Z3badPj"] {
            let says =
                "k.ptx:6: kernel '_Z3badPj': unsupported instruction form `unknown.u32`: it is not known";
            assert_eq!(find(&module, name).expect_err("refused").to_string(), says);
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
