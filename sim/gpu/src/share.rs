//! Sharing of SMs by kernels that run at the same time (Dai, sections 4.1 and 4.4). A share decides which kernels may place a CTA
//! on an SM.
use crate::config::SmConfig;
use selvedge_state::State;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// Rule by which programs share the SMs.
#[derive(Clone, Debug, PartialEq, Eq, State)]
pub enum Share {
    /// The earliest launch gets all resources that it can use. Later launches get the rest.
    LeftOver,
    /// Each of the given number of programs has its own SMs. If they cannot be divided evenly, the first programs get one more.
    Spatial(usize),
    /// Max CTAs of each program per SM.
    PerSm(Vec<u32>),
}

/// Value of `--share`, before the number of programs is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShareSpec {
    /// [`Share::LeftOver`].
    LeftOver,
    /// [`Share::Spatial`].
    Spatial,
    /// [`Share::PerSm`].
    PerSm(Vec<u32>),
    /// [`Share::PerSm`] with fair shares of the SM's resources (SMK).
    SmkP,
    /// The same as [`ShareSpec::SmkP`], with quotas of warp instructions (SMK-(P+W)). The quotas follow from the speed of
    /// each program alone, measured for the given core cycles. With `None`, the measurement covers the length of the joint
    /// run.
    SmkPw(Option<u64>),
    /// [`Share::PerSm`] by the scaling of each program alone (Warped-Slicer), measured for the given core cycles. With
    /// `None`, the measurement covers the length of the joint run.
    WarpedSlicer(Option<u64>),
}

/// An error in a share. The message has one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShareError {
    /// The text has a wrong form.
    #[error(
        "share '{text}': must be left-over, spatial, smk-p, smk-pw, warped-slicer, smk-pw:CYCLES and \
         warped-slicer:CYCLES with 1 or more, and sm:N,N with the CTAs per SM of each program"
    )]
    Syntax {
        /// Share as given.
        text: String,
    },
    /// The number of CTA limits differs from the number of programs.
    #[error("share '{text}': must be as many numbers as programs, which are {programs}")]
    Count {
        /// Share as given.
        text: String,
        /// Number of programs.
        programs: usize,
    },
    /// A program has no CTA, or the sum exceeds the max CTAs of an SM.
    #[error("share '{text}': must be 1 CTA or more of each program, and {most} in all, which an SM holds")]
    Ctas {
        /// Share as given.
        text: String,
        /// Max CTAs of an SM.
        most: u32,
    },
    /// An SM cannot hold one CTA of each program.
    #[error("share '{text}': must be programs of which an SM holds a CTA of each; these do not fit together")]
    NoRoom {
        /// Share as given.
        text: String,
    },
    /// The GPU has fewer SMs than programs.
    #[error("share '{text}': must be a program per SM at most: {programs} programs, {sms} SMs")]
    TooFewSms {
        /// Share as given.
        text: String,
        /// Number of programs.
        programs: usize,
        /// Number of SMs.
        sms: u32,
    },
}

impl FromStr for ShareSpec {
    type Err = ShareError;

    fn from_str(text: &str) -> Result<Self, ShareError> {
        let wrong = || ShareError::Syntax { text: text.to_owned() };
        match text {
            "left-over" => Ok(ShareSpec::LeftOver),
            "spatial" => Ok(ShareSpec::Spatial),
            "smk-p" => Ok(ShareSpec::SmkP),
            "smk-pw" => Ok(ShareSpec::SmkPw(None)),
            "warped-slicer" => Ok(ShareSpec::WarpedSlicer(None)),
            _ => {
                let cycles_after = |prefix: &str| {
                    let cycles = text.strip_prefix(prefix)?.parse().ok().filter(|cycles| *cycles > 0);
                    Some(cycles.ok_or_else(wrong).map(Some))
                };
                if let Some(cycles) = cycles_after("smk-pw:") {
                    return cycles.map(ShareSpec::SmkPw);
                }
                if let Some(cycles) = cycles_after("warped-slicer:") {
                    return cycles.map(ShareSpec::WarpedSlicer);
                }
                let numbers = text.strip_prefix("sm:").ok_or_else(wrong)?.split(',');
                let ctas = numbers.map(|number| number.parse().map_err(|_| wrong()));
                Ok(ShareSpec::PerSm(ctas.collect::<Result<_, _>>()?))
            }
        }
    }
}

impl fmt::Display for ShareSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShareSpec::LeftOver => f.write_str("left-over"),
            ShareSpec::Spatial => f.write_str("spatial"),
            ShareSpec::SmkP => f.write_str("smk-p"),
            ShareSpec::SmkPw(None) => f.write_str("smk-pw"),
            ShareSpec::SmkPw(Some(cycles)) => write!(f, "smk-pw:{cycles}"),
            ShareSpec::WarpedSlicer(None) => f.write_str("warped-slicer"),
            ShareSpec::WarpedSlicer(Some(cycles)) => write!(f, "warped-slicer:{cycles}"),
            ShareSpec::PerSm(ctas) => {
                let numbers: Vec<String> = ctas.iter().map(u32::to_string).collect();
                write!(f, "sm:{}", numbers.join(","))
            }
        }
    }
}

impl ShareSpec {
    /// Returns the share for the given number of programs on an SM. Returns `None` if the share depends on measurements of the
    /// programs.
    ///
    /// # Errors
    /// Returns [`ShareError`] if the share does not fit the programs or the SM.
    pub fn among(&self, programs: usize, sm: &SmConfig) -> Result<Option<Share>, ShareError> {
        let text = self.to_string();
        match self {
            ShareSpec::SmkP | ShareSpec::SmkPw(_) | ShareSpec::WarpedSlicer(_) => Ok(None),
            ShareSpec::LeftOver => Ok(Some(Share::LeftOver)),
            ShareSpec::Spatial if programs > sm.count as usize => {
                Err(ShareError::TooFewSms { text, programs, sms: sm.count })
            }
            ShareSpec::Spatial => Ok(Some(Share::Spatial(programs))),
            ShareSpec::PerSm(ctas) if ctas.len() != programs => Err(ShareError::Count { text, programs }),
            ShareSpec::PerSm(ctas) => {
                let sum: u64 = ctas.iter().copied().map(u64::from).sum();
                if ctas.contains(&0) || sum > u64::from(sm.ctas) {
                    return Err(ShareError::Ctas { text, most: sm.ctas });
                }
                Ok(Some(Share::PerSm(ctas.clone())))
            }
        }
    }
}

impl Share {
    /// Returns whether SM `sm` of `sms` may hold one more CTA of program `slot`. It holds `resident` CTAs of the program
    /// already.
    pub fn allows(&self, slot: usize, sm: usize, sms: usize, resident: u32) -> bool {
        match self {
            Share::LeftOver => true,
            Share::Spatial(programs) => sms_of(slot, *programs, sms).contains(&sm),
            Share::PerSm(ctas) => ctas.get(slot).is_some_and(|most| resident < *most),
        }
    }
}

/// Returns the SMs of program `slot` of `programs`.
fn sms_of(slot: usize, programs: usize, sms: usize) -> Range<usize> {
    let first = |slot: usize| slot * (sms / programs) + slot.min(sms % programs);
    first(slot)..first(slot + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::GpuConfig;

    fn among(text: &str, programs: usize) -> Result<Share, String> {
        let sm = GpuConfig::load("gtx480").expect("built in").sm;
        let spec: ShareSpec = text.parse().map_err(|e: ShareError| e.to_string())?;
        assert_eq!(spec.to_string(), text);
        let share = spec.among(programs, &sm).map_err(|e| e.to_string())?;
        Ok(share.expect("it needs no look at the programs"))
    }

    #[test]
    fn spatial_sharing_gives_every_sm_to_one_program() {
        assert_eq!([0, 1, 2, 3].map(|slot| sms_of(slot, 4, 15)), [0..4, 4..8, 8..12, 12..15]);
        for (programs, sms) in [(2, 15), (3, 16), (4, 4)] {
            let share = Share::Spatial(programs);
            for sm in 0..sms {
                assert_eq!((0..programs).filter(|slot| share.allows(*slot, sm, sms, 0)).count(), 1);
            }
        }
    }

    #[test]
    fn partitions_are_limits_per_program() {
        let share = among("sm:3,5", 2).expect("valid");
        assert!(share.allows(0, 9, 15, 2) && !share.allows(0, 9, 15, 3));
        assert!(share.allows(1, 9, 15, 4) && !share.allows(1, 9, 15, 5));
    }

    #[test]
    fn mistakes_say_what_is_allowed() {
        for text in [
            "",
            "half",
            "sm:",
            "sm:3,",
            "sm:3;5",
            "sm:-1,5",
            "sm:99999999999,1",
            "smk",
            "warped-slicer:0",
            "smk-pw:x",
        ] {
            let line = text.parse::<ShareSpec>().expect_err(text).to_string();
            assert!(line.starts_with(&format!("share '{text}': must be left-over, spatial, smk-p, ")));
        }
        let lines = [among("sm:3", 2), among("sm:0,5", 2), among("sm:4,5", 2), among("spatial", 16)];
        assert_eq!(
            lines.map(|line| line.expect_err("it is wrong")),
            [
                "share 'sm:3': must be as many numbers as programs, which are 2",
                "share 'sm:0,5': must be 1 CTA or more of each program, and 8 in all, which an SM holds",
                "share 'sm:4,5': must be 1 CTA or more of each program, and 8 in all, which an SM holds",
                "share 'spatial': must be a program per SM at most: 16 programs, 15 SMs",
            ]
        );
    }
}
