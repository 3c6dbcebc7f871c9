//! Parts that mechanisms add to SMs and L2 slices.
use crate::config::GpuConfig;
use crate::partition::SliceParts;
use crate::sm::parts::SmParts;

/// The parts of all mechanisms.
pub struct Parts {
    /// Parts of each SM.
    pub sms: Vec<SmParts>,
    /// Parts of each L2 slice, over all partitions.
    pub slices: Vec<SliceParts>,
}

impl Parts {
    /// Returns the parts of a GPU without a mechanism.
    pub fn none(config: &GpuConfig) -> Self {
        Parts {
            sms: (0..config.sm.count).map(|_| SmParts::default()).collect(),
            slices: (0..config.l2.all_slices()).map(|_| SliceParts::default()).collect(),
        }
    }
}
