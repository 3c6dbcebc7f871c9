//! The GPU, as the site to which mechanisms add their parts.
use super::error::MechanismError;
use super::probe::Probes;
use crate::config::GpuConfig;
use crate::partition::{SlicePart, SliceParts};
use crate::parts::Parts;
use crate::sm::part::SmPart;
use crate::sm::parts::SmParts;

/// A part with the name of its mechanism.
type NamedPart<T> = (&'static str, Box<T>);

/// The GPU, as the site to which mechanisms add their parts. `probes` builds the block instances under the engine of the run. It
/// also records them and plants faults.
pub struct Site<'a> {
    /// The configuration, including the additions of the mechanisms.
    pub config: &'a GpuConfig,
    /// Max kernels that run at the same time.
    pub kernels: usize,
    /// Builds the block instances.
    pub probes: &'a Probes,
    /// Mechanism that adds parts at the moment.
    mechanism: &'static str,
    sms: Vec<Vec<NamedPart<dyn SmPart>>>,
    slices: Vec<Vec<NamedPart<dyn SlicePart>>>,
}

impl<'a> Site<'a> {
    /// Creates a site without parts, for the given number of concurrent kernels.
    pub fn new(config: &'a GpuConfig, kernels: usize, probes: &'a Probes) -> Self {
        Site {
            config,
            kernels,
            probes,
            mechanism: "",
            sms: (0..config.sm.count).map(|_| Vec::new()).collect(),
            slices: (0..config.l2.all_slices()).map(|_| Vec::new()).collect(),
        }
    }

    /// Sets the mechanism that adds parts next, for messages.
    pub fn begin(&mut self, mechanism: &'static str) {
        self.mechanism = mechanism;
    }

    /// Adds a part to every SM. `one` creates the part for an SM number.
    pub fn each_sm<P: SmPart + 'static>(&mut self, mut one: impl FnMut(u32) -> P) {
        for (sm, parts) in (0..).zip(&mut self.sms) {
            parts.push((self.mechanism, Box::new(one(sm))));
        }
    }

    /// Adds a part to every L2 slice. `one` creates the part for a slice number, counted over all partitions.
    pub fn each_slice<P: SlicePart + 'static>(&mut self, mut one: impl FnMut(u32) -> P) {
        for (slice, parts) in (0..).zip(&mut self.slices) {
            parts.push((self.mechanism, Box::new(one(slice))));
        }
    }

    /// Returns whether any L2 slice has a part.
    pub fn has_slice_parts(&self) -> bool {
        self.slices.iter().any(|parts| !parts.is_empty())
    }

    /// Returns all parts.
    ///
    /// # Errors
    /// Returns [`MechanismError::Conflict`] if two mechanisms have parts with the same exclusive ability.
    pub fn finish(self) -> Result<Parts, MechanismError> {
        let sms = self.sms.into_iter().map(|parts| combined(parts, SmParts::new));
        let sms = sms.collect::<Result<_, _>>()?;
        let slices = self.slices.into_iter().map(|parts| combined(parts, SliceParts::new));
        Ok(Parts { sms, slices: slices.collect::<Result<_, _>>()? })
    }
}

/// Indices of two parts with the same exclusive ability, and the action of both as text.
type Conflict = (usize, usize, &'static str);

/// Combines the parts of an SM or of an L2 slice.
fn combined<T: ?Sized, All>(
    parts: Vec<NamedPart<T>>,
    new: impl FnOnce(Vec<Box<T>>) -> Result<All, Conflict>,
) -> Result<All, MechanismError> {
    let (names, parts): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    new(parts).map_err(|(first, second, why)| MechanismError::Conflict {
        first: names[first].into(),
        second: names[second].into(),
        why,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::has;
    use crate::mechanism::probe::ProbeSpec;
    use crate::sm::part::{Bypass, L1dEvent, L1dObserver, Load};
    use crate::stage::MechanismFault;
    use selvedge_hw::Engine;
    use selvedge_ptx::memory::DeviceMemory;

    /// A part that observes the L1D. If `bypasses` is set, it also selects loads that bypass it.
    #[derive(selvedge_state::State)]
    struct Own {
        bypasses: bool,
    }

    impl SmPart for Own {
        fn tick(&mut self, _: u64, _: &DeviceMemory) -> Result<(), MechanismFault> {
            Ok(())
        }

        fn busy(&self) -> bool {
            false
        }

        has!(l1d_observer: L1dObserver);

        fn bypass(&mut self) -> Option<&mut dyn Bypass> {
            self.bypasses.then_some(self)
        }
    }

    impl L1dObserver for Own {
        fn l1d_event(&mut self, _: u64, _: &L1dEvent) {}
    }

    impl Bypass for Own {
        fn bypasses(&mut self, _: u64, _: &Load) -> bool {
            true
        }
    }

    /// Combines two mechanisms. The flags say which of them select loads that bypass the L1D.
    fn combine(first: bool, second: bool) -> Result<(), String> {
        let config = GpuConfig::load("gtx480").expect("built in");
        let probes = Probes::new(ProbeSpec::default(), Engine::Model);
        let mut site = Site::new(&config, 1, &probes);
        for (name, bypasses) in [("one", first), ("other", second)] {
            site.begin(name);
            site.each_sm(|_| Own { bypasses });
        }
        site.finish().map(|_| ()).map_err(|error| error.to_string())
    }

    #[test]
    fn two_parts_with_the_same_exclusive_ability_are_refused_by_name() {
        let line = "mechanisms one and other cannot be combined: both choose the loads that bypass the L1D";
        assert_eq!(combine(true, true), Err(line.into()));
    }

    #[test]
    fn several_parts_may_observe_and_one_decide() {
        assert_eq!(
            [combine(true, false), combine(false, true), combine(false, false)],
            [Ok(()), Ok(()), Ok(())]
        );
    }
}
