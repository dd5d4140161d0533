//! The slope rule: whether to make another approximate pass.

/// Time on the run's clock (any unit) and the dual value at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// Solver time.
    pub time: f64,
    /// F.
    pub dual: f64,
}

/// Whether the last pass (from `before` to `now`) gained enough to deserve a successor in the iteration that began at
/// `start`: its slope is not below the slope of the whole iteration, and it gained something.
pub fn another_pass(start: Moment, before: Moment, now: Moment) -> bool {
    let gained = now.dual - before.dual;
    // Multiplied out: a pass that took no measurable time but gained goes on.
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
