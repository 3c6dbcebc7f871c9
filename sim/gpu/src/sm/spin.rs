//! Warps of an SM that spin, for the report of a livelock.
use super::Sm;
use super::cta_slot::CtaSlot;
use super::feed::Feed;
use super::launch::{ClockAndSm, LaunchedKernel};
use super::residents::Residents;
use super::warp_slot::Hold;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::{Spin, find_spin};

impl Sm {
    /// Returns a line for each warp of a launch that spins. `None` if a warp may still have an effect, because it neither
    /// spins nor waits at a barrier. Also `None` for a trace, which always ends.
    pub fn describe_spins(
        &mut self,
        launch: &LaunchedKernel,
        now: u64,
        memory: &mut DeviceMemory,
    ) -> Option<Vec<String>> {
        // A message or a copy may let a warp continue.
        if !self.asynchronous.is_empty() {
            return None;
        }
        let place = ClockAndSm { clock: now, sm: u32::from(self.id), sms: self.config.sm.count };
        let Residents { warps, ctas, .. } = &mut self.residents;
        let mut lines = Vec::new();
        // A CTA whose warps have all exited will end.
        let mut stays = vec![false; ctas.len()];
        memory.select(launch.program);
        for (index, slot) in warps.iter_mut().enumerate() {
            let Some(slot) = slot.as_mut().filter(|slot| slot.kernel.slot == launch.slot) else { continue };
            let cta = ctas[usize::from(slot.cta)].as_mut().expect("a resident warp's CTA is resident");
            let held = match slot.hold {
                Hold::Exited => continue,
                Hold::Barrier(_) => true,
                Hold::None
                | Hold::Control
                | Hold::Fence { .. }
                | Hold::Reads { .. }
                | Hold::Suspended { .. } => false,
            };
            stays[usize::from(slot.cta)] = true;
            if held {
                continue;
            }
            if !matches!(slot.kernel.feed, Feed::Execute) {
                return None;
            }
            cta.enter(memory);
            let mut env = slot.kernel.environment(memory, &mut cta.shared, place);
            let spin = find_spin(slot.warp.executed()?, &slot.kernel.kernel, &mut env);
            cta.leave(memory);
            let Spin { first, last } = spin?;
            let [x, y, z] = cta.cta;
            let place =
                if first == last { format!("line {first}") } else { format!("lines {first} to {last}") };
            lines.push(format!(
                "sm{} warp {index} (kernel {}, CTA {x},{y},{z}) repeats PTX {place}",
                self.id, slot.kernel.kernel.name
            ));
        }
        let is_of_kernel = |cta: &CtaSlot| cta.kernel.slot == launch.slot;
        let ends =
            ctas.iter().zip(stays).any(|(cta, stays)| !stays && cta.as_ref().is_some_and(is_of_kernel));
        (!ends).then_some(lines)
    }
}
