//! Pictures → superpixel graphs.
