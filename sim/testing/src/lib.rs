//! Fuzzing of parsers: random changes of real files, through the same entry points that the command uses.
//!
//! By default a test checks a few hundred inputs of a fixed seed. With `SELVEDGE_FUZZ_MINUTES=10` each test runs for ten
//! minutes (see `docs/testing.md`) and writes each input to the folder for temporary files before it checks the input. An
//! input that never ends, or that overflows the stack, can be read there.
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// Environment variable with the minutes that each fuzzing test runs.
const MINUTES: &str = "SELVEDGE_FUZZ_MINUTES";

/// Inputs between two checks of the elapsed time.
const BATCH: u32 = 256;

/// Words at the limits of what parsers accept.
const WORDS: [&str; 22] = [
    "0",
    "-1",
    "1",
    "255",
    "65536",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "99999999999999999999999999",
    "0x",
    "0xffffffffffffffff",
    "-9223372036854775808",
    "1e999",
    "nan",
    "-inf",
    "\"",
    "",
    "\u{fffd}",
    "\0",
];

/// Brackets and operators; repetitions of them make a recursive parser recurse deeply.
const DEEP: [&str; 8] = ["(", "[", "{", "-", "!", "[[", "a.", "{a="];

/// A change of a file.
#[derive(Clone, Debug)]
enum Mutation {
    Flip {
        at: Index,
        bit: u8,
    },
    Set {
        at: Index,
        byte: u8,
    },
    DeleteBytes {
        at: Index,
        count: u8,
    },
    DuplicateBytes {
        at: Index,
        count: u8,
    },
    DeleteLine(Index),
    DuplicateLine {
        line: Index,
        times: u8,
    },
    SwapLines(Index, Index),
    SwapWords(Index, Index),
    /// Replaces a word by another word of the file or by one of [`WORDS`].
    Replace {
        word: Index,
        by: Index,
    },
    Truncate(Index),
    Deepen {
        at: Index,
        by: Index,
        times: u16,
    },
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let index = any::<Index>;
    prop_oneof![
        2 => (index(), 0..8u8).prop_map(|(at, bit)| Mutation::Flip { at, bit }),
        1 => (index(), any::<u8>()).prop_map(|(at, byte)| Mutation::Set { at, byte }),
        1 => (index(), any::<u8>()).prop_map(|(at, count)| Mutation::DeleteBytes { at, count }),
        1 => (index(), any::<u8>()).prop_map(|(at, count)| Mutation::DuplicateBytes { at, count }),
        2 => index().prop_map(Mutation::DeleteLine),
        2 => (index(), 1..9u8).prop_map(|(line, times)| Mutation::DuplicateLine { line, times }),
        1 => (index(), index()).prop_map(|(a, b)| Mutation::SwapLines(a, b)),
        3 => (index(), index()).prop_map(|(a, b)| Mutation::SwapWords(a, b)),
        6 => (index(), index()).prop_map(|(word, by)| Mutation::Replace { word, by }),
        1 => index().prop_map(Mutation::Truncate),
        1 => (index(), index(), any::<u16>()).prop_map(|(at, by, times)| Mutation::Deepen { at, by, times }),
    ]
}

/// Returns the ranges of the words of `text`: runs of letters, digits, `_`, `.`, `%` and `-`.
fn words(text: &[u8]) -> Vec<(usize, usize)> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.%-".contains(byte);
    let mut out = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let length = text[at..].iter().take_while(|byte| is_word(byte)).count();
        if length > 0 {
            out.push((at, at + length));
        }
        at += length + 1;
    }
    out
}

fn replace_word(text: &mut Vec<u8>, word: Index, by: Index) {
    let places = words(text);
    if places.is_empty() {
        return;
    }
    let (start, end) = places[word.index(places.len())];
    // About half of the replacements are words of the file.
    let choice = by.index(2 * WORDS.len());
    let new = match WORDS.get(choice) {
        Some(hard) => hard.as_bytes().to_vec(),
        None => {
            let (from, to) = places[by.index(places.len())];
            text[from..to].to_vec()
        }
    };
    text.splice(start..end, new);
}

fn swap_words(text: &mut Vec<u8>, first: Index, second: Index) {
    let places = words(text);
    if places.is_empty() {
        return;
    }
    let (a, b) = (places[first.index(places.len())], places[second.index(places.len())]);
    let ((a, a_end), (b, b_end)) = (a.min(b), a.max(b));
    if a == b {
        return;
    }
    let (left, between, right) = (text[a..a_end].to_vec(), text[a_end..b].to_vec(), text[b..b_end].to_vec());
    text.splice(a..b_end, [right, between, left].concat());
}

fn mutate_lines(text: &mut Vec<u8>, mutation: &Mutation) {
    let mut lines: Vec<Vec<u8>> = text.split_inclusive(|byte| *byte == b'\n').map(Vec::from).collect();
    let count = lines.len();
    match mutation {
        Mutation::DeleteLine(line) => drop(lines.remove(line.index(count))),
        Mutation::DuplicateLine { line, times } => {
            let line = line.index(count);
            let copy = lines[line].repeat(usize::from(*times));
            lines.insert(line, copy);
        }
        Mutation::SwapLines(a, b) => lines.swap(a.index(count), b.index(count)),
        _ => {}
    }
    *text = lines.concat();
}

fn mutate(text: &mut Vec<u8>, mutation: &Mutation) {
    if text.is_empty() {
        return;
    }
    let length = text.len();
    let span = |at: &Index, count: u8| {
        let at = at.index(length);
        at..(at + usize::from(count)).min(length)
    };
    match mutation {
        Mutation::Flip { at, bit } => text[at.index(length)] ^= 1 << bit,
        Mutation::Set { at, byte } => text[at.index(length)] = *byte,
        Mutation::DeleteBytes { at, count } => drop(text.drain(span(at, *count))),
        Mutation::DuplicateBytes { at, count } => {
            let copy = text[span(at, *count)].to_vec();
            let at = at.index(length);
            text.splice(at..at, copy);
        }
        Mutation::SwapWords(a, b) => swap_words(text, *a, *b),
        Mutation::Replace { word, by } => replace_word(text, *word, *by),
        Mutation::Truncate(at) => text.truncate(at.index(length)),
        Mutation::Deepen { at, by, times } => {
            let at = at.index(length);
            let sign = DEEP[by.index(DEEP.len())].repeat(usize::from(*times));
            text.splice(at..at, sign.into_bytes());
        }
        lines => mutate_lines(text, lines),
    }
}

/// The index of a file, and its changes.
type MutatedFile = (Index, Vec<Mutation>);

fn apply(files: &[Vec<u8>], (which, mutations): &MutatedFile) -> Vec<u8> {
    let mut text = files[which.index(files.len())].clone();
    mutations.iter().for_each(|mutation| mutate(&mut text, mutation));
    text
}

/// Calls `check` on changed `files`: `cases` times, or for the minutes that the environment sets. Messages contain `name`.
///
/// # Panics
/// If `check` fails. The message has the smallest failing input that was found.
pub fn fuzz(name: &str, files: &[Vec<u8>], cases: u32, check: impl Fn(&[u8]) -> Result<(), TestCaseError>) {
    let minutes: Option<f64> = std::env::var(MINUTES).ok().and_then(|text| text.parse().ok());
    let time = minutes.map(|minutes| Duration::from_secs_f64(60.0 * minutes));
    let under_test = std::env::temp_dir().join(format!("selvedge-fuzz-{name}"));
    let start = Instant::now();
    let (slowest, count) = (Cell::new(Duration::ZERO), Cell::new(0u64));
    for seed in 0u64.. {
        let mut state = [0; 32];
        state[..8].copy_from_slice(&seed.to_le_bytes());
        let config = Config {
            cases: if time.is_some() { BATCH } else { cases },
            failure_persistence: None,
            ..Config::default()
        };
        let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &state));
        let strategy = (any::<Index>(), prop::collection::vec(mutation(), 1..5));
        let outcome = runner.run(&strategy, |case| {
            let text = apply(files, &case);
            if time.is_some() {
                std::fs::write(&under_test, &text).expect("the folder for temporary files can be written");
            }
            let begin = Instant::now();
            let result = check(&text);
            slowest.set(slowest.get().max(begin.elapsed()));
            count.set(count.get() + 1);
            result
        });
        if let Err(TestError::Fail(why, case)) = &outcome {
            let text = apply(files, case);
            panic!("{name}, seed {seed}: {why}\n{case:?}\n{}", String::from_utf8_lossy(&text));
        }
        assert!(outcome.is_ok(), "{name}: {outcome:?}");
        if time.is_none_or(|time| start.elapsed() >= time) {
            break;
        }
    }
    if time.is_some() {
        drop(std::fs::remove_file(&under_test));
        eprintln!("{name}: {} inputs, the slowest took {:?}", count.get(), slowest.get());
    }
}

/// Checks that `message` is one line that contains `file` and a colon, and then a line number if `lines` is set.
///
/// # Errors
/// The first check that fails.
pub fn one_line(message: &str, file: &str, lines: bool) -> Result<(), TestCaseError> {
    prop_assert_eq!(message.lines().count(), 1, "{}", message);
    let place = message.split_once(&format!("{file}:")).map(|(_, rest)| rest);
    prop_assert!(place.is_some(), "`{}` names no {}", message, file);
    let number = place.and_then(|rest| rest.split(':').next()).and_then(|number| number.parse::<u32>().ok());
    prop_assert!(!lines || number.is_some_and(|number| number > 0), "`{}` names no line", message);
    Ok(())
}

#[test]
fn every_mutation_of_an_empty_or_short_file_is_harmless() {
    fuzz("short-files", &[Vec::new(), b"\n".to_vec(), b"a".to_vec(), b"ab = 1\n".to_vec()], 2000, |_| Ok(()));
}
