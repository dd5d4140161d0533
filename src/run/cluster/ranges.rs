//! Numbers ↔ `1-3,7`, as job arrays write their indices.

/// Numbers in rising order as ranges.
pub fn text(numbers: &[usize]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let one =
        |(first, last): &(usize, usize)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    runs.iter().map(one).collect::<Vec<_>>().join(",")
}

/// Most numbers of a text; more than any queue has indices.
const MOST: usize = 5_000_000;

/// The numbers of a text such as `1-3,7,10-20:5%4`; `None` when it was cut (`…`) or is something else.
pub fn numbers(text: &str) -> Option<Vec<usize>> {
    let text = text.split('%').next()?.trim().trim_start_matches('[').trim_end_matches(']');
    let mut all = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (range, step) = part.split_once(':').unwrap_or((part, "1"));
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let number = |text: &str| text.parse::<usize>().ok();
        let (first, last, step) = (number(first)?, number(last)?, number(step)?);
        if step == 0 || last < first || (last - first) / step >= MOST - all.len() {
            return None;
        }
        all.extend((first..=last).step_by(step));
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_there_and_back() {
        assert_eq!(text(&[1, 2, 3, 7, 9, 10]), "1-3,7,9-10");
        assert_eq!(text(&[]), "");
        assert_eq!(numbers("1-3,7,9-10"), Some(vec![1, 2, 3, 7, 9, 10]));
        assert_eq!(numbers("[4-6%2]"), Some(vec![4, 5, 6]));
        assert_eq!(numbers("0-10:5"), Some(vec![0, 5, 10]));
        assert_eq!(numbers(""), Some(vec![]));
        for cut in ["1,3,5,...", "1-", "a", "5-1", "1-9:0", "0-99999999999"] {
            assert_eq!(numbers(cut), None, "{cut}");
        }
    }
}
