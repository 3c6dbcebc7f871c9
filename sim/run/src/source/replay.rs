//! A recorded CUDA program: its operations once more, without the program.
use super::RecordedProgram;
use selvedge_cudart::device::{Device, DeviceError};
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::sm::launch::LaunchedKernel;
use selvedge_ptx::memory::DeviceMemory;
use std::sync::Arc;

/// A record, and how far it has been replayed.
pub(crate) struct Replay {
    program: Arc<RecordedProgram>,
    device: Device,
    /// The operation that comes next.
    next: usize,
}

impl Replay {
    /// Returns a replay at its beginning.
    pub fn new(program: &Arc<RecordedProgram>, config: &Arc<GpuConfig>) -> Self {
        Replay { program: Arc::clone(program), device: Device::new(config, None, Arc::default()), next: 0 }
    }

    /// Does everything up to the next launch, and returns that.
    ///
    /// # Errors
    /// An operation that the device refuses, such as a launch that is too large for the configuration.
    pub fn next(&mut self, memory: &mut DeviceMemory) -> Result<Option<LaunchedKernel>, DeviceError> {
        while let Some(operation) = self.program.record.operations.get(self.next) {
            self.next += 1;
            if let Some(launch) = self.device.apply(operation, memory)? {
                return Ok(Some(launch));
            }
        }
        Ok(None)
    }
}
