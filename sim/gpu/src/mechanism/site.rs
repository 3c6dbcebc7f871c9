//! The GPU as a mechanism finds it when it puts its parts in.
use super::MechanismError;
use super::probe::Probes;
use crate::config::GpuConfig;
use crate::partition::{PartitionPart, PartitionParts};
use crate::parts::Parts;
use crate::sm::part::SmPart;
use crate::sm::parts::SmParts;

/// A part with the name of its mechanism.
type Named<T> = (&'static str, Box<T>);

/// The GPU as a mechanism finds it when it puts its parts in. `probes` makes the block instances, under the engine of the run,
/// with what is recorded of them and the faults planted in them.
pub struct Site<'a> {
    /// The configuration, with what mechanisms have added to it.
    pub config: &'a GpuConfig,
    /// Kernels at the same time.
    pub kernels: usize,
    /// The maker of block instances.
    pub probes: &'a Probes,
    /// The mechanism whose parts come.
    mechanism: &'static str,
    sms: Vec<Vec<Named<dyn SmPart>>>,
    partitions: Vec<Vec<Named<dyn PartitionPart>>>,
}

impl<'a> Site<'a> {
    /// Returns a GPU without parts, for the given number of kernels at the same time.
    pub fn new(config: &'a GpuConfig, kernels: usize, probes: &'a Probes) -> Self {
        Site {
            config,
            kernels,
            probes,
            mechanism: "",
            sms: (0..config.sm.count).map(|_| Vec::new()).collect(),
            partitions: (0..config.l2.all_slices()).map(|_| Vec::new()).collect(),
        }
    }

    /// States whose parts come next, for messages.
    pub fn begin(&mut self, mechanism: &'static str) {
        self.mechanism = mechanism;
    }

    /// Puts a part into every SM; `one` makes that of the SM with its number.
    pub fn each_sm<P: SmPart + 'static>(&mut self, mut one: impl FnMut(u32) -> P) {
        for (sm, parts) in (0..).zip(&mut self.sms) {
            parts.push((self.mechanism, Box::new(one(sm))));
        }
    }

    /// Puts a part into every L2 partition, at each of its slices; `one` makes that of the slice with its number.
    pub fn each_partition<P: PartitionPart + 'static>(&mut self, mut one: impl FnMut(u32) -> P) {
        for (partition, parts) in (0..).zip(&mut self.partitions) {
            parts.push((self.mechanism, Box::new(one(partition))));
        }
    }

    /// Returns whether there is a part in an L2 partition.
    pub fn has_partition_parts(&self) -> bool {
        self.partitions.iter().any(|parts| !parts.is_empty())
    }

    /// Returns the parts.
    ///
    /// # Errors
    /// [`MechanismError::Conflict`] for two mechanisms whose parts have the same exclusive ability.
    pub fn finish(self) -> Result<Parts, MechanismError> {
        let sms = self.sms.into_iter().map(|parts| combined(parts, SmParts::new));
        let sms = sms.collect::<Result<_, _>>()?;
        let partitions = self.partitions.into_iter().map(|parts| combined(parts, PartitionParts::new));
        Ok(Parts { sms, partitions: partitions.collect::<Result<_, _>>()? })
    }
}

/// Two parts with the same exclusive ability, by their places, and what both do.
type Conflict = (usize, usize, &'static str);

/// Combines the parts in one place.
fn combined<T: ?Sized, All>(
    parts: Vec<Named<T>>,
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
    use crate::mechanism::MechanismCounters;
    use crate::mechanism::probe::ProbeSpec;
    use crate::sm::part::{Bypass, L1dEvent, L1dObserver, Load};
    use crate::stage::MechanismFault;
    use selvedge_hw::Engine;
    use selvedge_hw::wave::Trace;
    use selvedge_ptx::memory::DeviceMemory;

    /// Observes the L1D, and lets loads bypass it if it is told to.
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

        fn counters(&self, _: &mut MechanismCounters) {}

        fn traces(&self, _: &mut Vec<Trace>) {}

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

    /// Combines two mechanisms whose parts have the ability to let loads bypass the L1D or not.
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
