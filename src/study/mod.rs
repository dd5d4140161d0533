//! Records → curves, bounds, bands and paired comparisons; claims, league and break-even are functions of these.

pub mod claims;
pub mod estimate;
pub mod frame;
pub mod league;
pub mod price;
