//! Recording of a launch while it runs, by warps that record the instructions that they execute.
use super::stream::{Executed, StreamWriter};
use selvedge_ptx::ptx::{Env, Fault, Kernel, MemAccess, Step, Warp};
use selvedge_state::{SharedObject, State};
use std::sync::{Arc, Mutex, PoisonError};

/// The records of a launch's warps. Each warp adds its records when it has exited.
#[derive(Debug)]
pub struct LaunchRecorder {
    streams: Mutex<Vec<Vec<u8>>>,
}

/// The key is constant, because a run that is recorded has no checkpoints.
impl SharedObject for LaunchRecorder {
    fn key(&self) -> u64 {
        0
    }
}

impl LaunchRecorder {
    /// Creates a recorder for a grid of `warps` warps.
    pub(super) fn new(warps: usize) -> Self {
        Self { streams: Mutex::new(vec![Vec::new(); warps]) }
    }

    fn put(&self, number: u64, stream: Vec<u8>) {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)[number as usize] = stream;
    }

    /// Removes and returns the records, in the order of the warps in the grid.
    pub(super) fn take(&self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.streams.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A warp that executes its kernel and records its instructions.
#[derive(Debug, State)]
pub(crate) struct RecordedWarp {
    pub warp: Warp,
    recorder: Arc<LaunchRecorder>,
    /// Number of the warp in the grid.
    number: u64,
    out: StreamWriter,
}

impl RecordedWarp {
    pub fn new(warp: Warp, recorder: &Arc<LaunchRecorder>, number: u64) -> Self {
        Self { warp, recorder: Arc::clone(recorder), number, out: StreamWriter::default() }
    }

    /// Executes an instruction with [`Warp::step`] and records it.
    pub fn step(
        &mut self,
        kernel: &Kernel,
        env: &mut Env,
        access: &mut MemAccess,
    ) -> Result<Step, Box<Fault>> {
        let (pc, active) = (self.warp.pc(), self.warp.active_mask());
        let step = self.warp.step(kernel, env, access)?;
        if let Some(pc) = pc {
            let changes = env.memory.take_changes();
            let changes = Some((changes.as_slice(), &*env.memory));
            self.out.push(&Executed { pc, active, step, access, changes });
        }
        if self.warp.pc().is_none() {
            self.recorder.put(self.number, self.out.take());
        }
        Ok(step)
    }
}
