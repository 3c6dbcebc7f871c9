//! Parts that mechanisms add to SMs and L2 slices.
use crate::config::GpuConfig;
use crate::partition::PartitionParts;
use crate::sm::parts::SmParts;

/// The parts of all mechanisms.
pub struct Parts {
    /// Parts of each SM.
    pub sms: Vec<SmParts>,
    /// Parts of each L2 slice, over all partitions.
    pub partitions: Vec<PartitionParts>,
}

impl Parts {
    /// Returns the parts of a GPU without a mechanism.
    pub fn none(config: &GpuConfig) -> Self {
        Parts {
            sms: (0..config.sm.count).map(|_| SmParts::default()).collect(),
            partitions: (0..config.l2.all_slices()).map(|_| PartitionParts::default()).collect(),
        }
    }
}
