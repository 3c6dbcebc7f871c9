//! Kernels for tests, each with the property that makes it a good or a bad case for some mechanism.
use super::{NOTHING, SmallKernel};

/// Each of 8 warps of an SM reads 32 lines six times, a line per thread, word after word. The warps share no line: together
/// they need 256 lines of a cache that holds 128, the lines of four warps.
pub const THRASHING: SmallKernel<'static> = SmallKernel {
    grid: 3,
    block: 256,
    words: 3 * 256 * 32,
    body: "mul.wide.u32 %rd2, %r1, 128;\nadd.s64 %rd2, %rd1, %rd2;\nmov.u32 %r3, 0;\nmov.u32 %r4, 0;\n\
           LOOP:\nand.b32 %r5, %r3, 31;\nmul.wide.u32 %rd3, %r5, 4;\nadd.s64 %rd3, %rd2, %rd3;\n\
           ld.global.u32 %r6, [%rd3];\nadd.u32 %r4, %r4, %r6;\nadd.u32 %r3, %r3, 1;\n\
           setp.lt.u32 %p1, %r3, 192;\n@%p1 bra LOOP;\nst.global.u32 [%rd2], %r4;",
    ..NOTHING
};

/// Two warps of an SM read 64 lines again and again, half of its cache. All threads of a warp read the same word.
pub const RELOADING: SmallKernel<'static> = SmallKernel {
    grid: 3,
    block: 64,
    words: 64 * 32,
    body: "mov.u32 %r3, 0;\nmov.u32 %r4, 0;\n\
           LOOP:\nand.b32 %r5, %r3, 63;\nmul.wide.u32 %rd3, %r5, 128;\nadd.s64 %rd3, %rd1, %rd3;\n\
           ld.global.u32 %r6, [%rd3];\nadd.u32 %r4, %r4, %r6;\nadd.u32 %r3, %r3, 1;\n\
           setp.lt.u32 %p1, %r3, 1024;\n@%p1 bra LOOP;\nst.global.u32 [%rd1], %r4;",
    ..NOTHING
};

/// One warp of an SM reads 96 lines 128 times: three lines of each set of its cache.
pub const THREE_WAYS: SmallKernel<'static> = SmallKernel {
    grid: 3,
    block: 32,
    words: 96 * 32,
    body: "mov.u32 %r3, 0;\nmov.u32 %r4, 0;\nmov.u32 %r5, 0;\n\
           LOOP:\nmul.wide.u32 %rd3, %r5, 128;\nadd.s64 %rd3, %rd1, %rd3;\n\
           ld.global.u32 %r6, [%rd3];\nadd.u32 %r4, %r4, %r6;\nadd.u32 %r5, %r5, 1;\n\
           setp.eq.u32 %p2, %r5, 96;\nselp.u32 %r5, 0, %r5, %p2;\nadd.u32 %r3, %r3, 1;\n\
           setp.lt.u32 %p1, %r3, 12288;\n@%p1 bra LOOP;\nst.global.u32 [%rd1], %r4;",
    ..NOTHING
};

/// One warp of an SM reads 192 lines 64 times. Its cache holds 128.
pub const ROUND: SmallKernel<'static> = SmallKernel {
    grid: 3,
    block: 32,
    words: 192 * 32,
    body: "mov.u32 %r3, 0;\nmov.u32 %r4, 0;\nmov.u32 %r5, 0;\n\
           LOOP:\nmul.wide.u32 %rd3, %r5, 128;\nadd.s64 %rd3, %rd1, %rd3;\n\
           ld.global.u32 %r6, [%rd3];\nadd.u32 %r4, %r4, %r6;\nadd.u32 %r5, %r5, 1;\n\
           setp.eq.u32 %p2, %r5, 192;\nselp.u32 %r5, 0, %r5, %p2;\nadd.u32 %r3, %r3, 1;\n\
           setp.lt.u32 %p1, %r3, 12288;\n@%p1 bra LOOP;\nst.global.u32 [%rd1], %r4;",
    ..NOTHING
};

/// Eight warps of an SM read 1 MB line by line. Each starts at a different line.
pub const STREAMING: SmallKernel<'static> = SmallKernel {
    grid: 3,
    block: 256,
    words: 1 << 18,
    body: "shr.u32 %r1, %r1, 5;\nmul.lo.u32 %r1, %r1, 67;\nmov.u32 %r3, 0;\nmov.u32 %r4, 0;\n\
           LOOP:\nadd.u32 %r5, %r1, %r3;\nand.b32 %r5, %r5, 8191;\nmul.wide.u32 %rd3, %r5, 128;\n\
           add.s64 %rd3, %rd1, %rd3;\nld.global.u32 %r6, [%rd3];\nadd.u32 %r4, %r4, %r6;\n\
           add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 4096;\n@%p1 bra LOOP;\nst.global.u32 [%rd1], %r4;",
    ..NOTHING
};

/// Each warp adds up 48 lines of small numbers, with four loads in flight. The four lines are 60 KB apart.
pub const STREAM: SmallKernel<'static> = SmallKernel {
    grid: 60,
    block: 256,
    words: 60 * 256 * 48,
    fill: "init = \"iota\"\nstep = 1",
    body: "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd3, %rd1, %rd3;\nmov.u32 %r3, 0;\nmov.u32 %r4, 0;\n\
           LOOP:\nld.global.u32 %r6, [%rd3];\nld.global.u32 %r7, [%rd3+61440];\nld.global.u32 %r8, [%rd3+122880];\n\
           ld.global.u32 %r9, [%rd3+184320];\nadd.u32 %r4, %r4, %r6;\nadd.u32 %r4, %r4, %r7;\nadd.u32 %r4, %r4, %r8;\n\
           add.u32 %r4, %r4, %r9;\nadd.s64 %rd3, %rd3, 245760;\n\
           add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 12;\n@%p1 bra LOOP;\n\
           setp.ne.u32 %p1, %r4, 7;\n@%p1 bra END;\nst.global.u32 [%rd1], %r4;\nEND:",
    ..NOTHING
};

/// Computes only, and uses at most one line of the buffer.
pub const COMPUTE: SmallKernel<'static> = SmallKernel {
    grid: 30,
    block: 256,
    words: 32,
    fill: "init = \"zeros\"",
    body: "mov.u32 %r3, 0;\nLOOP:\nmad.lo.u32 %r1, %r1, 5, %r3;\nadd.u32 %r3, %r3, 1;\n\
           setp.lt.u32 %p1, %r3, 300;\n@%p1 bra LOOP;\n\
           setp.ne.u32 %p1, %r1, 7;\n@%p1 bra END;\nst.global.u32 [%rd1], %r1;\nEND:",
    ..NOTHING
};

/// Numbers from 0 to 7. A line takes 19 bytes by FPC, and more than 32 by the other codecs.
pub const NIBBLES: SmallKernel<'static> =
    SmallKernel { fill: "init = \"random\"\nlow = 0\nhigh = 7", ..STREAM };

/// Four values in turn that differ a lot. A line takes 32 bytes by C-Pack; the other codecs cannot compress it.
pub const FOUR_VALUES: SmallKernel<'static> =
    SmallKernel { fill: "init = \"iota\"\nstart = 305419896\nstep = 1073741824", ..STREAM };

/// Two warps of an SM read 256 lines each. Twelve dependent multiplications follow each load.
pub const CHAIN: SmallKernel<'static> = SmallKernel {
    grid: 3,
    block: 64,
    words: 6 * 256 * 32,
    body: "shr.u32 %r5, %r1, 5;\n\
           mul.wide.u32 %rd2, %r5, 32768;\nadd.s64 %rd2, %rd1, %rd2;\nand.b32 %r5, %r1, 31;\n\
           mul.wide.u32 %rd3, %r5, 4;\nadd.s64 %rd2, %rd2, %rd3;\nmov.u32 %r3, 0;\nmov.u32 %r4, 0;\n\
           LOOP:\nld.global.u32 %r6, [%rd2];\n\
           mad.lo.u32 %r4, %r4, 5, %r6;\nmad.lo.u32 %r4, %r4, 5, %r6;\nmad.lo.u32 %r4, %r4, 5, %r6;\n\
           mad.lo.u32 %r4, %r4, 5, %r6;\nmad.lo.u32 %r4, %r4, 5, %r6;\nmad.lo.u32 %r4, %r4, 5, %r6;\n\
           mad.lo.u32 %r4, %r4, 5, %r6;\nmad.lo.u32 %r4, %r4, 5, %r6;\nmad.lo.u32 %r4, %r4, 5, %r6;\n\
           mad.lo.u32 %r4, %r4, 5, %r6;\nmad.lo.u32 %r4, %r4, 5, %r6;\nmad.lo.u32 %r4, %r4, 5, %r6;\n\
           add.s64 %rd2, %rd2, 128;\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 256;\n@%p1 bra LOOP;\n\
           st.global.u32 [%rd1], %r4;",
    ..NOTHING
};

/// The GTX 480 with an eighth of its DRAM's bandwidth.
pub const EIGHTH: &str = "base = \"gtx480\"\n[clock]\ndram_mhz = 115\n";

/// The GTX 480 with a sixteenth of its DRAM's bandwidth, so that compression pays in spite of FPC's long routines.
pub const SIXTEENTH: &str = "base = \"gtx480\"\n[clock]\ndram_mhz = 58\n";

/// Each warp adds up 48 lines of small numbers, four adjacent lines at a time. Warps read adjacent groups of lines.
pub const SEQUENCE: SmallKernel<'static> = SmallKernel {
    body: "shr.u32 %r2, %r1, 5;\nand.b32 %r3, %r1, 31;\nmul.wide.u32 %rd3, %r2, 512;\nmul.wide.u32 %rd4, %r3, 4;\n\
           add.s64 %rd3, %rd3, %rd4;\nadd.s64 %rd3, %rd1, %rd3;\nmov.u32 %r3, 0;\nmov.u32 %r4, 0;\n\
           LOOP:\nld.global.u32 %r6, [%rd3];\nld.global.u32 %r7, [%rd3+128];\nld.global.u32 %r8, [%rd3+256];\n\
           ld.global.u32 %r9, [%rd3+384];\nadd.u32 %r4, %r4, %r6;\nadd.u32 %r4, %r4, %r7;\nadd.u32 %r4, %r4, %r8;\n\
           add.u32 %r4, %r4, %r9;\nadd.s64 %rd3, %rd3, 245760;\n\
           add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 12;\n@%p1 bra LOOP;\n\
           setp.ne.u32 %p1, %r4, 7;\n@%p1 bra END;\nst.global.u32 [%rd1], %r4;\nEND:",
    ..STREAM
};

/// Each warp adds up 48 lines of random words, four times. All warps read 2.9 MB each time, which evicts them from the L2.
pub const RANDOM_STREAM: SmallKernel<'static> = SmallKernel {
    fill: "init = \"random\"",
    body: "mov.u32 %r4, 0;\nmov.u32 %r5, 0;\nPASS:\nmul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd3, %rd1, %rd3;\nmov.u32 %r3, 0;\n\
           LOOP:\nld.global.u32 %r6, [%rd3];\nld.global.u32 %r7, [%rd3+61440];\nld.global.u32 %r8, [%rd3+122880];\n\
           ld.global.u32 %r9, [%rd3+184320];\nadd.u32 %r4, %r4, %r6;\nadd.u32 %r4, %r4, %r7;\nadd.u32 %r4, %r4, %r8;\n\
           add.u32 %r4, %r4, %r9;\nadd.s64 %rd3, %rd3, 245760;\n\
           add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 12;\n@%p1 bra LOOP;\n\
           add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 4;\n@%p1 bra PASS;\n\
           setp.ne.u32 %p1, %r4, 7;\n@%p1 bra END;\nst.global.u32 [%rd1], %r4;\nEND:",
    ..STREAM
};

/// Returns PTX with which `$threads` threads together add up `$words` words, `$rounds` times.
macro_rules! goes_over {
    ($words:literal words by $threads:literal threads, $rounds:literal times) => {
        concat!(
            "mov.u32 %r5, %tid.x;\nmov.u32 %r2, 0;\nmov.u32 %r4, 0;\nROUND:\nmov.u32 %r3, %r5;\n",
            "WORD:\nmul.wide.u32 %rd3, %r3, 4;\nadd.s64 %rd3, %rd1, %rd3;\nld.global.u32 %r6, [%rd3];\n",
            concat!("add.u32 %r4, %r4, %r6;\nadd.u32 %r3, %r3, ", $threads, ";\n"),
            concat!("setp.lt.u32 %p1, %r3, ", $words, ";\n@%p1 bra WORD;\nadd.u32 %r2, %r2, 1;\n"),
            concat!("setp.lt.u32 %p2, %r2, ", $rounds, ";\n@%p2 bra ROUND;\n"),
            "setp.ne.u32 %p1, %r4, 7;\n@%p1 bra END;\nst.global.u32 [%rd1], %r4;\nEND:",
        )
    };
}

/// The 16 warps of an SM add up 30 KB of consecutive numbers: 15 KB by BDI, in an L1D of 16 KB.
pub const COUNTERS: SmallKernel<'static> = SmallKernel {
    grid: 3,
    block: 512,
    words: 7680,
    fill: "init = \"iota\"\nstart = 1073741824\nstep = 1",
    body: goes_over!(7680 words by 512 threads, 60 times),
    ..NOTHING
};

/// Four warps, whose hits do not overlap, add up 50 KB of consecutive numbers: 25 KB by BDI, 13 KB by BPC.
pub const MORE_COUNTERS: SmallKernel<'static> = SmallKernel {
    block: 128,
    words: 12800,
    body: goes_over!(12800 words by 128 threads, 60 times),
    ..COUNTERS
};

/// Four warps add up 50 KB of 16 different values: 25 KB by BDI, 13 KB by a code of four bits for each value.
pub const FEW_VALUES: SmallKernel<'static> =
    SmallKernel { fill: "init = \"random\"\nlow = 0\nhigh = 15", ..MORE_COUNTERS };

/// Two SMs with an L2 of 32 KB. It is small, so that the predictors see enough evictions early.
pub const SMALL: &str = "base = \"gtx480\"\n[sm]\ncount = 2\n[l2]\npartitions = 2\nsets = 16\n";

/// Each thread reads 16 words at random addresses.
pub const SCATTERED: SmallKernel<'static> = SmallKernel {
    grid: 2,
    block: 512,
    words: 1 << 20,
    body: "mov.u32 %r2, 0;\nLOOP:\nmad.lo.u32 %r3, %r2, 1024, %r1;\nmul.lo.u32 %r3, %r3, 2654435761;\n\
           shr.u32 %r4, %r3, 15;\nxor.b32 %r3, %r3, %r4;\nmul.lo.u32 %r3, %r3, 2246822519;\nshr.u32 %r4, %r3, 9;\n\
           and.b32 %r4, %r4, 1048575;\nmul.wide.u32 %rd2, %r4, 4;\nadd.s64 %rd2, %rd1, %rd2;\nld.global.u32 %r5, [%rd2];\n\
           add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 16;\n@%p1 bra LOOP;",
    ..NOTHING
};

/// Each thread reads the 32 words of a separate line in order, and waits for each.
pub const WALK: SmallKernel<'static> = SmallKernel {
    grid: 2,
    block: 64,
    words: 1 << 20,
    body: "mul.wide.u32 %rd2, %r1, 128;\nadd.s64 %rd2, %rd1, %rd2;\nmov.u32 %r2, 0;\nmov.u32 %r6, 0;\nLOOP:\n\
           ld.global.u32 %r5, [%rd2];\nadd.u32 %r6, %r6, %r5;\nadd.s64 %rd2, %rd2, 4;\nadd.u32 %r2, %r2, 1;\n\
           setp.lt.u32 %p1, %r2, 32;\n@%p1 bra LOOP;",
    ..NOTHING
};

/// Each warp reads consecutive words, 64 times.
pub const COALESCED: SmallKernel<'static> = SmallKernel {
    grid: 2,
    block: 512,
    words: 1 << 20,
    body: "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd2, %rd1, %rd2;\nmov.u32 %r2, 0;\nLOOP:\n\
           ld.global.u32 %r5, [%rd2];\nadd.s64 %rd2, %rd2, 4096;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 64;\n\
           @%p1 bra LOOP;",
    ..NOTHING
};

/// Each thread reads the first words of three separate lines 20 times: 192 lines in each SM.
pub const FIRST_WORDS: SmallKernel<'static> = SmallKernel {
    grid: 2,
    block: 64,
    words: 2 * 64 * 3 * 32,
    body: "mul.wide.u32 %rd2, %r1, 384;\nadd.s64 %rd2, %rd1, %rd2;\nmov.u32 %r3, 0;\nmov.u32 %r4, 0;\n\
           LOOP:\nrem.u32 %r5, %r3, 3;\nmul.wide.u32 %rd3, %r5, 128;\nadd.s64 %rd3, %rd2, %rd3;\n\
           ld.global.u32 %r6, [%rd3];\nadd.u32 %r4, %r4, %r6;\nadd.u32 %r3, %r3, 1;\n\
           setp.lt.u32 %p1, %r3, 60;\n@%p1 bra LOOP;\n\
           setp.ne.u32 %p1, %r4, 7;\n@%p1 bra END;\nst.global.u32 [%rd1], %r4;\nEND:",
    ..NOTHING
};

/// Each of eight warps of an SM loads 32 lines at once. No other warp loads them, and their place changes with each load.
pub const FAR_APART: SmallKernel<'static> = SmallKernel {
    grid: 3,
    block: 256,
    words: 16 * 24576,
    body: "mul.wide.u32 %rd2, %r1, 128;\nadd.s64 %rd2, %rd1, %rd2;\nmov.u32 %r3, 0;\nmov.u32 %r4, 0;\n\
           LOOP:\nand.b32 %r5, %r3, 15;\nmul.wide.u32 %rd3, %r5, 98304;\nadd.s64 %rd3, %rd2, %rd3;\n\
           ld.global.u32 %r6, [%rd3];\nadd.u32 %r4, %r4, %r6;\nadd.u32 %r3, %r3, 1;\n\
           setp.lt.u32 %p1, %r3, 192;\n@%p1 bra LOOP;\nst.global.u32 [%rd2], %r4;",
    ..NOTHING
};

/// Eight warps of an SM load the same 32 lines again and again: each load makes 32 requests, which hit.
pub const GATHERING: SmallKernel<'static> = SmallKernel {
    grid: 3,
    block: 256,
    words: 32 * 32,
    body: "and.b32 %r2, %r1, 31;\nmul.wide.u32 %rd2, %r2, 128;\nadd.s64 %rd2, %rd1, %rd2;\nmov.u32 %r3, 0;\nmov.u32 %r4, 0;\n\
           LOOP:\nld.global.u32 %r6, [%rd2];\nadd.u32 %r4, %r4, %r6;\nadd.u32 %r3, %r3, 1;\n\
           setp.lt.u32 %p1, %r3, 400;\n@%p1 bra LOOP;\nst.global.u32 [%rd2], %r4;",
    ..NOTHING
};

/// Sixteen warps of an SM load four lines again and again, with one request for each, and add them up.
pub const FOUR_LINES: SmallKernel<'static> = SmallKernel {
    grid: 3,
    block: 512,
    words: 4 * 32,
    body: "mov.u32 %r3, 0;\nmov.u32 %r4, 0;\nLOOP:\nld.global.u32 %r6, [%rd1];\nld.global.u32 %r7, [%rd1+128];\n\
           ld.global.u32 %r8, [%rd1+256];\nld.global.u32 %r9, [%rd1+384];\nadd.u32 %r4, %r4, %r6;\nadd.u32 %r4, %r4, %r7;\n\
           add.u32 %r4, %r4, %r8;\nadd.u32 %r4, %r4, %r9;\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 1000;\n\
           @%p1 bra LOOP;\nst.global.u32 [%rd1], %r4;",
    ..NOTHING
};

/// Eight warps of an SM load one word for every four multiplications.
pub const MOSTLY_ARITHMETIC: SmallKernel<'static> = SmallKernel {
    grid: 3,
    block: 256,
    words: 32,
    body: "mov.u32 %r3, 0;\nLOOP:\nld.global.u32 %r6, [%rd1];\nmad.lo.u32 %r1, %r1, 5, %r6;\nmad.lo.u32 %r1, %r1, 5, %r3;\n\
           mad.lo.u32 %r1, %r1, 5, %r3;\nmad.lo.u32 %r1, %r1, 5, %r3;\nadd.u32 %r3, %r3, 1;\n\
           setp.lt.u32 %p1, %r3, 1000;\n@%p1 bra LOOP;\nst.global.u32 [%rd1], %r1;",
    ..NOTHING
};

/// A function of an integer: 40 rounds of a pseudo-random sequence.
pub const ROUNDS: &str = ".func (.param .b32 r) f(.param .b32 x) {\n.reg .b32 %a<4>;\n.reg .pred %q;\n\
    ld.param.u32 %a0, [x];\nmov.u32 %a1, 0;\n\
    AGAIN:\nmad.lo.u32 %a0, %a0, 1664525, 1013904223;\nadd.u32 %a1, %a1, 1;\nsetp.lt.u32 %q, %a1, 40;\n\
    @%q bra AGAIN;\nst.param.b32 [r], %a0;\nret;\n}\n";

/// Each thread calls a function 64 times. All calls together have 64 different arguments.
pub const SAME_CALLS: SmallKernel<'static> = SmallKernel {
    grid: 9,
    block: 256,
    words: 9 * 256,
    functions: ROUNDS,
    body: "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd3, %rd1, %rd3;\nmov.u32 %r2, 0;\nmov.u32 %r5, 0;\n\
           PASS:\nadd.u32 %r3, %r1, %r2;\nand.b32 %r3, %r3, 63;\n\
           {\n.param .b32 a;\n.param .b32 b;\nst.param.b32 [a], %r3;\ncall (b), f, (a);\nld.param.b32 %r4, [b];\n}\n\
           add.u32 %r5, %r5, %r4;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p9, %r2, 64;\n@%p9 bra PASS;\n\
           st.global.u32 [%rd3], %r5;",
    ..NOTHING
};
