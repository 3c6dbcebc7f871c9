//! What the buffers of a launch file may still take of the memory that a run may have.
use super::element::Element;
use super::error::LaunchFileError;
use super::format::Text;

/// Memory for buffers, of which each takes its share.
pub(super) struct Room {
    left: u64,
}

/// Most numbers that a file may hold.
#[derive(Clone, Copy)]
pub(super) struct Most {
    pub elements: u64,
    /// Why no more.
    pub why: &'static str,
}

impl Room {
    /// Makes room for `most` bytes.
    pub(super) fn new(most: u64) -> Self {
        Room { left: most }
    }

    /// Takes the bytes of `count` elements for the buffer `name`, which the launch file states at `at`.
    ///
    /// # Errors
    /// There are none, or more than there is room for.
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

    /// Limits a file to `count` numbers where that is stated, and to what there is room for.
    pub(super) fn most(&self, count: Option<u64>, element: Element) -> Most {
        let left = Most { elements: self.left / element.bytes() as u64, why: "what is left of --max-memory" };
        count.map(Most::of).filter(|most| most.elements <= left.elements).unwrap_or(left)
    }
}

impl Most {
    /// Limits a file to the values of a buffer.
    pub(super) fn of(count: u64) -> Self {
        Most { elements: count, why: "the buffer's count" }
    }

    /// Says that a file holds more.
    pub(super) fn exceeded(self) -> String {
        let Most { elements, why } = self;
        format!("more than {elements} numbers: must be at most {elements}, {why}")
    }
}
