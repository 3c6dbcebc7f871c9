//! A warp that replays the records of a trace.
use super::change;
use super::error::TraceError;
use super::launch::{TraceLaunch, next_head};
use super::stream::{Cursor, RecordHead, lanes};
use selvedge_ptx::memory::MemoryError;
use selvedge_ptx::ptx::{Env, LOCAL_REGION, MemAccess, Space, Step};
use selvedge_state::State;
use std::ops::Range;
use std::sync::Arc;

/// A warp of a trace.
#[derive(Debug, State)]
pub(crate) struct ReplayedWarp {
    launch: Arc<TraceLaunch>,
    /// Number of the warp in the grid.
    number: u64,
    /// Range of the records that were not read yet.
    rest: Range<usize>,
    cursor: Cursor,
    next: Option<RecordHead>,
}

impl ReplayedWarp {
    /// Creates warp `number` of the grid.
    pub fn new(launch: &Arc<TraceLaunch>, number: u64) -> Self {
        let rest = launch.streams[number as usize].clone();
        let mut warp =
            Self { launch: Arc::clone(launch), number, rest, cursor: Cursor::default(), next: None };
        warp.read_head();
        warp
    }

    fn read_head(&mut self) {
        let mut from = self.launch.decoder(&self.rest);
        self.next = next_head(&mut self.cursor, &mut from, self.launch.kernel.code.len());
        self.rest.start = from.at;
    }

    /// Returns the index of the next instruction in the kernel's code; `None` after the last.
    #[inline]
    pub fn pc(&self) -> Option<u32> {
        self.next.map(|head| head.pc)
    }

    /// Returns the lanes that execute the next instruction.
    #[inline]
    pub fn active_mask(&self) -> u32 {
        self.next.map_or(0, |head| head.lanes)
    }

    /// Replays the next record.
    ///
    /// # Errors
    /// Returns an error if memory does not permit a recorded change, because it differs from the recorded run.
    pub fn step(&mut self, env: &mut Env, access: &mut MemAccess) -> Result<Step, TraceError> {
        let Some(head) = self.next else { return Ok(Step::Exit) };
        let mut from = self.launch.decoder(&self.rest);
        let mut refused: Option<MemoryError> = None;
        let step = self.cursor.body(&mut from, &head, access, |edit| {
            if let Err(error) = change::apply(edit, env.memory) {
                refused.get_or_insert(error);
            }
            Ok(())
        });
        let step = step.expect("the stream was checked when it was read");
        self.rest.start = from.at;
        if let Some(error) = refused {
            return Err(TraceError::Kernel {
                file: self.launch.kernel.file.clone(),
                kernel: self.launch.kernel.name.clone(),
                message: error.to_string(),
            });
        }
        if let (Step::Memory, Space::Local, Some(bytes)) = (step, access.space, self.launch.local_bytes) {
            self.place_local(access, bytes);
        }
        self.read_head();
        Ok(step)
    }

    /// Converts offsets in local memory into addresses interleaved over the lanes, as PTX kernels have them.
    fn place_local(&self, access: &mut MemAccess, local_bytes: u64) {
        let size = u64::from(access.bytes);
        let region = LOCAL_REGION + self.number * local_bytes * 32;
        for lane in lanes(access.mask) {
            access.address[lane] = region + access.address[lane] / size * size * 32 + lane as u64 * size;
        }
    }
}
