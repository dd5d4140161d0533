//! A digest of Rust sources by their tokens: comments, documentation, formatting and tests do not change it.
//!
//! `build.rs` makes the code version of a run's identity from it; `tests/suite/code_version.rs` tests it.

use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// FNV-1a (Fowler, Noll, Vo), 64 bits.
pub struct Digest(pub u64);

impl Digest {
    /// Of nothing.
    pub fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Adds a file by its name and content. What is not Rust is hashed by its bytes.
    pub fn add(&mut self, name: &str, content: &str) {
        self.word(name);
        let tokens: Option<TokenStream> = if Path::new(name).extension().is_some_and(|extension| extension == "rs") {
            content.parse().ok()
        } else {
            None
        };
        match tokens {
            Some(tokens) => self.tokens(tokens),
            None => self.word(&content.replace('\r', "")),
        }
    }

    fn tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            match attribute(&tokens[at..]) {
                Some((length, Attribute::Documentation)) => at += length,
                Some((length, Attribute::Test)) => at += length + item_length(&tokens[at + length..]),
                _ => {
                    self.token(token, at + 1 == tokens.len());
                    at += 1;
                }
            }
        }
    }

    fn token(&mut self, token: &TokenTree, last: bool) {
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                self.word(open);
                self.tokens(group.stream());
                self.word(close);
            }
            // rustfmt adds a comma where it breaks a list.
            TokenTree::Punct(punct) if last && punct.as_char() == ',' => {}
            other => self.word(&other.to_string()),
        }
    }

    fn word(&mut self, text: &str) {
        for byte in text.bytes().chain([0]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

enum Attribute {
    /// `#[doc = …]`, which is also what a documentation comment is.
    Documentation,
    /// `#[cfg(test)]`.
    Test,
}

/// The attribute that these tokens begin with, if it is one that does not count, and its length.
fn attribute(tokens: &[TokenTree]) -> Option<(usize, Attribute)> {
    let is = |at: usize, wanted: char| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == wanted);
    if !is(0, '#') {
        return None;
    }
    let at = if is(1, '!') { 2 } else { 1 };
    let Some(TokenTree::Group(group)) = tokens.get(at) else { return None };
    let text: String = group.stream().to_string().split_whitespace().collect();
    match text.as_str() {
        "cfg(test)" => Some((at + 1, Attribute::Test)),
        text if text.starts_with("doc=") => Some((at + 1, Attribute::Documentation)),
        _ => None,
    }
}

/// Tokens up to the end of an item: its first braces or semicolon.
fn item_length(tokens: &[TokenTree]) -> usize {
    let ends = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(punct) => punct.as_char() == ';',
        _ => false,
    };
    tokens.iter().position(ends).map_or(tokens.len(), |at| at + 1)
}
