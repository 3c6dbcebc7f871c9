//! Copies to shared memory that a warp of a trace has in flight (`LDGSTS`), their groups, and waits for groups.
//!
//! A copy writes no register. Here it writes a hidden register until it ends. A wait reads the hidden registers of its copies.

/// Number of the first hidden register in the scoreboard. A trace names registers with lower numbers only.
const FIRST: u16 = 336;
/// Number of hidden registers. An instruction can read all of them.
const COUNT: usize = 12;

/// The role of an instruction for the copies of its warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CopyRole {
    None,
    /// Starts a copy.
    Start,
    /// Ends a group (`LDGDEPBAR`).
    End,
    /// Waits until at most so many groups are in flight (`DEPBAR`).
    Await(u64),
}

impl CopyRole {
    /// Returns the role of an instruction by the root of its opcode, its active lanes and its immediate number.
    pub fn of(root: &str, mask: u32, immediate: &str) -> Self {
        match root {
            // The guard disabled the instruction in every lane.
            _ if mask == 0 => CopyRole::None,
            "LDGSTS" => CopyRole::Start,
            "LDGDEPBAR" => CopyRole::End,
            "DEPBAR" => CopyRole::Await(immediate.parse().unwrap_or(0)),
            _ => CopyRole::None,
        }
    }
}

/// The copies of a warp.
#[derive(Debug, Default)]
pub(super) struct WarpCopies {
    started: usize,
    /// Number of the current group.
    group: u64,
    /// Groups of the copies in the hidden registers that no wait has awaited.
    groups: [Option<u64>; COUNT],
}

impl WarpCopies {
    /// Returns the hidden register of the next copy. It waits for an earlier copy with the same register.
    pub fn start(&mut self) -> u16 {
        let place = self.started % COUNT;
        self.started += 1;
        self.groups[place] = Some(self.group);
        FIRST + place as u16
    }

    /// Ends the current group.
    pub fn end_group(&mut self) {
        self.group += 1;
    }

    /// Returns the hidden registers of the copies in ended groups, except the last `left` groups.
    pub fn awaited(&mut self, left: u64) -> Vec<u16> {
        let ended = self.group.saturating_sub(left);
        let mut awaited = Vec::new();
        for (place, group) in (FIRST..).zip(&mut self.groups) {
            if group.is_some_and(|group| group < ended) {
                *group = None;
                awaited.push(place);
            }
        }
        awaited
    }
}
