//! Memory that a launch file's buffers may still use, within the limit of a run.
use super::element::Element;
use super::error::LaunchFileError;
use super::format::Text;

/// Memory budget for buffers.
pub(super) struct Room {
    left: u64,
}

/// Max count of numbers in a file.
#[derive(Clone, Copy)]
pub(super) struct Most {
    pub elements: u64,
    /// Source of the limit, for messages.
    pub why: &'static str,
}

impl Room {
    /// Creates a budget of `most` bytes.
    pub(super) fn new(most: u64) -> Self {
        Room { left: most }
    }

    /// Subtracts the bytes of `count` elements for the buffer `name`, stated at `at` in the launch file.
    ///
    /// # Errors
    /// [`LaunchFileError`] if `count` is 0, or if the budget is too small.
    pub(super) fn take(
        &mut self,
        text: &Text,
        at: usize,
        name: &str,
        count: u64,
        element: Element,
    ) -> Result<(), LaunchFileError> {
        if count == 0 {
            return Err(text.bad(at, format!("buffer `{name}` has 0 elements: must be 1 or more")));
        }
        let bytes = count.checked_mul(element.bytes() as u64);
        self.left = bytes.and_then(|bytes| self.left.checked_sub(bytes)).ok_or_else(|| {
            let size = bytes.map_or(format!("{count} elements"), |bytes| format!("{bytes} bytes"));
            let message = format!(
                "buffer `{name}` has {size}: must be at most {}, which the buffers before it leave of --max-memory",
                self.left
            );
            text.bad(at, message)
        })?;
        Ok(())
    }

    /// Limits a file to `count` numbers, if stated, and to the remaining budget.
    pub(super) fn most(&self, count: Option<u64>, element: Element) -> Most {
        let left = Most { elements: self.left / element.bytes() as u64, why: "what is left of --max-memory" };
        count.map(Most::of).filter(|most| most.elements <= left.elements).unwrap_or(left)
    }
}

impl Most {
    /// Limits a file to the number of values in a buffer.
    pub(super) fn of(count: u64) -> Self {
        Most { elements: count, why: "the buffer's count" }
    }

    /// Returns the message for a file that exceeds the limit.
    pub(super) fn exceeded(self) -> String {
        let Most { elements, why } = self;
        format!("more than {elements} numbers: must be at most {elements}, {why}")
    }
}
