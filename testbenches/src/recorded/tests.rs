//! Tests that recordings are sampled as registers would store the values, and that invalid ones are refused.
use super::*;
use crate::vectors::{Vector, Vectors};
use crate::wave;
use selvedge_blocks::find;
use selvedge_hw::Clock;
use std::path::PathBuf;

fn port(name: &'static str, bits: usize, direction: Direction) -> Port {
    Port { name, bits, direction, doc: "", valid: None }
}

fn file(folder: &tempfile::TempDir, text: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join("w.vcd");
    std::fs::write(&path, text).expect("written");
    path
}

fn recording(cycles: u64) -> wave::RecordingOptions {
    wave::RecordingOptions { cycles, seed: 1, clock: Clock { domain: "core", mhz: 1400 }, inside: true }
}

#[test]
fn a_blocks_waveform_gives_its_vectors_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let entry = find("milg").expect("a block");
    let params = entry.defaults();
    let recorded = wave::run(entry, &params, recording(300)).expect("a waveform");
    let ports = entry.ports(&params).expect("its ports");
    let read = read(&file(&folder, recorded.vcd()), None, &ports, usize::MAX).expect("it has the block");
    assert_eq!(read.instance, "selvedge.milg");
    let expected: Vec<Vector> = Vectors::new(entry, &params, 1).expect("vectors").take(300).collect();
    // The recording adds a clock in reset before the one with which the vectors begin.
    assert_eq!(read.clocks.len(), 1 + 300);
    assert!(read.clocks[0].stimulus.reset);
    for (at, (got, expected)) in read.clocks[1..].iter().zip(expected).enumerate() {
        assert_eq!((got.stimulus.reset, &got.outputs), (expected.reset, &expected.outputs), "clock {at}");
        if !expected.reset {
            assert_eq!(got.stimulus.inputs, expected.inputs, "clock {at}");
        }
    }
}

/// Two instances in a simulator's style: inputs change half a clock after the registers, and the recording ends with a
/// rising edge.
const TWO: &str = "$timescale 1ns $end $scope module tb $end
    $scope module a $end $var wire 1 c clk_i $end $var wire 65 d data_i [64:0] $end $var wire 1 q q_o $end $upscope $end
    $scope module b $end $var wire 1 c clk_i $end $var wire 2 e data_i [1:0] $end $var wire 1 r q_o $end $upscope $end
    $upscope $end $enddefinitions $end
    #0 0c xq bx d b01 e 1r #5 1c #10 0c b1 d #15 1c 1q #20 0c b1x0 d b10 e
    b10000000000000000000000000000000000000000000000000000000000000011 d #25 1c 0q\n";

#[test]
fn values_are_those_before_the_next_rise() {
    let folder = tempfile::tempdir().expect("a folder");
    let ports = [port("data_i", 65, Direction::Input), port("q_o", 1, Direction::Output)];
    let read = read(&file(&folder, TWO), None, &ports, usize::MAX).expect("a has such ports");
    assert_eq!(read.instance, "tb.a");
    let clocks: Vec<_> = read.clocks[1..].iter().map(|c| (&c.stimulus.inputs[0][..], &c.outputs)).collect();
    let one = Some(vec![vec![1]]);
    assert_eq!(clocks, [(&[1, 0][..], &None), (&[3, 1][..], &one)]);
}

#[test]
fn an_instance_is_named_by_the_end_of_its_path_and_refused_by_a_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = file(&folder, TWO);
    let q = [port("q_o", 1, Direction::Output)];
    assert_eq!(read(&path, Some("b"), &q, usize::MAX).expect("tb.b").instance, "tb.b");
    let refused = |name: Option<&str>, ports: &[Port]| {
        let error = read(&path, name, ports, usize::MAX).expect_err("refused").to_string();
        assert!(error.contains("w.vcd: "), "{error}");
        error
    };
    assert!(refused(None, &q).ends_with("it has several such instances; name one of tb.a, tb.b"));
    assert!(refused(Some("sm0.b"), &q).ends_with("it has no instance `sm0.b`"));
    let wide = [port("data_i", 66, Direction::Input)];
    assert!(refused(None, &wide).ends_with("it has no instance with clk_i, data_i[66]"));
    assert!(refused(Some("a"), &wide).ends_with("tb.a: data_i has 65 bits, not the block's 66"));
    assert!(refused(Some("a"), &[port("go_i", 1, Direction::Input)]).ends_with("tb.a: it has no go_i"));
    let fst = folder.path().join("w.fst");
    std::fs::write(&fst, "").expect("written");
    let refusal = read(&fst, None, &q, 2).expect_err("FST is not read").to_string();
    assert!(refusal.ends_with("w.fst: must be VCD, not FST; fst2vcd of GTKWave converts it"), "{refusal}");
    std::fs::write(&path, "no waveform").expect("written");
    assert!(refused(None, &q).contains("no waveform (VCD): "));
    let idle = "$scope module a $end $var wire 1 c clk_i $end $var wire 1 q q_o $end $upscope $end $enddefinitions $end #0 0c\n";
    std::fs::write(&path, idle).expect("written");
    assert!(refused(None, &q).ends_with("a: nothing was recorded in a clock"));
}

/// Returns the recorded values of a one-bit input of the instance `d`.
fn one_bit(recorded: &str) -> Result<Vec<u64>, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let head = "$scope module d $end $var wire 1 c clk_i $end $var wire 1 d data_i $end $upscope $end $enddefinitions $end";
    let path = file(&folder, format!("{head} {recorded}\n"));
    let read = read(&path, None, &[port("data_i", 1, Direction::Input)], usize::MAX);
    let values = |read: RecordedInstance| read.clocks[1..].iter().map(|c| c.stimulus.inputs[0][0]).collect();
    read.map(values).map_err(|error| error.to_string())
}

#[test]
fn a_clock_rises_where_it_was_low_and_stays_high() {
    let plain = "#0 0c 0d #5 1c #10 0c 1d #15 1c #20 0c 0d #25 1c";
    assert_eq!(one_bit(plain), Ok(vec![1, 0]));
    // Repeated value while high; a pulse without width; clock as a vector.
    assert_eq!(one_bit("#0 0c 0d #5 1c #7 1c #10 0c 1d #15 1c #20 0c 0d #25 1c"), Ok(vec![1, 0]));
    assert_eq!(one_bit("#0 0c 0d #5 1c #10 0c 1d #12 1c 0c #15 1c #20 0c 0d #25 1c"), Ok(vec![1, 0]));
    assert_eq!(one_bit("#0 b0 c 0d #5 b1 c #10 b0 c 1d #15 b1 c #20 b0 c 0d #25 b1 c"), Ok(vec![1, 0]));
}

#[test]
fn the_last_clock_counts_when_it_is_whole_though_others_were_gated() {
    assert_eq!(one_bit("#0 1c 1d #5 0c #50 1c 0d #55 0c #60"), Ok(vec![1, 0]));
    assert_eq!(one_bit("#0 1c 1d #5 0c #50 1c 0d #55 0c #59"), Ok(vec![1]));
    assert!(one_bit("#0 0c 0d #5 1c").is_err(), "nothing is known of a clock that has just begun");
}

#[test]
fn broken_recordings_are_errors() {
    let error = one_bit("#0 0c #5 1c #3 0c").expect_err("time");
    assert!(error.ends_with("time goes back from 5 to 3"), "{error}");
    let error = one_bit("#0 0c #5 1c #10 $dumpoff xc $end #20 $dumpon 1c $end").expect_err("a pause");
    assert!(error.ends_with("the recording pauses at 10 ($dumpoff)"), "{error}");
    assert!(one_bit("#0 0c #5 1c #10 b1").is_err() && one_bit("#0 0c #5 1q #10").is_err());
}

#[test]
fn a_whole_path_is_meant_before_the_end_of_another() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "$scope module a $end $var wire 1 c clk_i $end $var wire 1 d d_i $end $upscope $end
        $scope module tb $end $scope module a $end $var wire 1 c clk_i $end $var wire 1 d d_i $end $upscope $end
        $upscope $end $enddefinitions $end #0 1c 1d #5 0c #10 1c #15 0c #20\n";
    let ports = [port("d_i", 1, Direction::Input)];
    let read = read(&file(&folder, text), Some("a"), &ports, 2).expect("it is there");
    assert_eq!((read.instance.as_str(), read.clocks.len()), ("a", 2));
}

#[test]
fn a_header_of_scopes_without_end_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "$scope module a $end\n".repeat(1_000_000);
    let refused = read(&file(&folder, text), None, &[], 2).expect_err("it is too deep").to_string();
    assert!(refused.ends_with("more than 256 scopes in one another: must be at most as many"), "{refused}");
}

#[test]
fn a_header_that_ends_early_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let refused = read(&file(&folder, "$scope module a $end\n"), None, &[], 2).expect_err("cut").to_string();
    assert!(refused.ends_with("it ends before $enddefinitions"), "{refused}");
}

#[cfg(unix)]
#[test]
fn a_waveform_without_an_end_is_refused() {
    let refused = read(std::path::Path::new("/dev/zero"), None, &[], 2).expect_err("no waveform").to_string();
    assert!(refused.starts_with("/dev/zero: no waveform (VCD): "), "{refused}");
}
