//! Words as sequences of binary letter pictures: the data of the chain family.

/// Letters a–z.
pub const LETTERS: usize = 26;
/// Pixels of one picture.
pub const PIXELS: usize = 128;

/// Length of the joint feature vector: letter blocks and transitions.
pub const WEIGHTS: usize = PIXELS * LETTERS + LETTERS * LETTERS;

/// n words, concatenated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LetterData {
    /// Bit p of a mask is pixel p of the picture at that position.
    pub pixels: Vec<u128>,
    /// Letter 0..26 at each position.
    pub labels: Vec<u8>,
    /// n + 1 offsets into positions.
    pub offsets: Vec<usize>,
}

impl LetterData {
    /// Number of words n.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are no words.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Positions of word i.
    #[inline]
    pub fn range(&self, i: usize) -> std::ops::Range<usize> {
        self.offsets[i]..self.offsets[i + 1]
    }
}
