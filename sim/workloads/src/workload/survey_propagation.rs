//! `survey_propagation`: satisfiability by surveys, as LonestarGPU's sp. A phase sweeps over a formula until the
//! messages settle, and then fixes the most biased variables.
use super::check::Results;
use super::helpers::{int, launch_row, mebibytes, place_f32s, place_words};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const SEED: u64 = 0x59a7;
const THREADS_PER_BLOCK: u32 = 128;
/// Literals per clause.
const LITERALS: usize = 3;
/// Max change of a message after which it counts as settled.
const SETTLED: f32 = 0.01;
/// The kernels fuse no operations, so the reference rounds in the same way.
const TOLERANCE: f32 = 1e-5;

pub(super) const SURVEY_PROPAGATION: Planned = Planned {
    name: "survey_propagation",
    summary: "survey propagation on random clauses of three literals, with decimation",
    papers: "LAMAR (SP), CABA (sp)",
    group: Group::Graphs,
    ptx: ("survey_propagation.ptx", include_str!("../../kernels/survey_propagation.ptx")),
    description: |size| {
        let SurveySize { variables, phases, .. } = shape(size);
        let clauses = clauses(variables);
        // Five words per variable; four words per literal; one per clause.
        let bytes = 4 * (5 * variables + (4 * LITERALS + 1) * clauses);
        format!("{variables} variables, {clauses} clauses, {phases} phases, {}", mebibytes(bytes))
    },
    plan,
};

/// Size of a run.
#[derive(Clone, Copy)]
struct SurveySize {
    variables: usize,
    /// Number of phases. Each phase fixes variables at its end.
    phases: usize,
    /// Max sweeps per phase.
    sweeps: usize,
}

/// Returns the shape of a size. `paper` has the 42,000 clauses of LonestarGPU's input.
fn shape(size: Size) -> SurveySize {
    match size {
        Size::Tiny => SurveySize { variables: 150, phases: 2, sweeps: 6 },
        Size::Small => SurveySize { variables: 800, phases: 3, sweeps: 10 },
        Size::Study => SurveySize { variables: 10_000, phases: 1, sweeps: 2 },
        Size::Paper => SurveySize { variables: 10_000, phases: 10, sweeps: 100 },
    }
}

/// Returns the number of clauses: 4.2 per variable, near the hardest ratio that surveys still solve.
fn clauses(variables: usize) -> usize {
    variables * 42 / 10
}

/// A random formula and its messages.
struct RandomFormula {
    /// Variable of each literal.
    variable: Vec<u32>,
    /// 1 for each negated literal.
    negated: Vec<u32>,
    /// First position in `literal` of each variable, and the end of the last variable's literals.
    first: Vec<u32>,
    /// Literals, grouped by variable.
    literal: Vec<u32>,
    /// For each literal, the probability that its clause warns it.
    survey: Vec<f32>,
}

impl RandomFormula {
    fn new(variables: usize) -> Self {
        let mut random = Random::new(SEED);
        let (mut variable, mut negated, mut survey) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..clauses(variables) {
            let mut clause: Vec<u32> = Vec::new();
            while clause.len() < LITERALS {
                let drawn = random.below(variables as u32);
                if !clause.contains(&drawn) {
                    clause.push(drawn);
                    negated.push(random.below(2));
                    survey.push(0.9 * random.unit());
                }
            }
            variable.extend(clause);
        }
        let mut of_variable = vec![Vec::new(); variables];
        (0..).zip(&variable).for_each(|(literal, variable)| of_variable[*variable as usize].push(literal));
        let ends = of_variable.iter().scan(0, |end, literals| {
            *end += literals.len() as u32;
            Some(*end)
        });
        let first = std::iter::once(0).chain(ends).collect();
        RandomFormula { variable, negated, first, literal: of_variable.concat(), survey }
    }
}

/// Returns the bias that the most biased fiftieth of the variables reach. If no variable is biased, it exceeds any
/// bias.
fn threshold(bias: &[f32]) -> f32 {
    let mut strengths: Vec<f32> = bias.iter().map(|bias| bias.abs()).filter(|bias| *bias > 0.0).collect();
    strengths.sort_by(|one, other| other.total_cmp(one));
    strengths.get((bias.len() / 50).min(strengths.len().saturating_sub(1))).copied().unwrap_or(2.0)
}

#[derive(Clone, Copy)]
enum SurveyStep {
    Variables,
    Clauses,
    Settled,
    Fix,
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let shape = shape(size);
    let SurveySize { variables, phases, sweeps } = shape;
    let clauses = clauses(variables);
    let formula = RandomFormula::new(variables);
    let variable = place_words(memory, "variable", &formula.variable)?;
    let negated = place_words(memory, "negated", &formula.negated)?;
    let first = place_words(memory, "first", &formula.first)?;
    let literal = place_words(memory, "literal", &formula.literal)?;
    let survey = place_f32s(memory, "survey", &formula.survey)?;
    let plain = memory.alloc(4 * variables as u64, "plain free")?;
    let opposite = memory.alloc(4 * variables as u64, "negated free")?;
    let bias = memory.alloc(4 * variables as u64, "bias")?;
    let value = place_words(memory, "value", &vec![0; variables])?;
    let satisfied = place_words(memory, "satisfied", &vec![0; clauses])?;
    let change = place_words(memory, "change", &[0])?;
    let launch = |kernel, threads, pointers: &[u64], tail: &[Arg]| {
        let pointers = pointers.iter().map(|pointer| Arg::Ptr(*pointer));
        let args = pointers.chain(tail.iter().cloned()).chain([int(threads)]).collect();
        launch_row(kernel, threads, THREADS_PER_BLOCK, args)
    };
    let (mut step, mut sweep, mut phase) = (SurveyStep::Variables, 0, 0);
    let launches = move |memory: &mut DeviceMemory| {
        if phase == phases {
            return Ok(None);
        }
        let gather = [first, literal, negated, satisfied, survey, plain, opposite];
        Ok(Some(match step {
            SurveyStep::Variables
                if sweep == 0 || sweep < sweeps && memory.read_f32s(change, 1)?[0] > SETTLED =>
            {
                step = SurveyStep::Clauses;
                launch("survey_variables", variables, &gather, &[])
            }
            SurveyStep::Variables => {
                step = SurveyStep::Settled;
                launch("survey_variables", variables, &gather, &[])
            }
            SurveyStep::Clauses => {
                memory.write_u32s(change, &[0])?;
                (step, sweep) = (SurveyStep::Variables, sweep + 1);
                let pointers = [variable, negated, satisfied, value, plain, opposite, survey, change];
                launch("survey_clauses", clauses, &pointers, &[])
            }
            SurveyStep::Settled => {
                step = SurveyStep::Fix;
                launch("survey_bias", variables, &[value, plain, opposite, bias], &[])
            }
            SurveyStep::Fix => {
                (step, sweep, phase) = (SurveyStep::Variables, 0, phase + 1);
                let threshold = Arg::F32(threshold(&memory.read_f32s(bias, variables)?));
                let pointers = [first, literal, negated, bias, value, satisfied];
                launch("survey_fix", variables, &pointers, &[threshold])
            }
        }))
    };
    Ok(Plan::following(launches, move |memory| {
        let expected = Solver::solve(shape);
        let name = "survey_propagation";
        let got = memory.read_f32s(survey, LITERALS * clauses)?;
        Results { workload: name, buffer: "survey", got: &got }.close(expected.formula.survey, TOLERANCE)?;
        let got = memory.read_u32s(value, variables)?;
        Results { workload: name, buffer: "value", got: &got }.equal(expected.value)
    }))
}

/// Solves the formula on the CPU by the same method.
struct Solver {
    formula: RandomFormula,
    value: Vec<u32>,
    satisfied: Vec<bool>,
}

impl Solver {
    fn solve(shape: SurveySize) -> Self {
        let formula = RandomFormula::new(shape.variables);
        let satisfied = vec![false; clauses(shape.variables)];
        let mut solver = Solver { formula, value: vec![0; shape.variables], satisfied };
        for _ in 0..shape.phases {
            for _ in 0..shape.sweeps {
                if solver.sweep() <= SETTLED {
                    break;
                }
            }
            solver.fix();
        }
        solver
    }

    /// Returns, for each variable, the probabilities that no clause warns it through its plain and through its
    /// negated literals.
    fn free(&self) -> Vec<[f32; 2]> {
        let mut free = vec![[1.0; 2]; self.value.len()];
        for (literal, survey) in self.formula.survey.iter().enumerate() {
            if !self.satisfied[literal / LITERALS] {
                let variable = self.formula.variable[literal] as usize;
                free[variable][self.formula.negated[literal] as usize] *= 1.0 - survey;
            }
        }
        free
    }

    /// Updates every message. Returns the largest change.
    fn sweep(&mut self) -> f32 {
        let free = self.free();
        let mut change = 0.0_f32;
        for clause in (0..self.satisfied.len()).filter(|clause| !self.satisfied[*clause]) {
            let literals = [0, 1, 2].map(|place| LITERALS * clause + place);
            let is_fixed = literals.map(|literal| self.value[self.formula.variable[literal] as usize] != 0);
            let forced = [0, 1, 2].map(|place| {
                let literal = literals[place];
                let sign = self.formula.negated[literal] as usize;
                let free = free[self.formula.variable[literal] as usize];
                let same = free[sign] / (1.0 - self.formula.survey[literal]);
                let other = free[1 - sign];
                let against = (1.0 - other) * same;
                let sum = against + (1.0 - same) * other + same * other;
                match (is_fixed[place], sum > 0.0) {
                    (true, _) => 1.0,
                    (false, true) => against / sum,
                    (false, false) => 0.0,
                }
            });
            for place in (0..LITERALS).filter(|place| !is_fixed[*place]) {
                let warning = (forced[(place + 1) % 3] * forced[(place + 2) % 3]).min(0.999);
                let survey = &mut self.formula.survey[literals[place]];
                change = change.max((warning - *survey).abs());
                *survey = warning;
            }
        }
        change
    }

    /// Fixes the most biased variables.
    fn fix(&mut self) {
        let bias = |(variable, [plain, opposite]): (usize, [f32; 2])| {
            let (to_true, to_false) = ((1.0 - plain) * opposite, (1.0 - opposite) * plain);
            let sum = to_true + to_false + plain * opposite;
            if self.value[variable] == 0 && sum > 0.0 { (to_true - to_false) / sum } else { 0.0 }
        };
        let bias: Vec<f32> = self.free().into_iter().enumerate().map(bias).collect();
        let threshold = threshold(&bias);
        for (value, bias) in self.value.iter_mut().zip(&bias) {
            if *value == 0 && bias.abs() >= threshold {
                *value = if *bias > 0.0 { 1 } else { 2 };
            }
        }
        let literals = self.formula.variable.iter().zip(&self.formula.negated).enumerate();
        for (literal, (variable, negated)) in literals {
            if self.value[*variable as usize] == 1 + negated {
                self.satisfied[literal / LITERALS] = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_variables_satisfy_clauses_and_contradict_none() {
        let shape = shape(Size::Tiny);
        let Solver { formula, value, satisfied } = Solver::solve(shape);
        assert!(value.iter().filter(|value| **value != 0).count() >= shape.phases * shape.variables / 50);
        assert!(satisfied.iter().filter(|satisfied| **satisfied).count() > 0);
        let is_false =
            |literal: usize| value[formula.variable[literal] as usize] == 2 - formula.negated[literal];
        let contradicted =
            (0..satisfied.len()).filter(|clause| (0..3).all(|place| is_false(3 * clause + place)));
        assert_eq!(contradicted.count(), 0);
    }
}
