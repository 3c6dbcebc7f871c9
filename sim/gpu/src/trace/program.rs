//! A trace as a program that runs: one launch after the other.
use super::strace::{Item, memory_digest};
use super::{Trace, TraceError, TraceFile, TraceLaunch, change};
use crate::config::GpuConfig;
use crate::trace::bytes::Decoder;
use selvedge_ptx::memory::DeviceMemory;
use std::sync::Arc;

/// A trace in progress.
pub struct TraceProgram {
    file: Arc<TraceFile>,
    /// What comes next: of the sections, or of the kernels.
    next: usize,
}

/// Memory at the end of a replay that is not the recorded run's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("device memory does not end as the recorded run left it")]
pub struct OtherMemory;

impl TraceProgram {
    /// Returns the program at its start.
    pub fn new(file: &Arc<TraceFile>) -> Self {
        Self { file: Arc::clone(file), next: 0 }
    }

    /// The next launch, after what the host did before it; none at the end.
    pub fn next(&mut self, memory: &mut DeviceMemory) -> Result<Option<Arc<TraceLaunch>>, TraceError> {
        let file = Arc::clone(&self.file);
        match &file.trace {
            Trace::Accel(accel) => {
                let launch = accel.launch(self.next)?;
                self.next += 1;
                Ok(launch.map(Arc::new))
            }
            Trace::Recorded(trace) => {
                while let Some(item) = trace.items.get(self.next) {
                    self.next += 1;
                    match item {
                        Item::Launch(launch) => return Ok(Some(Arc::clone(launch))),
                        Item::Host(range) => self.host(&trace.bytes, range.clone(), memory)?,
                    }
                }
                Ok(None)
            }
        }
    }

    fn host(
        &self,
        bytes: &[u8],
        range: std::ops::Range<usize>,
        memory: &mut DeviceMemory,
    ) -> Result<(), TraceError> {
        let offset = range.start;
        let mut refused = None;
        let done = change::decode(&mut Decoder::new(bytes, range), |edit| {
            if let Err(error) = change::apply(edit, memory) {
                refused.get_or_insert(error.to_string());
            }
            Ok(())
        });
        done.expect("the section was checked when it was read");
        refused.map_or(Ok(()), |message| {
            Err(TraceError::Damaged { file: self.file.name.clone(), offset, message })
        })
    }

    /// Checks memory at the end, and returns whether there was anything to compare with. Only a replay with the recorded
    /// configuration and mechanism must leave what the recorded run left: others may do conflicting stores in another order.
    ///
    /// # Errors
    /// It has other contents.
    pub fn verify(
        &self,
        memory: &DeviceMemory,
        config: &GpuConfig,
        mechanism: &str,
    ) -> Result<bool, OtherMemory> {
        let Trace::Recorded(trace) = &self.file.trace else { return Ok(false) };
        if !trace.recorded.is_same_machine(config, mechanism) {
            return Ok(false);
        }
        if memory_digest(memory) == trace.memory {
            return Ok(true);
        }
        Err(OtherMemory)
    }
}
