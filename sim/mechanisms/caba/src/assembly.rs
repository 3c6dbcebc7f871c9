//! The assembly of assist-warp routines: one instruction per line, with comments after `;`.
//!
//! ```text
//! [second] [every] [@[!]pN] operation[.bytes] operand, operand, ...
//! ```
use super::instruction::{AssistOp, Instruction, PREDICATES, REGISTERS, TABLE_WORDS, WIDE_REGISTERS};

/// The error of a line that is not an instruction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: `{text}` is no instruction of an assist warp: {why}")]
pub struct BadLine {
    /// Number of the line, from 1 on.
    pub line: usize,
    /// The line.
    pub text: String,
    /// The cause.
    pub why: &'static str,
}

/// Returns the instructions of a text.
///
/// # Errors
/// The first line that is not an instruction.
pub fn assemble(text: &str) -> Result<Vec<Instruction>, BadLine> {
    let lines = text.lines().enumerate();
    let code = lines.map(|(index, line)| (index + 1, line.split(';').next().unwrap_or("").trim()));
    code.filter(|(_, text)| !text.is_empty())
        .map(|(line, text)| parse(text).map_err(|why| BadLine { line, text: text.into(), why }))
        .collect()
}

fn parse(text: &str) -> Result<Instruction, &'static str> {
    let (second, text) = flag(text, "second ");
    let (every, text) = flag(text, "every ");
    let (guard, rest) = match text.strip_prefix('@') {
        Some(guarded) => guarded.split_once(' ').ok_or("nothing follows the guard")?,
        None => ("p0", text),
    };
    let (inverted, guard) = match guard.strip_prefix('!') {
        Some(guard) => (true, guard),
        None => (false, guard),
    };
    let (name, operands) = rest.trim().split_once(' ').unwrap_or((rest.trim(), ""));
    let (name, bytes) = name.split_once('.').unwrap_or((name, ""));
    let op = AssistOp::named(name).ok_or("there is no such operation")?;
    let bytes = match (op.has_bytes(), bytes) {
        (true, "1") => 1,
        (true, "2") => 2,
        (true, "4") => 4,
        (true, "8") | (false, "") => 8,
        _ => return Err("bytes are 1, 2, 4 or 8, where the operation looks at bytes"),
    };
    let guard = number(guard, 'p', PREDICATES)?;
    let mut instruction = Instruction { guard, inverted, every, second, bytes, ..Instruction::new(op) };
    let operands: Vec<&str> = operands.split(',').map(str::trim).collect();
    if operands.len() != op.operands().len() {
        return Err("the operation has another number of operands");
    }
    for (kind, text) in op.operands().chars().zip(operands) {
        match kind {
            'd' => instruction.dest = number(text, 'r', REGISTERS)?,
            'f' => instruction.dest = first_of_four(text)?,
            'g' => instruction.a = first_of_four(text)?,
            'D' => instruction.dest = number(text, 'p', PREDICATES - 1)?,
            'a' => instruction.a = number(text, 'r', REGISTERS)?,
            'b' => instruction.b = number(text, 'r', REGISTERS)?,
            'p' => instruction.p = number(text, 'p', PREDICATES)?,
            'w' => [instruction.at, instruction.step] = wide(text)?,
            'i' => instruction.at = text.parse().map_err(|_| "a constant is 0 to 255")?,
            _ => instruction.step = text.parse().map_err(|_| "a constant is 0 to 255")?,
        }
    }
    Ok(instruction)
}

/// Returns whether `text` begins with `word`, and the text without it.
fn flag<'a>(text: &'a str, word: &str) -> (bool, &'a str) {
    text.strip_prefix(word).map_or((false, text), |rest| (true, rest))
}

/// Parses the first of four 32-bit registers and returns its number.
fn first_of_four(text: &str) -> Result<u8, &'static str> {
    let first = number(text, 'r', REGISTERS)?;
    let is_one = (WIDE_REGISTERS..=REGISTERS - TABLE_WORDS as u8).contains(&first);
    if is_one { Ok(first) } else { Err("the first of four registers is r4 to r12") }
}

/// Parses a 16-bit constant and returns its bytes, the low one first.
fn wide(text: &str) -> Result<[u8; 2], &'static str> {
    let digits = text.strip_prefix("0x").and_then(|digits| u16::from_str_radix(digits, 16).ok());
    digits.map(u16::to_le_bytes).ok_or("a constant of 16 bits is 0x0000 to 0xffff")
}

/// Parses a register or predicate and returns its number.
fn number(text: &str, letter: char, count: u8) -> Result<u8, &'static str> {
    let number = text.strip_prefix(letter).and_then(|digits| digits.parse::<u8>().ok());
    number.filter(|number| *number < count).ok_or("registers are r0 to r15, predicates p0 to p7")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_survives_text_and_word() {
        let text = "addr r11\nli r4, 7\nldu.8 r0, 16, 8\nlds.2 r5, 10, 1\n@p6 st.1 r5, 10, 1\nadd r0, r1, r2\n\
                    @!p1 sub r0, r1, r2\nmov r4, r0\nsext.1 r0, r1\neq.8 p1, r0, r1\neqor.4 p2, r4, r5, p1\n\
                    eqand.2 p3, r4, r5, p7\nbit p1, r0, 32\nballot r0, p1, 32\nnobal r0, p2, 0\nor r0, r1, r2\n\
                    ffs r4, r0\nshfl r4, r5, r6, 32\nall p6, p2\n@p6 done 3, 26\n\
                    lane r5\nlih r0, 0x8244\nshl r4, r5, 31\nshr r4, r5, 2\nsar r4, r5, 28\nshlv r4, r5, r6\n\
                    shrv r4, r0, r6\nand r4, r5, r6\nandi r4, r5, 7\nori r4, r5, 128\nxori r4, r5, 1\naddi r4, r5, 8\n\
                    mul r4, r5, r6\nmuli r4, r5, 3\nprmt r4, r5, 0x00a2\neqi p1, r4, 5\ntst p2, r4, 2\nany p3, p1\n\
                    ldx.4 r4, r5, 16\n@!p2 stx.1 r4, r5, 3\ndonev 11, r6, 3\n\
                    line r0\ngetm r4, 1\nsetm r4, 0\n@p1 pref r0, r4\npar r4, 2\n@p2 give r9, 0\nldv r8, r4\nstv r8, r4\n\
                    every @p7 ldu.8 r0, 0, 0\nsecond every st.4 r6, 0, 4\nsecond add r6, r6, r5";
        let code = assemble(text).expect("it is right");
        for (instruction, line) in code.iter().zip(text.lines()) {
            assert_eq!(instruction.to_string(), line.trim());
            assert_eq!(Instruction::decode(instruction.word()), Ok(*instruction));
        }
        assert_eq!(code.len(), 52);
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        let why = |text: &str| assemble(text).expect_err("it is wrong").to_string();
        assert!(why("; nothing\ndiv r0, r1, r2").starts_with("line 2: `div r0, r1, r2`"));
        assert!(why("ldu.3 r0, 0, 0").contains("bytes are 1, 2, 4 or 8"));
        assert!(why("add r0, r1").contains("another number of operands"));
        assert!(why("lih r4, 7").contains("0x0000 to 0xffff"));
        assert!(why("ldv r13, r4").contains("r4 to r12") && why("stv r3, r4").contains("r4 to r12"));
        assert!(why("mov r16, r0").contains("r0 to r15"));
        assert!(why("eq.8 p7, r0, r1").contains("p0 to p7"), "p7 is preset");
        assert!(Instruction::decode(0xff).is_err() && Instruction::decode(16 << 16).is_err());
    }
}
