//! Result tables → one self-contained HTML page.
