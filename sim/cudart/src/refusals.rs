//! Work that was refused to a program: modules, launches and other calls, with reasons.
use selvedge_state::State;

/// Max number of distinct reasons that are kept; all refusals are counted.
const MOST_REASONS: usize = 32;
/// Max length of a reason or a name in bytes.
const MOST_BYTES: usize = 1000;

/// Kind of refused work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub enum RefusedWork {
    /// A module with its kernels and variables.
    Module,
    /// A launch of a kernel.
    Launch,
    /// Any other call.
    Call,
}

impl RefusedWork {
    /// Returns the kind of work of a CUDA function.
    #[must_use]
    pub fn of(function: &str) -> Self {
        match function {
            "__cudaRegisterFatBinary" => RefusedWork::Module,
            name if name.contains("Launch") => RefusedWork::Launch,
            _ => RefusedWork::Call,
        }
    }
}

/// A reason for which work was refused.
#[derive(Clone, Debug, PartialEq, Eq, State)]
pub struct Refusal {
    /// Kind of the work.
    pub work: RefusedWork,
    /// Name of the CUDA function.
    pub call: String,
    /// The reason, in one line.
    pub why: String,
    /// Number of refusals for this reason.
    pub count: u64,
}

/// All refusals of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, State)]
pub struct Refusals {
    /// Number of refused modules.
    pub modules: u64,
    /// Number of refused launches.
    pub launches: u64,
    /// Number of other refused calls.
    pub calls: u64,
    /// The first distinct reasons, at most 32.
    pub reasons: Vec<Refusal>,
}

impl Refusals {
    /// Counts a refused call.
    pub fn add(&mut self, call: &str, why: &str) {
        let (call, why) = (short(call), short(why));
        let work = RefusedWork::of(call);
        *match work {
            RefusedWork::Module => &mut self.modules,
            RefusedWork::Launch => &mut self.launches,
            RefusedWork::Call => &mut self.calls,
        } += 1;
        if let Some(known) = self.reasons.iter_mut().find(|known| known.call == call && known.why == why) {
            known.count += 1;
        } else if self.reasons.len() < MOST_REASONS {
            self.reasons.push(Refusal { work, call: call.into(), why: why.into(), count: 1 });
        }
    }

    /// Adds later refusals of the same program.
    pub fn extend(&mut self, other: &Refusals) {
        self.modules = self.modules.saturating_add(other.modules);
        self.launches = self.launches.saturating_add(other.launches);
        self.calls = self.calls.saturating_add(other.calls);
        let left = MOST_REASONS.saturating_sub(self.reasons.len());
        self.reasons.extend(other.reasons.iter().take(left).cloned());
    }

    /// Returns the number of refusals.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.modules.saturating_add(self.launches).saturating_add(self.calls)
    }
}

/// Returns the first bytes of a text, up to a character boundary.
fn short(text: &str) -> &str {
    let end = (0..=MOST_BYTES.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_is_counted_and_each_reason_is_kept_once() {
        let mut refusals = Refusals::default();
        for _ in 0..8 {
            refusals.add("__cudaLaunchKernel", "too large");
        }
        refusals.add("__cudaRegisterFatBinary", "no PTX");
        for at in 0..100 {
            refusals.add("cudaFree", &format!("{at}"));
        }
        assert_eq!((refusals.modules, refusals.launches, refusals.calls, refusals.total()), (1, 8, 100, 109));
        assert_eq!(refusals.reasons.len(), MOST_REASONS);
        let first = Refusal {
            work: RefusedWork::Launch,
            call: "__cudaLaunchKernel".into(),
            why: "too large".into(),
            count: 8,
        };
        assert_eq!(refusals.reasons[0], first);
        assert_eq!(short(&"ä".repeat(1000)).len(), 1000);
    }
}
