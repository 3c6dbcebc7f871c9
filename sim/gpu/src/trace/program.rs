//! A trace as a program, which runs one launch after the other.
use super::change;
use super::error::TraceError;
use super::launch::TraceLaunch;
use super::strace::{TraceItem, memory_digest};
use super::values::ValueModel;
use super::{TraceContents, TraceFile};
use crate::config::GpuConfig;
use crate::trace::bytes::TraceDecoder;
use selvedge_ptx::memory::DeviceMemory;
use std::sync::Arc;

/// A trace in progress.
pub struct TraceProgram {
    file: Arc<TraceFile>,
    /// Index of the next item of a recorded trace, or of the next kernel of an Accel-Sim trace.
    next: usize,
}

/// Device memory at the end of a replay differs from the recorded run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("device memory does not end as the recorded run left it")]
pub struct OtherMemory;

impl TraceProgram {
    /// Creates the program at its start.
    pub fn new(file: &Arc<TraceFile>) -> Self {
        Self { file: Arc::clone(file), next: 0 }
    }

    /// Gives memory the values of the trace's model, if it has one.
    pub fn load(&self, memory: &mut DeviceMemory) {
        if let Some(values) = &self.file.values {
            memory.set_outside_values(Arc::<ValueModel>::clone(values));
        }
    }

    /// Returns the next launch, after applying the host's changes of memory before it. Returns `None` at the end.
    pub fn next(&mut self, memory: &mut DeviceMemory) -> Result<Option<Arc<TraceLaunch>>, TraceError> {
        let file = Arc::clone(&self.file);
        match &file.trace {
            TraceContents::Accel(accel) => {
                let launch = accel.launch(self.next)?;
                self.next += 1;
                Ok(launch.map(Arc::new))
            }
            TraceContents::Recorded(trace) => {
                while let Some(item) = trace.items.get(self.next) {
                    self.next += 1;
                    match item {
                        TraceItem::Launch(launch) => return Ok(Some(Arc::clone(launch))),
                        TraceItem::Host(range) => self.host(&trace.bytes, range.clone(), memory)?,
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
        let done = change::decode(&mut TraceDecoder::new(bytes, range), |edit| {
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

    /// Compares memory at the end with the recorded run. Returns `false` if the trace does not permit the comparison. Only a
    /// replay with the recorded configuration and mechanism must match: others may perform conflicting stores in another order.
    ///
    /// # Errors
    /// Returns [`OtherMemory`] if the contents differ.
    pub fn verify(
        &self,
        memory: &DeviceMemory,
        config: &GpuConfig,
        mechanism: &str,
    ) -> Result<bool, OtherMemory> {
        let TraceContents::Recorded(trace) = &self.file.trace else { return Ok(false) };
        if !trace.recorded.is_same_machine(config, mechanism) {
            return Ok(false);
        }
        if memory_digest(memory) == trace.memory {
            return Ok(true);
        }
        Err(OtherMemory)
    }
}
