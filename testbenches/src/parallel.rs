//! Runs work on a list on several threads.
use rayon::ThreadPoolBuilder;
use rayon::iter::{ParallelBridge, ParallelIterator};

/// Number of items in progress: each external program uses one processor.
const WORKERS: usize = 2;

/// Calls `work` for every item, several at a time, in the order of the list. Propagates a panic of a call.
pub fn each<T: Sync>(items: &[T], work: impl Fn(&T) + Sync) {
    map(items, WORKERS, |_, item| work(item));
}

/// Calls `work` with the index of every item and the item, on `threads` threads. Returns the results in the order of the
/// list. Items also start in that order, so that stopped work omits the last ones. Propagates a panic of a call.
///
/// # Panics
/// If the system cannot start the threads.
pub fn map<T: Sync, R: Send>(items: &[T], threads: usize, work: impl Fn(usize, &T) -> R + Sync) -> Vec<R> {
    let threads = threads.min(items.len()).max(1);
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started");
    let outcomes = items.iter().enumerate().par_bridge().map(|(at, item)| (at, work(at, item)));
    let mut outcomes: Vec<(usize, R)> = pool.install(|| outcomes.collect());
    outcomes.sort_unstable_by_key(|(at, _)| *at);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::time::Duration;

    #[test]
    fn every_item_is_worked_on_once() {
        let seen = Mutex::new(Vec::new());
        each(&[3, 1, 4, 1, 5], |item| seen.lock().unwrap().push(*item));
        let mut seen = seen.into_inner().unwrap();
        seen.sort_unstable();
        assert_eq!(seen, [1, 1, 3, 4, 5]);
    }

    #[test]
    fn outcomes_are_in_the_order_of_the_list_whatever_the_threads() {
        for threads in [1, 2, 7] {
            let late = |at: usize, item: &u64| {
                std::thread::sleep(Duration::from_millis(5 * item));
                (at, *item)
            };
            assert_eq!(map(&[3, 1, 0], threads, late), [(0, 3), (1, 1), (2, 0)], "{threads} threads");
        }
        assert!(map(&[0; 0], 2, |_, item| *item).is_empty());
    }

    #[test]
    fn one_thread_works_in_the_order_of_the_list() {
        let seen = Mutex::new(Vec::new());
        map(&[3, 1, 4, 1, 5], 1, |_, item| seen.lock().unwrap().push(*item));
        assert_eq!(seen.into_inner().unwrap(), [3, 1, 4, 1, 5]);
    }

    #[test]
    #[should_panic(expected = "2 of the list")]
    fn a_panic_is_passed_on() {
        each(&[1, 2, 3], |item| assert_ne!(*item, 2, "2 of the list"));
    }
}
