//! Tests shuffles and votes.

use super::{kernel_text, own_element, run_words};

fn lanes(statement: &str) -> Vec<u32> {
    let body = own_element(4)
        + &format!(
            "mul.lo.u32 %r1, %r0, 10; setp.gt.u32 %p1, %r0, 27;\n{statement}\nst.global.u32 [%rd0], %r2; ret;"
        );
    run_words(&kernel_text("", &body), 32, &[0; 32]).unwrap().0
}

#[test]
fn shuffles_read_other_lanes_and_keep_to_their_segments() {
    let all = |f: fn(u32) -> u32| (0..32).map(f).collect::<Vec<_>>();
    assert_eq!(
        lanes("shfl.sync.down.b32 %r2, %r1, 4, 31, -1;"),
        all(|t| 10 * if t < 28 { t + 4 } else { t })
    );
    assert_eq!(lanes("shfl.sync.up.b32 %r2, %r1, 3, 0, -1;"), all(|t| 10 * if t >= 3 { t - 3 } else { t }));
    assert_eq!(lanes("shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;"), all(|t| 10 * (t ^ 1)));
    assert_eq!(lanes("shfl.idx.b32 %r2, %r1, 5, 31;"), all(|_| 50));
    // Segments of 8 lanes: c is (32 - 8) << 8 | 7.
    assert_eq!(
        lanes("shfl.sync.down.b32 %r2, %r1, 2, 6151, -1;"),
        all(|t| 10 * if t % 8 < 6 { t + 2 } else { t })
    );
    assert_eq!(lanes("shfl.sync.idx.b32 %r2, %r1, 3, 6151, -1;"), all(|t| 10 * (t / 8 * 8 + 3)));
    let found = lanes("shfl.sync.down.b32 %r3|%p2, %r1, 4, 31, -1; selp.u32 %r2, 1, 0, %p2;");
    assert_eq!(found, all(|t| u32::from(t < 28)));
}

#[test]
fn votes_count_the_lanes_that_take_part() {
    assert_eq!(lanes("vote.sync.ballot.b32 %r2, %p1, -1;"), [0xf000_0000; 32]);
    assert_eq!(lanes("vote.ballot.sync.b32 %r2, !%p1, -1;"), [0x0fff_ffff; 32]);
    assert_eq!(lanes("vote.any.pred %p2, %p1; selp.u32 %r2, 1, 0, %p2;"), [1; 32]);
    assert_eq!(lanes("vote.sync.all.pred %p2, %p1, -1; selp.u32 %r2, 1, 0, %p2;"), [0; 32]);
    let guarded = lanes("mov.u32 %r2, 0; @%p1 vote.all.pred %p2, %p1; @%p1 selp.u32 %r2, 1, 0, %p2;");
    assert_eq!(guarded, (0..32).map(|t| u32::from(t > 27)).collect::<Vec<_>>());
}
