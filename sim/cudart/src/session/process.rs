//! Handles the processes of a program: their group, their ends, and the terminal that they share with the command.
use nix::sys::signal::{SigSet, Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::{Pid, getpgrp, tcgetpgrp, tcsetpgrp};
use std::fs;
use std::io::{self, IsTerminal};

/// Max distance between a process and its ancestor, in generations.
const MOST_PARENTS: usize = 64;

/// Returns the process id in the form for system calls.
fn pid(id: u32) -> Pid {
    Pid::from_raw(i32::try_from(id).unwrap_or(i32::MAX))
}

/// Kills the process group of a leader.
pub fn kill_group(leader: u32) {
    // The group may have ended already.
    let _ = killpg(pid(leader), Signal::SIGKILL);
}

/// Sends SIGINT to the process group of a leader, like Ctrl-C.
pub fn interrupt_group(leader: u32) {
    let _ = killpg(pid(leader), Signal::SIGINT);
}

/// Returns the state and the parent of a process; `None` if it does not exist.
fn state(id: u32) -> Option<(char, u32)> {
    let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name before it may contain any character.
    let mut words = text.rsplit_once(')')?.1.split_ascii_whitespace();
    Some((words.next()?.chars().next()?, words.next()?.parse().ok()?))
}

/// Returns whether a process is `ancestor` or one of its descendants.
pub fn is_of(id: u32, ancestor: u32) -> bool {
    let mut current = id;
    for _ in 0..MOST_PARENTS {
        let Some((_, parent)) = state(current) else { return false };
        if current == ancestor {
            return true;
        }
        current = parent;
    }
    false
}

/// Returns whether a process has ended with all its threads, including a process that has not been waited for.
pub fn has_ended(id: u32) -> bool {
    let is_dead = state(id).is_none_or(|(state, _)| matches!(state, 'Z' | 'X'));
    // The main thread may end before the others.
    is_dead && fs::read_dir(format!("/proc/{id}/task")).map_or(0, Iterator::count) <= 1
}

/// The terminal of the command. The program gets it when it reads from it.
pub struct Terminal {
    leader: Pid,
    is_given: bool,
}

impl Terminal {
    /// Creates the terminal for a program with this process group.
    pub fn new(leader: u32) -> Self {
        Terminal { leader: pid(leader), is_given: false }
    }

    /// Gives the terminal to the program, and continues it, if it was stopped because it needs the terminal.
    pub fn look(&mut self) {
        let input = io::stdin();
        let is_mine = || input.is_terminal() && tcgetpgrp(&input) == Ok(getpgrp());
        if self.is_given || !is_mine() {
            return;
        }
        let stopped = waitid(Id::Pid(self.leader), WaitPidFlag::WSTOPPED | WaitPidFlag::WNOHANG);
        if let Ok(WaitStatus::Stopped(_, Signal::SIGTTIN | Signal::SIGTTOU)) = stopped {
            self.is_given = tcsetpgrp(&input, self.leader).is_ok();
            let _ = killpg(self.leader, Signal::SIGCONT);
        }
    }

    /// Returns whether the program has the terminal. Ctrl-C then reaches only the program.
    pub fn is_given(&self) -> bool {
        self.is_given
    }

    /// Takes the terminal back from the program.
    pub fn take(&mut self) {
        if !std::mem::take(&mut self.is_given) {
            return;
        }
        // A process in the background is stopped for taking the terminal, unless it blocks SIGTTOU.
        let mut blocked = SigSet::empty();
        blocked.add(Signal::SIGTTOU);
        if blocked.thread_block().is_ok() {
            let _ = tcsetpgrp(io::stdin(), getpgrp());
            let _ = blocked.thread_unblock();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::process::Command;
    use std::time::{Duration, Instant};

    #[test]
    fn a_group_ends_with_all_that_its_leader_has_started() {
        let mut leader = Command::new("sh")
            .args(["-c", "sleep 600 & echo $!; wait"])
            .process_group(0)
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("a shell starts");
        let mut line = String::new();
        let mut out = io::BufReader::new(leader.stdout.take().expect("a pipe"));
        io::BufRead::read_line(&mut out, &mut line).expect("the shell prints");
        let below: u32 = line.trim().parse().expect("a number");
        assert!(is_of(below, leader.id()) && is_of(leader.id(), leader.id()));
        assert!(!is_of(leader.id(), below) && !is_of(std::process::id(), leader.id()));
        assert!(!has_ended(below) && !has_ended(leader.id()));
        kill_group(leader.id());
        let end = Instant::now() + Duration::from_secs(10);
        // The leader remains as a zombie until it is waited for.
        while !(has_ended(below) && has_ended(leader.id())) {
            assert!(Instant::now() < end, "the group goes on");
            std::thread::sleep(Duration::from_millis(5));
        }
        leader.wait().expect("it has ended");
        assert!(has_ended(leader.id()));
    }
}
