//! What one run shares with the outside: how far it is, and whether it must stop.
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

/// How far one run is, and whether it must stop. The runs that the outside stops together share the flag alone.
#[derive(Debug, Default)]
pub struct Control {
    /// Set by the outside to stop the simulation.
    pub stop: Arc<AtomicBool>,
    /// Core cycle, updated now and then.
    pub cycle: AtomicU64,
    /// CTAs of the running launch that have finished.
    pub ctas_done: AtomicU64,
    /// CTAs of the running launch.
    pub ctas_total: AtomicU64,
    /// Number of the simulation, from 0 on, among [`Control::trials`] that the run makes to choose something.
    pub trial: AtomicU64,
    /// Simulations that the run makes to choose something; 0 when it makes none.
    pub trials: AtomicU64,
}

impl Control {
    /// Creates the control of a run that has not begun, which `stop` stops.
    pub fn new(stop: &Arc<AtomicBool>) -> Self {
        Control { stop: Arc::clone(stop), ..Control::default() }
    }
}
