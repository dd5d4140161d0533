//! Trace records → Polars tables: bounds, suboptimality, alignment, bands.
