//! Formats messages as C's `printf` does.

/// Argument type of a conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArgumentType {
    /// An `int`, or a smaller type promoted to it.
    Word,
    /// A `long`, a pointer or a `double`.
    Double,
    /// The address of a string.
    Text,
}

impl ArgumentType {
    /// Returns the size and alignment in bytes.
    pub(crate) fn bytes(self) -> usize {
        if self == Self::Word { 4 } else { 8 }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PrintedValue {
    Bits(u64),
    Text(String),
}

/// One conversion: flags, width, precision and letter.
#[derive(Debug, Clone, Default)]
struct Conversion {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    /// Count of `l` minus count of `h`.
    length: i32,
}

/// Max field width, and max digits of a fraction. Larger values are clamped.
const MAX_WIDTH: usize = 4096;

/// Formats `format` with the arguments that `next` returns. Invalid conversions are copied unchanged.
///
/// # Errors
/// Returns the errors of `next`.
pub(crate) fn format<E>(
    format: &str,
    mut next: impl FnMut(ArgumentType) -> Result<PrintedValue, E>,
) -> Result<String, E> {
    let mut out = String::new();
    let mut rest = format;
    while let Some(percent) = rest.find('%') {
        out.push_str(&rest[..percent]);
        rest = &rest[percent..];
        let mut characters = rest[1..].chars().peekable();
        let mut conversion = Conversion::default();
        while let Some(&flag) = characters.peek() {
            match flag {
                '-' => conversion.left = true,
                '+' => conversion.plus = true,
                ' ' => conversion.space = true,
                '#' => conversion.alternate = true,
                '0' => conversion.zero = true,
                _ => break,
            }
            characters.next();
        }
        if let Some(width) = number(&mut characters, &mut next)? {
            conversion.left |= width < 0;
            conversion.width = width.unsigned_abs() as usize;
        }
        if characters.next_if_eq(&'.').is_some() {
            let precision = number(&mut characters, &mut next)?.unwrap_or(0);
            conversion.precision = usize::try_from(precision).ok();
        }
        while let Some(length) = characters.next_if(|c| matches!(c, 'l' | 'h' | 'j' | 'z' | 't' | 'L')) {
            conversion.length += if length == 'h' { -1 } else { 1 };
        }
        let letter = characters.next();
        let used = rest.len() - characters.map(char::len_utf8).sum::<usize>();
        match letter {
            Some('%') => out.push('%'),
            Some(letter) if "diuoxXcpfFeEgGaAs".contains(letter) => {
                conversion.write(&mut out, letter, next(conversion.argument(letter))?);
            }
            _ => out.push_str(&rest[..used]),
        }
        rest = &rest[used..];
    }
    out.push_str(rest);
    Ok(out)
}

/// Parses a width or precision: digits, or `*` for an argument.
fn number<E>(
    characters: &mut std::iter::Peekable<std::str::Chars>,
    next: &mut impl FnMut(ArgumentType) -> Result<PrintedValue, E>,
) -> Result<Option<i32>, E> {
    let most = MAX_WIDTH as i32;
    if characters.next_if_eq(&'*').is_some() {
        return Ok(match next(ArgumentType::Word)? {
            PrintedValue::Bits(bits) => Some((bits as i32).clamp(-most, most)),
            PrintedValue::Text(_) => None,
        });
    }
    let mut value = None;
    while let Some(digit) = characters.peek().and_then(|c| c.to_digit(10)) {
        value = Some((value.unwrap_or(0) * 10 + digit as i32).min(most));
        characters.next();
    }
    Ok(value)
}

impl Conversion {
    fn argument(&self, letter: char) -> ArgumentType {
        match letter {
            's' => ArgumentType::Text,
            'p' | 'f' | 'F' | 'e' | 'E' | 'g' | 'G' | 'a' | 'A' => ArgumentType::Double,
            _ if self.length > 0 => ArgumentType::Double,
            _ => ArgumentType::Word,
        }
    }

    fn write(&self, out: &mut String, letter: char, value: PrintedValue) {
        let bits = match value {
            PrintedValue::Text(text) => {
                let kept = self.precision.unwrap_or(usize::MAX);
                return self.pad(out, "", &text.chars().take(kept).collect::<String>(), false);
            }
            PrintedValue::Bits(bits) => bits,
        };
        match letter {
            'c' => self.pad(out, "", &char::from(bits as u8).to_string(), false),
            'p' => self.pad(out, "0x", &format!("{bits:x}"), false),
            'd' | 'i' => {
                let value = self.signed(bits);
                self.integer(out, self.sign(value < 0), &value.unsigned_abs().to_string());
            }
            'u' => self.integer(out, "", &self.unsigned(bits).to_string()),
            'o' => self.integer(
                out,
                if self.alternate { "0" } else { "" },
                &format!("{:o}", self.unsigned(bits)),
            ),
            'x' | 'X' => {
                let value = self.unsigned(bits);
                let (prefix, digits) =
                    if letter == 'x' { ("0x", format!("{value:x}")) } else { ("0X", format!("{value:X}")) };
                self.integer(out, if self.alternate && value != 0 { prefix } else { "" }, &digits);
            }
            _ => self.float(out, letter, f64::from_bits(bits)),
        }
    }

    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        }
    }

    fn unused_bits(&self) -> u32 {
        match self.length {
            1.. => 0,
            0 => 32,
            -1 => 48,
            _ => 56,
        }
    }

    fn signed(&self, bits: u64) -> i64 {
        (bits << self.unused_bits()) as i64 >> self.unused_bits()
    }

    fn unsigned(&self, bits: u64) -> u64 {
        bits << self.unused_bits() >> self.unused_bits()
    }

    /// Appends an integer with at least `precision` digits. A precision disables zero padding.
    fn integer(&self, out: &mut String, prefix: &str, digits: &str) {
        let Some(precision) = self.precision else { return self.pad(out, prefix, digits, self.zero) };
        let digits = if precision == 0 && digits == "0" { "" } else { digits };
        self.pad(out, prefix, &format!("{digits:0>precision$}"), false);
    }

    fn pad(&self, out: &mut String, prefix: &str, text: &str, zeros: bool) {
        let missing = self.width.saturating_sub(prefix.chars().count() + text.chars().count());
        let blanks = |count| " ".repeat(count);
        if self.left {
            out.push_str(&format!("{prefix}{text}{}", blanks(missing)));
        } else if zeros {
            out.push_str(&format!("{prefix}{}{text}", "0".repeat(missing)));
        } else {
            out.push_str(&format!("{}{prefix}{text}", blanks(missing)));
        }
    }

    fn float(&self, out: &mut String, letter: char, value: f64) {
        let sign = self.sign(value.is_sign_negative() && !value.is_nan());
        let magnitude = value.abs();
        let text = if value.is_nan() {
            "nan".to_owned()
        } else if value.is_infinite() {
            "inf".to_owned()
        } else {
            match letter.to_ascii_lowercase() {
                'f' => format!("{magnitude:.*}", self.precision.unwrap_or(6)),
                'e' => exponential(magnitude, self.precision.unwrap_or(6)),
                'g' => self.general(magnitude),
                _ => self.hexadecimal(magnitude),
            }
        };
        let text = if letter.is_ascii_uppercase() { text.to_ascii_uppercase() } else { text };
        self.pad(out, sign, &text, self.zero && value.is_finite());
    }

    /// `%g`: prints `precision` significant digits in the shorter of the two notations.
    fn general(&self, magnitude: f64) -> String {
        let digits = self.precision.unwrap_or(6).max(1);
        let scientific = exponential(magnitude, digits - 1);
        let exponent: i32 = scientific.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
        let trim = |text: &str| match text.contains('.') && !self.alternate {
            true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
            false => text.to_owned(),
        };
        if exponent < -4 || exponent >= digits as i32 {
            let (mantissa, tail) = scientific.split_at(scientific.find('e').unwrap_or(scientific.len()));
            return trim(mantissa) + tail;
        }
        trim(&format!("{magnitude:.*}", (digits as i32 - 1 - exponent).max(0) as usize))
    }

    /// `%a`: prints an exact hexadecimal number. A precision truncates or extends its fraction.
    fn hexadecimal(&self, magnitude: f64) -> String {
        let bits = magnitude.to_bits();
        let (exponent, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
        let (lead, exponent) = match (exponent, fraction) {
            (0, 0) => (0, 0),
            (0, _) => (0, -1022),
            _ => (1, exponent - 1023),
        };
        let digits = format!("{fraction:013x}");
        let digits = match self.precision {
            Some(precision) => format!("{digits:0<precision$}")[..precision].to_owned(),
            None => digits.trim_end_matches('0').to_owned(),
        };
        let point = if digits.is_empty() { "" } else { "." };
        format!("0x{lead}{point}{digits}p{exponent:+}")
    }
}

/// `%e`: prints the exponent with its sign and at least two digits.
fn exponential(magnitude: f64, precision: usize) -> String {
    let text = format!("{magnitude:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}
