//! The threads on which SMs run ahead. They live as long as the GPU, spin for a short time for the next window, and then sleep.
use crate::sm::Sm;
use crate::sm::ahead::Ahead;
use selvedge_ptx::memory::DeviceMemory;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::{self, JoinHandle};

/// How often a thread looks for something before it yields its core, where there is a core for each.
const SPINS: u32 = 4_000;

/// How often it yields before it sleeps.
const YIELDS: u32 = 50;

/// An SM that runs through a window.
pub(super) struct Job {
    pub id: usize,
    pub sm: Box<Sm>,
    pub ahead: Box<Ahead>,
    /// The cycle before the window, and its last one.
    pub window: (u64, u64),
}

/// What a thread has to do and has done.
#[derive(Default)]
#[repr(align(128))]
struct Lane {
    todo: Mutex<Vec<Job>>,
    done: Mutex<Vec<Job>>,
    sleeps: AtomicBool,
}

/// What the threads share.
struct Shared {
    lanes: Vec<Lane>,
    /// Grows with each window, and when all must end.
    windows: AtomicU64,
    /// Jobs of the window that are not done.
    pending: AtomicUsize,
    ends: AtomicBool,
    /// A thread has panicked.
    is_broken: AtomicBool,
    memory: RwLock<DeviceMemory>,
    spins: u32,
}

/// The threads on which SMs run ahead.
pub(super) struct Pool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

/// Locks what no thread leaves in a bad state.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pool {
    /// Returns a pool of `count` threads, that of the caller included.
    pub fn new(count: usize) -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let shared = Arc::new(Shared {
            lanes: (0..count).map(|_| Lane::default()).collect(),
            windows: AtomicU64::new(0),
            pending: AtomicUsize::new(0),
            ends: AtomicBool::new(false),
            is_broken: AtomicBool::new(false),
            memory: RwLock::new(DeviceMemory::with_capacity(0)),
            spins: if count <= cores { SPINS } else { 0 },
        });
        let threads = (1..count).map(|lane| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.serve(lane))
        });
        Pool { threads: threads.collect(), shared }
    }

    /// Has all jobs done, with `memory` as it is, and hands them over to `take` in any order.
    ///
    /// # Panics
    /// When a thread has panicked.
    pub fn run(&mut self, jobs: &mut Vec<Job>, memory: &mut DeviceMemory, mut take: impl FnMut(Job)) {
        let shared = &self.shared;
        let exchange = |memory: &mut DeviceMemory| {
            std::mem::swap(memory, &mut *shared.memory.write().unwrap_or_else(PoisonError::into_inner));
        };
        // A thread that is late with the last window takes what it finds: the memory comes first.
        exchange(memory);
        shared.pending.store(jobs.len(), Ordering::Relaxed);
        for job in jobs.drain(..) {
            lock(&shared.lanes[job.id % shared.lanes.len()].todo).push(job);
        }
        shared.windows.fetch_add(1, Ordering::SeqCst);
        for (lane, thread) in shared.lanes[1..].iter().zip(&self.threads) {
            if lane.sleeps.load(Ordering::SeqCst) {
                thread.thread().unpark();
            }
        }
        shared.work(0);
        let mut tries = 0;
        while shared.pending.load(Ordering::Acquire) > 0 {
            assert!(!shared.is_broken.load(Ordering::Relaxed), "a thread that runs SMs has panicked");
            shared.pause(&mut tries);
        }
        exchange(memory);
        shared.lanes.iter().for_each(|lane| lock(&lane.done).drain(..).for_each(&mut take));
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.ends.store(true, Ordering::SeqCst);
        self.shared.windows.fetch_add(1, Ordering::SeqCst);
        for thread in self.threads.drain(..) {
            thread.thread().unpark();
            // A panic has been reported where it happened.
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// Does jobs, those of its own lane first, until there are none.
    fn work(&self, lane: usize) {
        let count = self.lanes.len();
        for from in (lane..count).chain(0..lane) {
            while let Some(mut job) = self.next(from) {
                let memory = self.memory.read().unwrap_or_else(PoisonError::into_inner);
                let (now, end) = job.window;
                job.sm.run_ahead(&mut job.ahead, now, end, &memory);
                drop(memory);
                lock(&self.lanes[lane].done).push(job);
                self.pending.fetch_sub(1, Ordering::Release);
            }
        }
    }

    fn next(&self, lane: usize) -> Option<Job> {
        lock(&self.lanes[lane].todo).pop()
    }

    /// Waits for a moment: spins first, then yields; `tries` counts.
    fn pause(&self, tries: &mut u32) {
        *tries += 1;
        if *tries <= self.spins { spin_loop() } else { thread::yield_now() }
    }

    /// Serves windows until all must end.
    fn serve(&self, lane: usize) {
        let alarm = Alarm(self);
        let mut seen = 0;
        while !self.ends.load(Ordering::SeqCst) {
            self.await_window(lane, &mut seen);
            self.work(lane);
        }
        std::mem::forget(alarm);
    }

    /// Waits for a window after `seen`.
    fn await_window(&self, lane: usize, seen: &mut u64) {
        let mut tries = 0;
        loop {
            let windows = self.windows.load(Ordering::SeqCst);
            if windows != *seen {
                *seen = windows;
                return;
            }
            if tries < self.spins + YIELDS {
                self.pause(&mut tries);
                continue;
            }
            let sleeps = &self.lanes[lane].sleeps;
            sleeps.store(true, Ordering::SeqCst);
            if self.windows.load(Ordering::SeqCst) == *seen {
                thread::park();
            }
            sleeps.store(false, Ordering::SeqCst);
        }
    }
}

/// Says that its thread has panicked, when it is dropped.
struct Alarm<'a>(&'a Shared);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        self.0.is_broken.store(true, Ordering::Relaxed);
    }
}
