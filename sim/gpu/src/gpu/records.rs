//! Samples of the counters, and the timeline.
use crate::snapshot::Snapshot;
use crate::timeline::{Timeline, TimelineRecorder};
use selvedge_state::State;
use std::ops::Range;

/// The schedule of samples of the counters.
#[derive(Clone, Copy, Debug, State)]
struct SampleSchedule {
    /// Core cycles from one sample to the next.
    every: u64,
    /// Core cycle of the next sample.
    next: u64,
}

/// The samples of the counters, and the recorder of a timeline.
#[derive(State)]
pub struct Records {
    sampling: Option<SampleSchedule>,
    pub samples: Vec<Snapshot>,
    /// The recorder of a timeline; `None` if none is recorded.
    #[state(skip = "an option")]
    recorder: Option<Box<TimelineRecorder>>,
}

impl Records {
    /// Returns no records.
    pub fn new() -> Self {
        Records { sampling: None, samples: Vec::new(), recorder: None }
    }

    /// Samples the counters every `every` core cycles from cycle `now` on; `None` ends sampling.
    pub fn sample(&mut self, every: Option<u64>, now: u64) {
        self.sampling = every.map(|every| SampleSchedule { every, next: (now / every + 1) * every });
    }

    /// Returns the core cycle of the next sample; `u64::MAX` without sampling.
    #[inline(always)]
    pub fn next_sample(&self) -> u64 {
        self.sampling.map_or(u64::MAX, |sampling| sampling.next)
    }

    /// Adds a sample, and schedules the next one.
    pub fn push(&mut self, sample: Snapshot) {
        if let Some(sampling) = &mut self.sampling {
            sampling.next += sampling.every;
        }
        self.samples.push(sample);
    }

    /// Records a timeline of the core cycles of `interval`.
    pub fn record(&mut self, interval: Range<u64>) {
        self.recorder = Some(Box::new(TimelineRecorder::new(interval)));
    }

    /// Takes the recorder, which [`Self::put_back`] returns.
    pub fn take_recorder(&mut self) -> Option<Box<TimelineRecorder>> {
        self.recorder.take()
    }

    /// Keeps the recorder.
    pub fn put_back(&mut self, recorder: Box<TimelineRecorder>) {
        self.recorder = Some(recorder);
    }

    /// Ends recording in core cycle `now` and returns the timeline, if one was recorded.
    pub fn finish(&mut self, now: u64) -> Option<Timeline> {
        Some(self.recorder.take()?.finish(now))
    }
}
