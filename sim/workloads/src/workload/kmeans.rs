//! `kmeans`: k-means clustering of network connections, as Rodinia's kmeans; `kmeans_swap`: its first kernel alone.
//!
//! The first launch transposes the features from point by point to feature by feature; each lane reads a separate
//! line. Then every round has one launch, which assigns the points to the nearest centres. The host moves the centres
//! to the means.
use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;

use super::check::Results;
use super::helpers::{int, launch_row, mebibytes, place_f32s};
use super::input::{finite, read_text};
use super::plan::{Plan, PlanRun, Planned};
use super::random::Random;
use super::{Arg, Group, HostProgram, Launch, Size, Workload, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const NAME: &str = "kmeans";
const SWAP: &str = "kmeans_swap";
const THREADS_PER_BLOCK: u32 = 256;
const SEED: u64 = 0x3ea5;

/// Number of clusters, as Rodinia's default.
const CLUSTERS: usize = 5;

/// Features of a generated point, as in Rodinia's files.
const FEATURES: usize = 34;

/// The clusters have settled when at most one point in this many changed its cluster.
const POINTS_PER_ALLOWED_CHANGE: usize = 1000;

/// Max total number of features, within the range of the kernels' 32-bit indices.
const MOST_FEATURES: usize = i32::MAX as usize / 2;

const PTX: (&str, &str) = ("kmeans.ptx", include_str!("../../kernels/kmeans.ptx"));

pub(super) struct KMeans;

pub(super) const KMEANS_SWAP: Planned = Planned {
    name: SWAP,
    summary: "change of layout in k-means clustering, from points to features",
    papers: "Dai, chapter 4 (ks)",
    group: Group::Learning,
    ptx: PTX,
    description: |size| {
        let count = points(size);
        format!("{count} points of {FEATURES} features, {}", mebibytes(4 * 2 * count * FEATURES))
    },
    plan: |size, memory| {
        let points = Points::generated(points(size));
        let (by_feature, launch) = swap(&points, memory)?;
        Ok(Plan::of(vec![launch], move |memory| points.check_swapped(SWAP, memory, by_feature)))
    },
};

fn points(size: Size) -> usize {
    match size {
        Size::Tiny => 512,
        Size::Small => 8192,
        Size::Study => 46_080,
        Size::Paper => 494_020,
    }
}

/// Returns the max number of rounds, after which the host stops even if the clusters have not settled.
fn most_rounds(size: Size) -> usize {
    match size {
        Size::Tiny => 3,
        Size::Small => 4,
        Size::Study => 2,
        Size::Paper => 500,
    }
}

/// Points with the same number of features.
#[derive(Debug, PartialEq)]
struct Points {
    features: usize,
    /// Features of all points, point by point.
    values: Vec<f32>,
}

/// Distribution of one feature in one kind of connection.
#[derive(Clone, Copy)]
enum Feature {
    /// Nearly always this value.
    Constant(f32),
    /// A count from 0 to this value.
    Count(u32),
    /// A share from 0 to 1, in hundredths.
    Share,
}

impl Feature {
    /// Draws a distribution. Most features are flags and rare counts that are 0 (72% of all values in Rodinia's
    /// file). The others are small counts, counts that saturate at 255 or 511, repeated sizes, and shares.
    fn random(random: &mut Random) -> Self {
        const CONSTANTS: [f32; 5] = [1.0, 255.0, 511.0, 520.0, 1032.0];
        match random.below(16) {
            0..=10 => Self::Constant(0.0),
            11..=12 => Self::Constant(CONSTANTS[random.below(5) as usize]),
            13 => Self::Count(9),
            14 => Self::Count(255),
            _ => Self::Share,
        }
    }

    fn draw(self, random: &mut Random) -> f32 {
        match self {
            Self::Constant(value) if random.below(50) > 0 => value,
            Self::Constant(_) | Self::Share => random.below(101) as f32 / 100.0,
            Self::Count(most) => random.below(most + 1) as f32,
        }
    }
}

impl Points {
    /// Generates connections of a dozen kinds, each with its own distribution of features. There are more kinds than
    /// clusters, so that the clusters need some rounds to settle.
    fn generated(count: usize) -> Self {
        const KINDS: usize = 12;
        let mut random = Random::new(SEED);
        let kinds: Vec<[Feature; FEATURES]> =
            (0..KINDS).map(|_| std::array::from_fn(|_| Feature::random(&mut random))).collect();
        let mut values = Vec::with_capacity(count * FEATURES);
        for _ in 0..count {
            let kind = kinds[random.below(KINDS as u32) as usize];
            values.extend(kind.map(|feature| feature.draw(&mut random)));
        }
        Self { features: FEATURES, values }
    }

    fn count(&self) -> usize {
        self.values.len() / self.features
    }

    /// Reads Rodinia's uncompressed format: one point per line, first its id, then its features. A feature that is a
    /// name, such as `tcp`, counts as 0.
    fn read(file: &Path) -> Result<Self, WorkloadError> {
        let text = read_text(file, "points")?;
        let mut points = Self { features: 0, values: Vec::new() };
        for (at, line) in text.lines().enumerate() {
            points.read_line(file, at + 1, line)?;
        }
        if points.features == 0 || points.count() < CLUSTERS {
            let found = if points.features == 0 { 0 } else { points.count() };
            let allowed = format!("at least {CLUSTERS}, the number of clusters");
            let lines = text.lines().count().max(1);
            return Err(WorkloadError::bad_input(
                file,
                lines,
                "number of points",
                &found.to_string(),
                allowed,
            ));
        }
        Ok(points)
    }

    /// Adds the point in line `number`, unless the line is blank.
    fn read_line(&mut self, file: &Path, number: usize, line: &str) -> Result<(), WorkloadError> {
        let refuse = |what: String, value: &str, allowed: &str| {
            Err(WorkloadError::bad_input(file, number, what, value, allowed))
        };
        let mut words = line.split_ascii_whitespace();
        let Some(id) = words.next() else { return Ok(()) };
        if id.parse::<u64>().is_err() {
            return refuse("id of the point".to_owned(), id, "an integer from 0");
        }
        let before = self.values.len();
        for (feature, word) in words.enumerate() {
            match feature_value(word) {
                Some(value) => self.values.push(value),
                None => {
                    return refuse(
                        format!("feature {}", feature + 1),
                        word,
                        "a finite number or a name of letters",
                    );
                }
            }
        }
        let found = self.values.len() - before;
        if before == 0 && found > 0 {
            self.features = found;
        }
        if found != self.features || found == 0 {
            let allowed = if self.features == 0 { "1 or more".to_owned() } else { self.features.to_string() };
            return refuse("number of features".to_owned(), &found.to_string(), &allowed);
        }
        if self.values.len() > MOST_FEATURES {
            let allowed = format!("at most {MOST_FEATURES}");
            return refuse("number of features in all".to_owned(), &self.values.len().to_string(), &allowed);
        }
        Ok(())
    }

    /// Returns the initial centres: points at equal distances in the list.
    fn first_centres(&self) -> Vec<f32> {
        let apart = self.count() / CLUSTERS;
        let point = |cluster: usize| &self.values[cluster * apart * self.features..][..self.features];
        (0..CLUSTERS).flat_map(point).copied().collect()
    }

    /// Returns the features in the device's order: feature by feature.
    fn by_feature(&self) -> impl Iterator<Item = f32> {
        let feature = |at: usize| self.values.iter().skip(at).step_by(self.features).copied();
        (0..self.features).flat_map(feature)
    }

    /// Checks the features in the device's order.
    fn check_swapped(
        &self,
        workload: &'static str,
        memory: &DeviceMemory,
        by_feature: u64,
    ) -> Result<(), WorkloadError> {
        let got = memory.read_f32s(by_feature, self.values.len())?;
        Results { workload, buffer: "features by feature", got: &got }.equal(self.by_feature())
    }

    /// Returns the cluster of the nearest centre for each point. Distances are summed and fused as in the checked-in
    /// PTX, so that near ties have equal results.
    fn assign(&self, centres: &[f32]) -> Vec<i32> {
        let distance = |point: &[f32], centre: &[f32]| {
            point.iter().zip(centre).fold(0.0_f32, |sum, (p, c)| (p - c).mul_add(p - c, sum))
        };
        let nearest = |point: &[f32]| {
            let distances = centres.chunks_exact(self.features).map(|centre| distance(point, centre));
            let nearer =
                |best: (usize, f32), (cluster, d): (usize, f32)| if d < best.1 { (cluster, d) } else { best };
            distances.enumerate().fold((0, f32::MAX), nearer).0 as i32
        };
        self.values.chunks_exact(self.features).map(nearest).collect()
    }

    /// Moves each centre to the mean of its points. A centre without points stays.
    fn move_centres(&self, centres: &mut [f32], membership: &[i32]) {
        let mut sums = vec![0.0_f64; centres.len()];
        let mut members = [0_u32; CLUSTERS];
        for (point, &cluster) in self.values.chunks_exact(self.features).zip(membership) {
            let cluster = cluster as usize;
            members[cluster] += 1;
            for (sum, value) in sums[cluster * self.features..].iter_mut().zip(point) {
                *sum += f64::from(*value);
            }
        }
        for (at, (centre, sum)) in centres.iter_mut().zip(sums).enumerate() {
            let members = members[at / self.features];
            if members > 0 {
                *centre = (sum / f64::from(members)) as f32;
            }
        }
    }

    /// Returns whether the clusters have settled between two rounds.
    fn settled(&self, before: &[i32], after: &[i32]) -> bool {
        let changed = before.iter().zip(after).filter(|(before, after)| before != after).count();
        changed * POINTS_PER_ALLOWED_CHANGE <= self.count()
    }

    /// Returns the clusters after the last round, computed on the CPU, and the number of rounds.
    fn reference(&self, most_rounds: usize) -> (Vec<i32>, usize) {
        let mut centres = self.first_centres();
        let mut membership = vec![NO_CLUSTER; self.count()];
        for round in 1.. {
            let assigned = self.assign(&centres);
            if self.settled(&membership, &assigned) || round == most_rounds {
                return (assigned, round);
            }
            self.move_centres(&mut centres, &assigned);
            membership = assigned;
        }
        unreachable!("the rounds are bounded")
    }
}

/// Cluster of a point that is not yet assigned.
const NO_CLUSTER: i32 = -1;

/// Returns the value of a feature: a number, or 0 for a name such as `tcp`.
fn feature_value(word: &str) -> Option<f32> {
    let not_finite = ["inf", "infinity", "nan"].iter().any(|name| word.eq_ignore_ascii_case(name));
    let is_name = !not_finite && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    if is_name { Some(0.0) } else { finite(word) }
}

impl Workload for KMeans {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        "k-means clustering: a change of layout, then rounds of assignment with centres moved by the host"
    }

    fn papers(&self) -> &'static str {
        "LATTE-CC (KM, 494,020 objects), Dai, chapters 2 and 3 (KMS)"
    }

    fn group(&self) -> Group {
        Group::Learning
    }

    fn ptx(&self) -> (&'static str, &'static str) {
        PTX
    }

    fn description(&self, size: Size) -> String {
        let (count, rounds) = (points(size), most_rounds(size));
        let bytes = 4 * (2 * count * FEATURES + count + CLUSTERS * FEATURES);
        format!(
            "{count} points of {FEATURES} features, {CLUSTERS} clusters, at most {rounds} rounds, {}",
            mebibytes(bytes)
        )
    }

    fn input(&self) -> Option<&'static str> {
        Some("points of Rodinia")
    }

    fn start(&self, size: Size, input: Option<&Path>) -> Result<Box<dyn HostProgram>, WorkloadError> {
        let points = input.map_or_else(|| Ok(Points::generated(points(size))), Points::read)?;
        Ok(Box::new(PlanRun::new(NAME, move |memory| plan(points, most_rounds(size), memory))))
    }
}

fn plan(points: Points, most_rounds: usize, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let mut centres = points.first_centres();
    let mut membership = vec![NO_CLUSTER; points.count()];
    let (by_feature, swap) = swap(&points, memory)?;
    let centre_buffer = memory.alloc(4 * centres.len() as u64, "centres")?;
    let clusters = memory.alloc(4 * membership.len() as u64, "membership")?;
    memory.write_i32s(clusters, &membership)?;
    let points = Rc::new(points);
    // Round in progress, from 1.
    let round = Rc::new(Cell::new(0));
    let (checked, rounds) = (Rc::clone(&points), Rc::clone(&round));
    let mut first = Some(swap);
    let launches = move |memory: &mut DeviceMemory| {
        if let Some(swap) = first.take() {
            return Ok(Some(swap));
        }
        if round.get() > 0 {
            let assigned = assigned(memory, clusters, points.count())?;
            let settled = points.settled(&membership, &assigned);
            membership = assigned;
            if settled || round.get() == most_rounds {
                return Ok(None);
            }
            points.move_centres(&mut centres, &membership);
        }
        memory.write_f32s(centre_buffer, &centres)?;
        round.set(round.get() + 1);
        let pointers = [by_feature, centre_buffer, clusters];
        Ok(Some(launch(&points, "kmeans_assign", &pointers, Some(CLUSTERS))))
    };
    Ok(Plan::following(launches, move |memory| {
        checked.check_swapped(NAME, memory, by_feature)?;
        let (reference, expected) = checked.reference(most_rounds);
        let got = memory.read_i32s(clusters, checked.count())?;
        Results { workload: NAME, buffer: "membership", got: &got }.equal(reference)?;
        Results { workload: NAME, buffer: "rounds", got: &[rounds.get()] }.equal([expected])
    }))
}

/// Places the features of `points`. Returns the buffer of the features in the device's order, and the launch that
/// fills it.
fn swap(points: &Points, memory: &mut DeviceMemory) -> Result<(u64, Launch), WorkloadError> {
    let by_point = place_f32s(memory, "features by point", &points.values)?;
    let by_feature = memory.alloc(4 * points.values.len() as u64, "features by feature")?;
    Ok((by_feature, launch(points, "kmeans_swap", &[by_point, by_feature], None)))
}

fn launch(points: &Points, kernel: &str, pointers: &[u64], clusters: Option<usize>) -> Launch {
    let counts = [points.count(), points.features].into_iter().chain(clusters).map(int);
    let args = pointers.iter().map(|&address| Arg::Ptr(address)).chain(counts);
    launch_row(kernel, points.count(), THREADS_PER_BLOCK, args.collect())
}

/// Returns the clusters of the completed round.
fn assigned(memory: &DeviceMemory, buffer: u64, count: usize) -> Result<Vec<i32>, WorkloadError> {
    let assigned = memory.read_i32s(buffer, count)?;
    let clusters = 0..CLUSTERS as i32;
    let Some(index) = assigned.iter().position(|cluster| !clusters.contains(cluster)) else {
        return Ok(assigned);
    };
    Err(WorkloadError::Mismatch {
        workload: NAME,
        buffer: "membership",
        index,
        got: assigned[index].to_string(),
        expected: format!("a cluster from 0 to {}", CLUSTERS - 1),
        tolerance: "must be equal".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::testing::{refusal, with_file};

    #[test]
    fn rodinias_format_is_read_and_names_count_as_zero() {
        let text = "1 0 0.5\n2 tcp 511\n\n3 0 1\n3 0 1\n4 1e1 1\n";
        let points = with_file("points.txt", text, |file| Points::read(file).unwrap());
        assert_eq!(points.features, 2);
        assert_eq!(points.values, [0.0, 0.5, 0.0, 511.0, 0.0, 1.0, 0.0, 1.0, 10.0, 1.0]);
    }

    #[test]
    fn malformed_points_are_refused_in_one_line() {
        let cases = [
            ("", ":1: number of points = '0': must be at least 5, the number of clusters"),
            ("1 2\n1 2\n", ":2: number of points = '2': must be at least 5, the number of clusters"),
            ("1 2 3\n2 4\n", ":2: number of features = '1': must be 2"),
            ("1\n", ":1: number of features = '0': must be 1 or more"),
            ("1 2 3\n2 4 5,5\n", ":2: feature 2 = '5,5': must be a finite number or a name of letters"),
            ("1 nan\n", ":1: feature 1 = 'nan': must be a finite number or a name of letters"),
            ("x 1\n", ":1: id of the point = 'x': must be an integer from 0"),
        ];
        for (text, expected) in cases {
            assert_eq!(refusal("points.txt", text, Points::read), format!("points.txt{expected}"));
        }
    }

    #[test]
    fn compressed_files_are_refused_as_no_text() {
        let refused = with_file("points.txt.xz", "", |file| {
            std::fs::write(file, [0xfd, b'7', b'z', b'X', b'Z', 0]).unwrap();
            Points::read(file).unwrap_err().to_string()
        });
        assert!(refused.ends_with("cannot read points: not text (byte 0 is not UTF-8)"), "{refused}");
    }

    #[test]
    fn separate_groups_are_found() {
        let values: Vec<f32> =
            (0..20).map(|point| (100 * (point % 5)) as f32 + point as f32 / 10.0).collect();
        let (membership, rounds) = Points { features: 1, values }.reference(50);
        assert!(rounds < 50);
        for point in 0..20 {
            assert_eq!(membership[point], membership[point % 5], "points of one group share a cluster");
        }
    }

    #[test]
    fn generated_values_are_counts_and_hundredths() {
        let points = Points::generated(500);
        assert!(points.values.iter().all(|v| (0.0..=1032.0).contains(v)));
        assert!(
            points.values.iter().all(|v| v.fract() == 0.0 || (v * 100.0 - (v * 100.0).round()).abs() < 1e-4)
        );
        let zeros = points.values.iter().filter(|v| **v == 0.0).count();
        assert!((points.values.len() / 2..points.values.len()).contains(&zeros), "{zeros} zeros");
        assert_eq!(points, Points::generated(500));
    }
}
