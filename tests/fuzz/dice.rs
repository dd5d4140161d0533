//! Random numbers, and bytes changed the way fuzzers do it.

/// Seeded numbers.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    pub fn once_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }

    pub fn pick<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }

    /// A whole number that programs trip over, or a small one.
    pub fn whole(&mut self) -> u64 {
        const ODD: [u64; 16] = [
            0,
            1,
            2,
            127,
            128,
            255,
            256,
            65535,
            65536,
            (1 << 31) - 1,
            1 << 31,
            u32::MAX as u64,
            1 << 53,
            i64::MAX as u64,
            1 << 63,
            u64::MAX,
        ];
        if self.once_in(3) { ODD[self.below(ODD.len())] } else { self.below(12) as u64 }
    }

    /// A number as a user might write it.
    pub fn number(&mut self) -> String {
        const ODD: [&str; 14] = [
            "nan", "inf", "-inf", "1e400", "-1e400", "1e-400", "-0", "1e60", "1e61", "0x10", "1_000", "+5", "1e5", "٣",
        ];
        match self.below(5) {
            0 => ODD[self.below(ODD.len())].to_owned(),
            1 => self.whole().to_string(),
            2 => format!("-{}", self.whole()),
            3 => format!("{}.{}", self.below(100), self.below(1000)),
            _ => self.below(10).to_string(),
        }
    }

    /// Text with what breaks parsers in it.
    pub fn word(&mut self) -> String {
        const PARTS: [&str; 24] = [
            "usps-synth",
            "fw",
            "bcfw",
            "mp-bcfw",
            "n=",
            "size=",
            ":",
            ",",
            "/",
            "..",
            "*",
            "?",
            "\u{1b}[2J",
            "\u{0}",
            "é",
            "\u{202e}",
            "'",
            "\\\"",
            "<script>",
            "{{data}}",
            " ",
            "a",
            "0",
            "ocr-synth:n=3",
        ];
        (0..self.below(5)).map(|_| PARTS[self.below(PARTS.len())]).collect()
    }
}

/// A few changes: bits, bytes, numbers of two to eight bytes, pieces cut, doubled, moved.
pub fn mutate(dice: &mut Dice, mut bytes: Vec<u8>) -> Vec<u8> {
    for _ in 0..=dice.below(4) {
        if bytes.is_empty() {
            bytes.push(dice.next() as u8);
            continue;
        }
        let at = dice.below(bytes.len());
        let end = (at + 1 + dice.below(16)).min(bytes.len());
        match dice.below(8) {
            0 => bytes[at] ^= 1 << dice.below(8),
            1 => bytes[at] = dice.next() as u8,
            2 => {
                let number = dice.whole().to_le_bytes();
                let width = [1, 2, 4, 8][dice.below(4)].min(bytes.len() - at);
                bytes[at..at + width].copy_from_slice(&number[..width]);
            }
            3 => {
                let number = dice.whole().to_be_bytes();
                let width = [2, 4, 8][dice.below(3)].min(bytes.len() - at);
                bytes[at..at + width].copy_from_slice(&number[8 - width..]);
            }
            4 => drop(bytes.drain(at..end)),
            5 => {
                let piece = bytes[at..end].to_vec();
                let to = dice.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            6 => bytes.truncate(at),
            _ => {
                let text = dice.number();
                bytes.splice(at..at, text.bytes());
            }
        }
    }
    bytes
}
