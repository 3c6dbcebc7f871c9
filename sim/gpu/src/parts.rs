//! What mechanisms put into the GPU: the parts in each SM and in each L2 slice.
use crate::config::GpuConfig;
use crate::partition::PartitionParts;
use crate::sm::parts::SmParts;

/// The parts of all mechanisms.
pub struct Parts {
    /// Those of each SM.
    pub sms: Vec<SmParts>,
    /// Those of each L2 slice of each partition.
    pub partitions: Vec<PartitionParts>,
}

impl Parts {
    /// Returns the GPU without a mechanism.
    pub fn none(config: &GpuConfig) -> Self {
        Parts {
            sms: (0..config.sm.count).map(|_| SmParts::default()).collect(),
            partitions: (0..config.l2.all_slices()).map(|_| PartitionParts::default()).collect(),
        }
    }
}
