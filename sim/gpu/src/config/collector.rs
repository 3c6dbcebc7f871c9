//! Operand collection: register banks and the units that gather an instruction's operands from them.
use super::check::Checker;
use crate::pipe_kind::EXECUTING;
use documented::DocumentedFields;
use serde::{Deserialize, Serialize};

/// Names of the sets in a file, in order of their kinds of pipe.
const KINDS: [&str; EXECUTING] = ["alu", "fp64", "sfu", "memory", "tensor", "int"];

/// Keys of the numbers of pipes, in order of their kinds. The load/store unit is one.
const PIPES: [Option<&str>; EXECUTING] = [
    Some("sm.alu.pipes"),
    Some("sm.fp64.pipes"),
    Some("sm.sfu.pipes"),
    None,
    Some("sm.tensor.pipes"),
    Some("sm.alu.int_pipes"),
];

/// Collector units of one kind of pipe.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields)]
pub struct CollectorSet {
    /// Number of units, each for the operands of one instruction. 0: the kind uses the shared units.
    pub units: u32,
    /// Instructions that may enter the units per step, and that may leave them per step.
    pub ports: u32,
    /// Registers in front of the units, one instruction each, and the same number between the units and the pipes.
    pub registers: u32,
}

/// Operand collection of an SM, as in GPGPU-Sim. An issued instruction waits in a register until it gets a unit. Each bank
/// reads one operand per step, unless a result is written to it. With all operands, the instruction moves to a register in
/// front of its pipe.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields)]
pub struct CollectorConfig {
    /// Number of register banks. Register r of warp w is in bank (r + w) mod `banks`; with `sub_cores`, in one of its
    /// scheduler's banks. 0: no operand collection; instructions have their operands when they issue.
    pub banks: u32,
    /// Steps per core cycle. In each step, a bank reads one operand.
    pub steps: u32,
    /// Gives each scheduler its own share of the banks, units, registers and pipes.
    pub sub_cores: bool,
    /// Units shared by all kinds of pipe without units; `registers` has no effect here.
    pub shared: CollectorSet,
    /// Units of single-precision instructions, and of integer instructions without integer pipes.
    pub alu: CollectorSet,
    /// Units of double-precision instructions.
    pub fp64: CollectorSet,
    /// Units of special-function instructions.
    pub sfu: CollectorSet,
    /// Units of memory instructions.
    pub memory: CollectorSet,
    /// Units of matrix products. Ignored without tensor cores.
    pub tensor: CollectorSet,
    /// Units of integer instructions. Ignored without integer pipes.
    pub int: CollectorSet,
}

impl CollectorConfig {
    /// Returns whether the SM has operand collection.
    pub fn is_there(&self) -> bool {
        self.banks > 0
    }

    /// Returns the sets of collector units, in order of their kinds of pipe.
    pub fn sets(&self) -> [&CollectorSet; EXECUTING] {
        [&self.alu, &self.fp64, &self.sfu, &self.memory, &self.tensor, &self.int]
    }

    /// Returns the names and sets of the kinds with pipes.
    fn used_sets(&self, pipes: [u32; EXECUTING]) -> impl Iterator<Item = (&'static str, &CollectorSet)> {
        let sets = KINDS.into_iter().zip(self.sets()).zip(pipes);
        sets.filter(|(_, pipes)| *pipes > 0).map(|(set, _)| set)
    }

    /// Checks operand collection. `pipes` are the numbers of pipes, in order of their kinds.
    pub(super) fn check(&self, schedulers: u32, pipes: [u32; EXECUTING], check: &mut Checker<'_>) {
        if !self.is_there() {
            return;
        }
        check.range("sm.collector.banks", self.banks, 1, 64);
        check.range("sm.collector.steps", self.steps, 1, 8);
        let shared = &self.shared;
        check.range("sm.collector.shared.units", shared.units, 0, 32);
        check.range("sm.collector.shared.ports", shared.ports, u32::from(shared.units > 0), 64);
        for (kind, set) in self.used_sets(pipes) {
            let key = |key: &str| format!("sm.collector.{kind}.{key}");
            check.range(&key("units"), set.units, u32::from(shared.units == 0), 32);
            check.range(&key("ports"), set.ports, u32::from(set.units > 0), 64);
            check.range(&key("registers"), set.registers, 1, 64);
        }
        if self.sub_cores {
            self.check_shares(schedulers, pipes, check);
        }
    }

    /// Checks that sub-cores divide everything except the load/store unit into equal shares per scheduler.
    fn check_shares(&self, schedulers: u32, pipes: [u32; EXECUTING], check: &mut Checker<'_>) {
        let must = format!("must be a multiple of sm.schedulers = {schedulers} with sub-cores");
        let mut divide = |key: String, value: u32| {
            if !value.is_multiple_of(schedulers.max(1)) {
                check.fail(&key, value, must.clone());
            }
        };
        divide("sm.collector.banks".into(), self.banks);
        divide("sm.collector.shared.units".into(), self.shared.units);
        for (kind, set) in self.used_sets(pipes) {
            divide(format!("sm.collector.{kind}.units"), set.units);
            divide(format!("sm.collector.{kind}.registers"), set.registers);
        }
        for (key, count) in PIPES.into_iter().zip(pipes) {
            if let Some(key) = key {
                divide(key.into(), count);
            }
        }
    }
}
