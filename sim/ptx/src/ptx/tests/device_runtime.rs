//! Tests the system calls of CUDA's device runtime.

use super::super::{Arg, FunctionalError, LaunchDims, Module, run_functional};
use super::{kernel_text, own_element};
use crate::memory::DeviceMemory;
use crate::requests::{KernelRequest, RequestedLaunch, RequestedWork};

const DECLARATIONS: &str = "\
    .extern .func (.param .b64 r) __cuda_syscall_cnpv2GetParameterBufferV2(.param .b64 f, .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);\n\
    .extern .func (.param .b32 r) __cuda_syscall_cnpv2LaunchDeviceV2(.param .b64 p, .param .b64 s);\n\
    .extern .func (.param .b32 r) __cuda_syscall_cnpv2StreamCreate(.param .b64 p, .param .b32 f);\n\
    .extern .func (.param .b32 r) __cuda_syscall_cnpv2EventRecord(.param .b64 e, .param .b64 s);\n\
    .extern .func (.param .b32 r) __cuda_syscall_cnpv2StreamWaitEvent(.param .b64 s, .param .b64 e, .param .b32 f);\n\
    .visible .entry child(.param .u32 a, .param .u64 b) { ret; }\n";

/// Returns a call that leaves the parameters of a launch of `function` in `%rd5`.
fn buffer(function: &str, threads: &str) -> String {
    format!(
        "mov.u64 %rd4, {function};\n{{ .param .b64 f; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s; .param .b64 r;\n\
         st.param.b64 [f], %rd4; st.param.b32 [g], 2; st.param.b32 [g+4], 3; st.param.b32 [g+8], 4; st.param.b32 [b], {threads};\n\
         st.param.b32 [b+4], 1; st.param.b32 [b+8], 1; st.param.b32 [s], 64;\n\
         call.uni (r), __cuda_syscall_cnpv2GetParameterBufferV2, (f, g, b, s); ld.param.b64 %rd5, [r]; }}\n"
    )
}

/// Launch of the parameters in `%rd5` on a stream. Leaves the result in `%r5`.
fn launch(stream: &str) -> String {
    format!(
        "{{ .param .b64 p; .param .b64 s; .param .b32 r; st.param.b64 [p], %rd5; st.param.b64 [s], {stream};\n\
         call.uni (r), __cuda_syscall_cnpv2LaunchDeviceV2, (p, s); ld.param.b32 %r5, [r]; }}\n"
    )
}

/// Returns the requests of two threads that execute `body`, and the words that they store.
fn requested(body: &str, accepts: bool) -> Result<(Vec<KernelRequest>, Vec<u32>), FunctionalError> {
    let text = kernel_text(DECLARATIONS, &(own_element(4) + body + "st.global.u32 [%rd0], %r5; ret;"));
    let module = Module::parse("test.ptx", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut memory = DeviceMemory::new();
    if accepts {
        memory.requests_mut().accept();
    }
    let out = memory.alloc(8, "out").unwrap();
    let kernel = module.kernel("k").unwrap();
    let params = kernel.pack(&[Arg::Ptr(out)]).unwrap();
    run_functional(&module, &kernel, &LaunchDims::new([1, 1, 1], [2, 1, 1]), &params, &mut memory)?;
    assert_eq!(memory.used(), 8, "parameters are freed");
    Ok((memory.requests_mut().take(), memory.read_u32s(out, 2).unwrap()))
}

#[test]
fn a_launch_has_the_dimensions_the_stream_and_the_parameters_that_each_thread_stored() {
    let store = "st.u32 [%rd5], %r0; st.u64 [%rd5+8], %rd4;\n";
    let (requests, results) = requested(&(buffer("child", "32") + store + &launch("3")), true).unwrap();
    assert_eq!(results, [0, 0]);
    let [first, second] = &requests[..] else { panic!("two launches: {requests:?}") };
    for (request, number) in [(first, 0u8), (second, 1)] {
        let RequestedWork::Launch(RequestedLaunch { kernel, grid, block, dynamic_shared, params, .. }) =
            &request.work
        else {
            panic!("a launch: {request:?}")
        };
        assert_eq!((kernel.as_str(), *grid, *block, *dynamic_shared), ("child", [2, 3, 4], [32, 1, 1], 64));
        assert_eq!((params.len(), params[0]), (16, number));
        assert_ne!(params[8..], [0; 8], "the address of the kernel");
        assert_eq!((request.slot, request.cta, request.stream), (0, [0; 3], 3));
    }
}

#[test]
fn a_launch_without_kernel_or_with_too_many_threads_fails_and_the_kernel_goes_on() {
    // The system calls return 1 for an invalid value, and 7 for an invalid configuration.
    let (requests, results) = requested(&(buffer("child", "1025") + &launch("0")), true).unwrap();
    assert_eq!((requests, results), (vec![], vec![7, 7]));
    let (requests, results) = requested(&(buffer("12345", "32") + &launch("0")), true).unwrap();
    assert_eq!((requests, results), (vec![], vec![1, 1]));
}

#[test]
fn streams_and_events_have_handles_of_their_own() {
    let body = ".local .align 8 .b8 place[8]; mov.u64 %rd6, place; cvta.local.u64 %rd6, %rd6;\n\
                { .param .b64 p; .param .b32 f; .param .b32 r; st.param.b64 [p], %rd6; st.param.b32 [f], 1;\n\
                call.uni (r), __cuda_syscall_cnpv2StreamCreate, (p, f); ld.param.b32 %r5, [r]; }\n\
                ld.local.u64 %rd7, [place];\n\
                { .param .b64 e; .param .b64 s; .param .b32 r; st.param.b64 [e], 99; st.param.b64 [s], %rd7;\n\
                call.uni (r), __cuda_syscall_cnpv2EventRecord, (e, s); }\n\
                { .param .b64 s; .param .b64 e; .param .b32 f; .param .b32 r; st.param.b64 [s], %rd7; st.param.b64 [e], 98; st.param.b32 [f], 0;\n\
                call.uni (r), __cuda_syscall_cnpv2StreamWaitEvent, (s, e, f); }\n";
    let (requests, _) = requested(body, true).unwrap();
    let [a, b, c, d] = &requests[..] else { panic!("four requests: {requests:?}") };
    assert!(a.stream != b.stream && (a.stream, b.stream) == (c.stream, d.stream), "{requests:?}");
    assert!(a.stream > 4, "smaller handles are CUDA's own");
    for (request, work) in [(a, RequestedWork::Record(99)), (c, RequestedWork::Wait(98))] {
        assert_eq!(request.work, work);
    }
}

#[test]
fn only_a_host_that_takes_requests_lets_kernels_launch() {
    let line = requested(&(buffer("child", "32") + &launch("0")), false).unwrap_err().to_string();
    assert!(
        line.ends_with("uses CUDA's device runtime, which only programs of `selvedge cuda` can"),
        "{line}"
    );
}
