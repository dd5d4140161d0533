//! The slope rule, which decides whether to make another approximate pass.

/// Time on the run's clock (any unit) and the dual value at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// Solver time.
    pub time: f64,
    /// F.
    pub dual: f64,
}

/// Whether the last pass (from `before` to `now`) gained enough for another one in the iteration that began at `start`:
/// its slope is at least that of the whole iteration, and F rose.
pub fn another_pass(start: Moment, before: Moment, now: Moment) -> bool {
    let gained = now.dual - before.dual;
    // Multiplied out, so that a pass that gained in no measurable time goes on.
    gained > 0.0 && gained * (now.time - start.time) >= (now.dual - start.dual) * (now.time - before.time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_slopes() {
        let at = |time, dual| Moment { time, dual };
        assert!(another_pass(at(0.0, 0.0), at(10.0, 1.0), at(11.0, 1.5)));
        assert!(!another_pass(at(0.0, 0.0), at(10.0, 1.0), at(11.0, 1.05)));
        assert!(!another_pass(at(0.0, 0.0), at(10.0, 1.0), at(10.5, 1.0)));
        assert!(another_pass(at(0.0, 0.0), at(10.0, 1.0), at(10.0, 1.1)));
    }
}
