//! The subject of a claim: one data set of a view. Builds the rows that every check returns.

use super::rows::ClaimRow;
use super::thresholds::{Bar, Bars};
use super::{Claim, Reason, Verdict};
use crate::study::align::End;
use crate::study::curve::Curve;
use crate::study::profile::ProfileRow;
use crate::study::{Series, View};
use ssvm::problem::Paper;

/// T of the paper, and the default of the solvers.
const PAPER_LIFETIME: u64 = 10;

pub(super) struct Subject<'a> {
    pub(super) view: &'a View,
    /// Whether the view is that of the paper's regime.
    pub(super) in_regime: bool,
    pub(super) profile: &'a [ProfileRow],
    pub(super) bars: &'a Bars,
    pub(super) row: &'static ClaimRow,
    pub(super) dataset: &'a str,
    /// `None` for a data set that the paper does not have.
    pub(super) paper: Option<Paper>,
}

impl Subject<'_> {
    pub(super) fn row(&self, solver: &str, claim: String, evidence: &str) -> Claim {
        let of_paper = |paper: Paper| self.row.paper[paper as usize];
        Claim {
            number: self.row.number,
            part: self.row.part,
            dataset: self.dataset.to_owned(),
            title: self.view.title(self.dataset).to_owned(),
            solver: solver.to_owned(),
            other: None,
            claim,
            paper: self.paper.map_or(super::NOT_OF_PAPER, of_paper).to_owned(),
            measured: "–".to_owned(),
            estimate: None,
            verdict: Verdict::NotMeasured,
            reason: None,
            circular: false,
            evidence: evidence.to_owned(),
            regime: None,
        }
    }

    pub(super) fn settings(&self, dataset: &str, solver: &str) -> Vec<usize> {
        let of_solver =
            |s: &usize| self.view.series[*s].solver == solver && self.view.curves(*s).iter().any(Curve::is_evaluated);
        self.view.series_of(dataset).filter(of_solver).collect()
    }

    /// Pairs of series to compare: for every setting of the multi-plane solver, the settings of the other solver from the same
    /// environment that have most else in common with it.
    pub(super) fn pairs(&self, dataset: &str, single: &str, multi: &str) -> Vec<[usize; 2]> {
        let singles = self.settings(dataset, single);
        let partners = |b: usize| self.view.partners(b, &singles).into_iter().map(move |a| [a, b]);
        self.settings(dataset, multi).into_iter().flat_map(partners).collect()
    }

    /// One row per setting of a solver, or one row with the reason why none exists. `claim` is the statement about the solver.
    pub(super) fn each_setting(
        &self,
        solver: &str,
        claim: &str,
        missing: &str,
        judge: impl Fn(usize, Claim) -> Claim,
    ) -> Vec<Claim> {
        let row = |label: &str, evidence: &str| self.row(label, format!("{claim} of {label}"), evidence);
        let settings = self.settings(self.dataset, solver);
        if settings.is_empty() {
            return vec![row(solver, missing)];
        }
        let judged = |at: usize| {
            let claim = judge(at, row(&self.view.series[at].label, ""));
            match common_end(self.view.curves(at)) {
                Some(present) if self.view.series[at].lifetime.is_some() => self.long_enough(&[at], present, claim),
                _ => claim,
            }
        };
        settings.into_iter().map(judged).collect()
    }

    /// Makes a verdict undecided if the runs are shorter than the claim needs: several lifetimes of a plane, in iterations of the
    /// shortest run of the series.
    pub(super) fn long_enough(&self, series: &[usize], present: f64, claim: Claim) -> Claim {
        let lifetimes = series.iter().filter_map(|at| self.view.series[*at].lifetime);
        let lifetime = lifetimes.max().unwrap_or(PAPER_LIFETIME);
        // With a lifetime below the paper's, the paper's still counts: two iterations show no development.
        let needed = self.bars[Bar::Lifetimes] * lifetime.max(PAPER_LIFETIME) as f64;
        if !self.row.lifetimes || present >= needed || claim.verdict == Verdict::NotMeasured {
            return claim;
        }
        let reason = Reason::TooShort { needed: needed as u64, present: present as u64 };
        let evidence = format!("{}; undecided: {} (T = {lifetime})", claim.evidence, reason.text());
        Claim { verdict: Verdict::Undecided, reason: Some(reason), evidence, ..claim }
    }

    /// One row per pair of settings of the solvers that the paper compares, or one row with the reason why none exists. `claim` is
    /// called with the multi-plane solver and the other.
    pub(super) fn each_pair(
        &self,
        claim: impl Fn(&str, &str) -> String,
        judge: impl Fn([usize; 2], Claim) -> Claim,
    ) -> Vec<Claim> {
        let mut claims = Vec::new();
        for (single, multi) in &self.view.pairs {
            let pairs = self.pairs(self.dataset, single, multi);
            if pairs.is_empty() {
                let missing = [single, multi].iter().any(|solver| self.settings(self.dataset, solver).is_empty());
                let why = if missing {
                    "runs of both solvers are needed"
                } else {
                    "no runs of both solvers with the same clock, host, number of jobs and build"
                };
                let row = self.row(multi, claim(multi, single), why);
                claims.push(Claim { other: Some(single.clone()), ..row });
            }
            for pair in pairs {
                let [one, other] = pair.map(|at| self.view.series[at].label.as_str());
                let row = self.row(other, claim(other, one), "");
                claims.push(judge(pair, Claim { other: Some(one.to_owned()), ..row }));
            }
        }
        claims
    }

    pub(super) fn failures(&self, series: &[usize]) -> String {
        let sum = |count: fn(&Series) -> usize| series.iter().map(|s| count(&self.view.series[*s])).sum();
        match (sum(|series| series.failed), sum(|series| series.censored)) {
            (0usize, _) => String::new(),
            (failed, 0usize) => format!("; {failed} failed"),
            (failed, censored) => format!("; {failed} failed, {censored} of them counted as far as they went"),
        }
    }
}

/// The last iteration that all runs of a series have; only failed runs may be shorter, unless all failed.
pub(super) fn common_end<'c>(curves: impl IntoIterator<Item = &'c Curve>) -> Option<f64> {
    let ends: Vec<(End, f64)> =
        curves.into_iter().filter_map(|curve| curve.range().map(|(_, last)| (curve.end, last))).collect();
    let sound = ends.iter().filter(|(end, _)| matches!(end, End::Budget | End::Gap)).map(|(_, last)| *last);
    sound.reduce(f64::min).or_else(|| ends.iter().map(|(_, last)| *last).reduce(f64::min))
}
