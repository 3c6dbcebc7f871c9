//! Work on a list by some threads at a time.
use std::sync::atomic::{AtomicUsize, Ordering};

/// Items under work at a time: outside programs use one processor each.
const WORKERS: usize = 2;

/// Calls `work` for every item, some at a time, in the order of the list. A panic in one of the calls is passed on.
pub fn each<T: Sync>(items: &[T], work: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    work(item);
                }
            });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn every_item_is_worked_on_once() {
        let seen = Mutex::new(Vec::new());
        each(&[3, 1, 4, 1, 5], |item| seen.lock().unwrap().push(*item));
        let mut seen = seen.into_inner().unwrap();
        seen.sort_unstable();
        assert_eq!(seen, [1, 1, 3, 4, 5]);
    }

    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn a_panic_is_passed_on() {
        each(&[1, 2, 3], |item| assert_ne!(*item, 2));
    }
}
