//! A pool of threads that work on numbered jobs while another thread still makes further jobs.
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The jobs that wait, and the results of the others.
struct PoolState<J, R, E> {
    waiting: VecDeque<(usize, J)>,
    /// Jobs that a thread works on.
    running: usize,
    /// Number of the next job.
    next: usize,
    /// `true` if no further job comes.
    is_closed: bool,
    results: BTreeMap<usize, R>,
    /// The first job that failed, and its error.
    failed: Option<(usize, E)>,
}

impl<J, R, E> PoolState<J, R, E> {
    /// Returns the next job for a thread to work on.
    fn take(&mut self) -> Option<(usize, J)> {
        let job = self.waiting.pop_front()?;
        self.running += 1;
        Some(job)
    }
}

/// A pool of `threads` threads. The thread that makes jobs is one of them: it works on a job itself when
/// `threads` jobs wait, so that few jobs exist at the same time.
pub struct Pool<'a, J, R, E> {
    work: &'a (dyn Fn(J) -> Result<R, E> + Sync),
    threads: usize,
    state: Mutex<PoolState<J, R, E>>,
    /// Notified when a job comes or ends, or the pool is closed.
    changed: Condvar,
}

/// The results of the jobs by number, or the error of the failed job with the lowest number.
pub type PoolResults<R, E> = Result<BTreeMap<usize, R>, E>;

impl<'a, J: Send, R: Send, E: Send> Pool<'a, J, R, E> {
    /// Calls `make`, which adds jobs to the pool, and `work` for each job. Returns the result of `make` and the results of the
    /// jobs. Neither depends on the number of threads.
    pub fn run<T>(
        threads: usize,
        work: &'a (dyn Fn(J) -> Result<R, E> + Sync),
        make: impl FnOnce(&Self) -> T,
    ) -> (T, PoolResults<R, E>) {
        let state = PoolState {
            waiting: VecDeque::new(),
            running: 0,
            next: 0,
            is_closed: false,
            results: BTreeMap::new(),
            failed: None,
        };
        let pool = Pool { work, threads, state: Mutex::new(state), changed: Condvar::new() };
        let made = std::thread::scope(|scope| {
            (1..threads).for_each(|_| {
                scope.spawn(|| while pool.work_on(pool.await_job()) {});
            });
            // Also closes the pool if `make` panics: the other threads would wait forever.
            let closing = Closing(&pool);
            let made = make(&pool);
            drop(closing);
            while pool.work_on(pool.await_job()) {}
            made
        });
        let state = pool.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        (made, state.failed.map_or(Ok(state.results), |(_, error)| Err(error)))
    }

    /// Adds a job. Returns `false` if a job has failed: no further job is needed.
    pub fn add(&self, job: J) -> bool {
        let mut state = self.lock();
        let number = state.next;
        state.next += 1;
        state.waiting.push_back((number, job));
        let first = if state.waiting.len() >= self.threads { state.take() } else { None };
        drop(state);
        self.changed.notify_one();
        self.work_on(first);
        self.lock().failed.is_none()
    }

    /// Ends all jobs so far. Returns `read` of their results, or `None` if a job has failed.
    pub fn settle<T>(&self, read: impl FnOnce(&BTreeMap<usize, R>) -> T) -> Option<T> {
        let mut state = self.lock();
        while let Some(job) = state.take() {
            drop(state);
            self.work_on(Some(job));
            state = self.lock();
        }
        while state.running > 0 {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.failed.is_none().then(|| read(&state.results))
    }

    fn lock(&self) -> MutexGuard<'_, PoolState<J, R, E>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a job. Returns `None` if none is left and the pool is closed.
    fn await_job(&self) -> Option<(usize, J)> {
        let mut state = self.lock();
        loop {
            match state.take() {
                Some(job) => return Some(job),
                None if state.is_closed => return None,
                None => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    /// Works on a job, unless one with a lower number has failed. Returns `false` without a job.
    fn work_on(&self, job: Option<(usize, J)>) -> bool {
        let Some((number, job)) = job else { return false };
        let _running = RunningJob(self);
        if self.lock().failed.as_ref().is_some_and(|(failed, _)| *failed < number) {
            return true;
        }
        let result = (self.work)(job);
        let mut state = self.lock();
        match result {
            Ok(result) => {
                state.results.insert(number, result);
            }
            Err(_) if state.failed.as_ref().is_some_and(|(failed, _)| *failed < number) => {}
            Err(error) => state.failed = Some((number, error)),
        }
        true
    }
}

/// Closes a pool when it is dropped.
struct Closing<'p, 'a, J: Send, R: Send, E: Send>(&'p Pool<'a, J, R, E>);

impl<J: Send, R: Send, E: Send> Drop for Closing<'_, '_, J, R, E> {
    fn drop(&mut self) {
        self.0.lock().is_closed = true;
        self.0.changed.notify_all();
    }
}

/// A job of a pool that ends when it is dropped, also if the work on it panics.
struct RunningJob<'p, 'a, J: Send, R: Send, E: Send>(&'p Pool<'a, J, R, E>);

impl<J: Send, R: Send, E: Send> Drop for RunningJob<'_, '_, J, R, E> {
    fn drop(&mut self) {
        self.0.lock().running -= 1;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn every_job_has_its_result_for_any_number_of_threads() {
        let square = |job: usize| Ok::<_, ()>(job * job);
        for threads in [1, 2, 8] {
            let ((), results) = Pool::run(threads, &square, |pool| {
                (0..50).for_each(|job| assert!(pool.add(job)));
            });
            let expected: BTreeMap<_, _> = (0..50).map(|job| (job, job * job)).collect();
            assert_eq!(results, Ok(expected), "{threads} threads");
        }
    }

    #[test]
    fn the_first_error_wins_and_ends_the_making_of_jobs() {
        let fails = |job: usize| if job >= 7 { Err(job) } else { Ok(()) };
        for threads in [1, 2, 8] {
            let (made, results) =
                Pool::run(threads, &fails, |pool| (0..1_000_000).find(|job| !pool.add(*job)));
            assert_eq!(results, Err(7), "{threads} threads");
            assert!(made.is_some(), "{threads} threads");
        }
    }

    #[test]
    fn a_pool_that_settles_has_the_results_of_all_jobs_so_far() {
        let slow = |job: usize| {
            std::thread::yield_now();
            if job == 30 { Err(job) } else { Ok(job) }
        };
        for threads in [1, 2, 8] {
            let (seen, _) = Pool::run(threads, &slow, |pool| {
                let add = |jobs: usize| (jobs * 10..jobs * 10 + 10).for_each(|job| _ = pool.add(job));
                let seen = |jobs| {
                    add(jobs);
                    pool.settle(BTreeMap::len)
                };
                (0..4).map(seen).collect::<Vec<_>>()
            });
            assert_eq!(seen, [Some(10), Some(20), Some(30), None], "{threads} threads");
        }
    }

    #[test]
    fn few_jobs_exist_at_the_same_time() {
        struct Job<'a>(&'a AtomicUsize);
        impl Drop for Job<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::SeqCst);
            }
        }
        let alive = AtomicUsize::new(0);
        let most = AtomicUsize::new(0);
        let work = |job: Job| {
            drop(job);
            Ok::<_, ()>(())
        };
        let ((), results) = Pool::run(3, &work, |pool| {
            for _ in 0..100 {
                let now = alive.fetch_add(1, Ordering::SeqCst) + 1;
                most.fetch_max(now, Ordering::SeqCst);
                pool.add(Job(&alive));
            }
        });
        assert_eq!(results.map(|results| results.len()), Ok(100));
        // Two wait, one is new, and two threads hold one each.
        assert!(most.load(Ordering::SeqCst) <= 5, "{most:?}");
    }
}
