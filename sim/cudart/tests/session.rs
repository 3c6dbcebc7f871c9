//! Tests sessions with programs that use the protocol directly, without the CUDA toolkit. The program is this test binary, which
//! runs one of the `part_` tests.
#![cfg(target_os = "linux")]
use selvedge_cudart::protocol::{Call, CallReply, PIECE_BYTES, SOCKET, error, late, send_request};
use selvedge_cudart::refusals::Refusals;
use selvedge_cudart::session::{Session, SessionError, SessionSettings, StartedProgram};
use selvedge_gpu::config::GpuConfig;
use selvedge_ptx::memory::DeviceMemory;
use std::env;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Size of device memory in bytes.
const CAPACITY: u64 = 1 << 30;

/// Serves a `part_` test to its end. Returns the refused work.
fn serve(part: &str, timeout: Option<Duration>) -> Result<Refusals, SessionError> {
    let program = env::current_exe().expect("it has a path");
    let settings = SessionSettings {
        record: false,
        verify: false,
        quiet: true,
        stop: Arc::default(),
        timeout,
        say: Arc::new(|_| {}),
    };
    let words = ["--exact", part, "--nocapture"].map(Into::into);
    let live = Arc::new(StartedProgram::start(&program, &words, settings).expect("it starts"));
    let config = Arc::new(GpuConfig::load("gtx480").expect("built in"));
    let mut session = Session::new(&live, &config, CAPACITY)?;
    let mut memory = DeviceMemory::with_capacity(CAPACITY);
    match session.next(&mut memory, &mut || 0) {
        Ok(launch) => assert!(launch.is_none(), "{part} launches nothing"),
        Err(error) => {
            session.fail(error::LAUNCH_FAILURE);
            return Err(error);
        }
    }
    session.finish()?;
    session.verdict().unwrap_or_else(|end| panic!("{part}: {end}"));
    Ok(session.refusals().clone())
}

/// Returns the path of the socket; `None` if the test was not started as a program.
fn socket() -> Option<PathBuf> {
    env::var_os(SOCKET).map(PathBuf::from)
}

/// Connects like the library.
fn connect(socket: &PathBuf) -> UnixStream {
    let mut stream = UnixStream::connect(socket).expect("it is served");
    send_request(&mut stream, Call::Hello, None, "", &[std::process::id().into()], &[]).expect("it listens");
    stream
}

fn call(stream: &mut UnixStream, call: Call, words: &[u64], bytes: &[u8]) -> CallReply {
    send_request(stream, call, None, "cudaTest", words, bytes).expect("it listens");
    CallReply::receive(stream).expect("it replies")
}

#[test]
fn part_memory() {
    let Some(socket) = socket() else { return };
    let mode = socket.parent().expect("a folder").metadata().expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "nobody else looks into the folder");
    let stream = &mut connect(&socket);
    let info = |stream: &mut UnixStream| call(stream, Call::MemoryInfo, &[], &[]).words;
    assert_eq!(info(stream), [CAPACITY, CAPACITY]);
    let address = call(stream, Call::Allocate, &[1000, 1], &[]).words[0];
    assert_eq!(info(stream), [CAPACITY - 1000, CAPACITY], "free memory is less by the allocation");
    for alignment in [256, 4096, 1 << 20] {
        let address = call(stream, Call::Allocate, &[1, alignment], &[]).words[0];
        assert!(address.is_multiple_of(alignment), "{address:#x}");
        assert_eq!(call(stream, Call::Free, &[address], &[]).code, 0);
    }
    let refused = [
        call(stream, Call::Read, &[address, PIECE_BYTES + 1, PIECE_BYTES + 1, 1], &[]),
        call(stream, Call::Read, &[address, u64::MAX, u64::MAX, u64::MAX], &[]),
        call(stream, Call::Check, &[address, 1 << 47, 1 << 47, 1], &[]),
        call(stream, Call::Write, &[address, 7, 8, 2], &[1; 16]),
        call(stream, Call::Write, &[address, 8, 8, 2], &[1; 15]),
        call(stream, Call::Fill, &[address, 7, 8, 2, 1], &[]),
    ];
    for reply in refused {
        assert_eq!((reply.code, reply.bytes.len()), (error::INVALID_VALUE, 0));
    }
    assert_eq!(call(stream, Call::Check, &[address, 500, 500, 2], &[]).code, 0);
    assert_eq!(call(stream, Call::Write, &[address, 500, 3, 2], b"abcdef").code, 0);
    let read = call(stream, Call::Read, &[address, 500, 4, 2], &[]).bytes;
    assert_eq!(read, b"abc\0def\0");
    assert_eq!(call(stream, Call::Free, &[address], &[]).code, 0);
    assert_eq!(info(stream), [CAPACITY, CAPACITY]);
}

#[test]
fn memory_is_counted_and_wrong_calls_are_refused() {
    let refusals = serve("part_memory", None).expect("it comes to its end");
    assert_eq!((refusals.modules, refusals.launches, refusals.calls), (0, 0, 6), "{refusals:?}");
    let reasons: Vec<&str> = refusals.reasons.iter().map(|reason| reason.why.as_str()).collect();
    let begins = [
        "a piece of more than 16777216 bytes",
        "140737488355328 bytes at",
        "rows of 8 bytes, 7 bytes apart: the pitch must be at least the width",
        "15 bytes for",
    ];
    assert_eq!(reasons.len(), begins.len(), "{reasons:?}");
    for (reason, begin) in reasons.iter().zip(begins) {
        assert!(reason.starts_with(begin), "{reason}");
    }
}

#[test]
fn part_wrong_length() {
    let Some(socket) = socket() else { return };
    let stream = &mut connect(&socket);
    let head = [Call::Write as u64, 0, 0, 4, 1 << 39];
    let bytes: Vec<u8> = head.iter().flat_map(|word| word.to_le_bytes()).collect();
    stream.write_all(&bytes).expect("it listens");
    assert_eq!(stream.read(&mut [0]).expect("an end"), 0, "the connection is given up");
}

#[test]
fn a_length_that_no_message_has_ends_the_connection_and_is_no_success() {
    let refusals = serve("part_wrong_length", None).expect("it comes to its end");
    assert_eq!(refusals.total(), 1);
    let why = "it was lost within a call: a message of 549755813888: must be at most 16777216";
    assert_eq!(refusals.reasons[0].why, why);
}

#[test]
fn part_other_processes() {
    let Some(socket) = socket() else { return };
    let stream = &mut connect(&socket);
    assert_eq!(call(stream, Call::MemoryInfo, &[], &[]).code, 0);
    assert!(UnixStream::connect(&socket).is_err(), "one process is served");
    drop(connect(&late(&socket)));
    let mut note = UnixStream::connect(late(&socket)).expect("notes are taken");
    let why = "it is called elsewhere";
    send_request(&mut note, Call::Refused, None, "cudaLaunchKernel", &[3], why.as_bytes())
        .expect("it listens");
    assert_eq!(call(stream, Call::MemoryInfo, &[], &[]).code, 0, "the first one goes on");
}

#[test]
fn calls_of_other_processes_are_counted() {
    let refusals = serve("part_other_processes", None).expect("it comes to its end");
    assert_eq!((refusals.launches, refusals.calls), (1, 1), "{refusals:?}");
    assert!(refusals.reasons[0].why.ends_with("is not the one that is served"), "{refusals:?}");
    assert_eq!(refusals.reasons[1].why, "it is called elsewhere");
}

#[test]
fn part_endless_calls() {
    let Some(socket) = socket() else { return };
    let stream = &mut connect(&socket);
    // The session closes the connection when the time is over.
    while send_request(stream, Call::MemoryInfo, None, "cudaTest", &[], &[]).is_ok()
        && CallReply::receive(stream).is_ok()
    {}
}

#[test]
fn a_timeout_ends_a_program_that_makes_call_after_call() {
    let start = Instant::now();
    let ended = serve("part_endless_calls", Some(Duration::from_millis(500)));
    assert!(matches!(ended, Err(SessionError::TimedOut(_))), "{ended:?}");
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn part_silent() {
    let Some(socket) = socket() else { return };
    drop(connect(&socket));
}

#[test]
fn a_program_that_only_connects_is_complete() {
    assert_eq!(serve("part_silent", None).expect("it comes to its end"), Refusals::default());
}
