//! The threads on which SMs run ahead, and the memory system beside them. They live as long as the GPU, spin for a short time for something
//! to do, and then sleep.
use super::beside::{FarEnd, FarSide};
use crate::sm::Sm;
use crate::sm::ahead::Ahead;
use selvedge_ptx::memory::DeviceMemory;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::{self, JoinHandle};

/// How often a thread looks for something before it yields its core, where there is a core for each.
const SPINS: u32 = 500;

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

/// The lane of the thread that runs the memory system.
const FAR_LANE: usize = 1;

/// What the threads share.
pub(super) struct Shared {
    lanes: Vec<Lane>,
    /// Grows with each window, when the memory system is to run beside the SMs, and when all must end.
    calls: AtomicU64,
    /// The memory system that is to run beside the SMs.
    side: Mutex<Option<FarSide>>,
    /// The one that has.
    end: Mutex<Option<FarEnd>>,
    has_end: AtomicBool,
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
    /// How often the caller has waited so long for another thread that it is not likely to have a core.
    pub stalls: u32,
}

/// Locks what no thread leaves in a bad state.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for a moment: spins first, then yields; `tries` counts.
pub(super) fn pause(tries: &mut u32, spins: u32) {
    *tries += 1;
    if *tries <= spins { spin_loop() } else { thread::yield_now() }
}

impl Pool {
    /// Returns a pool of `count` threads, that of the caller included.
    pub fn new(count: usize) -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let shared = Arc::new(Shared {
            lanes: (0..count).map(|_| Lane::default()).collect(),
            calls: AtomicU64::new(0),
            side: Mutex::default(),
            end: Mutex::default(),
            has_end: AtomicBool::new(false),
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
        Pool { threads: threads.collect(), shared, stalls: 0 }
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
        let count = shared.lanes.len();
        for (number, lane) in shared.lanes.iter().enumerate() {
            // An SM goes to the same thread whenever it can, where its state is.
            lock(&lane.todo).extend(jobs.extract_if(.., |job| job.id % count == number));
        }
        self.call();
        let shared = &self.shared;
        shared.work(0);
        let mut tries = 0;
        while shared.pending.load(Ordering::Acquire) > 0 {
            shared.go_on_waiting(&mut tries);
        }
        self.stalls += u32::from(tries > shared.spins);
        exchange(memory);
        shared.lanes.iter().for_each(|lane| lock(&lane.done).drain(..).for_each(&mut take));
    }

    /// Wakes the threads that sleep.
    fn call(&self) {
        self.shared.calls.fetch_add(1, Ordering::SeqCst);
        for (lane, thread) in self.shared.lanes[1..].iter().zip(&self.threads) {
            if lane.sleeps.load(Ordering::SeqCst) {
                thread.thread().unpark();
            }
        }
    }

    /// Lets a thread run the memory system beside the SMs.
    pub fn begin(&mut self, side: FarSide) {
        *lock(&self.shared.side) = Some(side);
        self.call();
    }

    /// Returns the memory system when it has ended.
    ///
    /// # Panics
    /// When a thread has panicked.
    pub fn end(&mut self) -> FarEnd {
        let mut tries = 0;
        while !self.shared.has_end.swap(false, Ordering::Acquire) {
            self.shared.go_on_waiting(&mut tries);
        }
        lock(&self.shared.end).take().expect("it has just come")
    }

    /// How often a thread looks for something before it yields its core.
    pub fn spins(&self) -> u32 {
        self.shared.spins
    }

    /// Returns what the memory system's thread does for others while it waits.
    pub fn helper(&self) -> Helper {
        Helper { shared: Arc::clone(&self.shared), seen: self.shared.calls.load(Ordering::SeqCst) }
    }
}

/// What the memory system's thread does for others: it runs SMs ahead.
pub(super) struct Helper {
    shared: Arc<Shared>,
    seen: u64,
}

impl Helper {
    /// Runs SMs ahead if there are any to be.
    #[inline]
    pub fn help(&mut self) {
        let calls = self.shared.calls.load(Ordering::Acquire);
        if calls != self.seen {
            self.seen = calls;
            self.shared.work(FAR_LANE);
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.ends.store(true, Ordering::SeqCst);
        self.shared.calls.fetch_add(1, Ordering::SeqCst);
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
        // The threads write to what they share once, not for each job.
        let mut done = Vec::new();
        let mut memory = None;
        for from in (lane..count).chain(0..lane) {
            while let Some(mut job) = self.next(from) {
                let memory =
                    memory.get_or_insert_with(|| self.memory.read().unwrap_or_else(PoisonError::into_inner));
                let (now, end) = job.window;
                job.sm.run_ahead(&mut job.ahead, now, end, memory);
                done.push(job);
            }
        }
        drop(memory);
        if !done.is_empty() {
            let jobs = done.len();
            lock(&self.lanes[lane].done).append(&mut done);
            self.pending.fetch_sub(jobs, Ordering::Release);
        }
    }

    fn next(&self, lane: usize) -> Option<Job> {
        lock(&self.lanes[lane].todo).pop()
    }

    /// Waits for a moment: spins first, then yields; `tries` counts.
    fn pause(&self, tries: &mut u32) {
        pause(tries, self.spins);
    }

    /// Waits for a moment for another thread.
    ///
    /// # Panics
    /// When one has panicked.
    fn go_on_waiting(&self, tries: &mut u32) {
        assert!(!self.is_broken.load(Ordering::Relaxed), "a thread beside this one has panicked");
        self.pause(tries);
    }

    /// Serves windows until all must end.
    fn serve(&self, lane: usize) {
        let alarm = Alarm(self);
        let mut seen = 0;
        while !self.ends.load(Ordering::SeqCst) {
            self.await_call(lane, &mut seen);
            if lane == FAR_LANE
                && let Some(side) = lock(&self.side).take()
            {
                *lock(&self.end) = Some(side.run());
                self.has_end.store(true, Ordering::Release);
            }
            self.work(lane);
        }
        std::mem::forget(alarm);
    }

    /// Waits for a call after `seen`.
    fn await_call(&self, lane: usize, seen: &mut u64) {
        let mut tries = 0;
        loop {
            let calls = self.calls.load(Ordering::SeqCst);
            if calls != *seen {
                *seen = calls;
                return;
            }
            if tries < self.spins + YIELDS {
                self.pause(&mut tries);
                continue;
            }
            let sleeps = &self.lanes[lane].sleeps;
            sleeps.store(true, Ordering::SeqCst);
            if self.calls.load(Ordering::SeqCst) == *seen {
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
