//! Suggestions for misspelt names.

/// `; did you mean …?`, or nothing when no candidate is near.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    const NEAR: f64 = 0.4;
    let length = word.chars().count();
    // At least as many edits are needed as the lengths differ, so a far longer word needs no table of edits.
    let may_be_near = |name: &&str| name.chars().count() as f64 >= NEAR * length as f64;
    let score =
        |candidate: &str| strsim::normalized_damerau_levenshtein(&word.to_lowercase(), &candidate.to_lowercase());
    let candidates = candidates.into_iter().filter(may_be_near);
    let best = candidates.map(|name| (score(name), name)).max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(score, _)| *score >= NEAR).map_or(String::new(), |(_, name)| format!("; did you mean '{name}'?"))
}
