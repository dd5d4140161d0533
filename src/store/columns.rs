//! Columns ↔ the bytes of a Parquet file with one row group.

use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

pub use parquet::data_type::ByteArray;

/// One column; all columns of a file have the same number of values.
pub struct FileColumn<'a> {
    pub name: &'a str,
    /// Whether a value may be missing, as files declare it; a column without missing values may be nullable too.
    pub nullable: bool,
    pub values: Values,
}

pub enum Values {
    Text(Vec<Option<ByteArray>>),
    Whole(Vec<Option<i64>>),
    Unsigned(Vec<Option<u64>>),
    Real(Vec<Option<f64>>),
}

/// The bytes of a file with these columns and metadata.
pub fn encode(columns: Vec<FileColumn<'_>>, metadata: Vec<(&str, String)>) -> Result<Vec<u8>> {
    let field = |column: &FileColumn<'_>| -> Result<Arc<Type>> {
        let (physical, logical) = match column.values {
            Values::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Values::Whole(_) => (Physical::INT64, None),
            Values::Unsigned(_) => (Physical::INT64, Some(LogicalType::integer(64, false))),
            Values::Real(_) => (Physical::DOUBLE, None),
        };
        let repetition = if column.nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let field = Type::primitive_type_builder(column.name, physical);
        Ok(Arc::new(field.with_repetition(repetition).with_logical_type(logical).build()?))
    };
    let fields = columns.iter().map(field).collect::<Result<_>>()?;
    // The name of the root in the files of older versions.
    let schema = Arc::new(Type::group_type_builder("arrow_schema").with_fields(fields).build()?);
    let metadata = metadata.into_iter().map(|(key, value)| KeyValue::new(key.to_owned(), value)).collect();
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_key_value_metadata(Some(metadata))
        .build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for FileColumn { nullable, values, .. } in columns {
        match values {
            Values::Text(values) => write::<ByteArrayType>(&mut group, nullable, values)?,
            Values::Whole(values) => write::<Int64Type>(&mut group, nullable, values)?,
            Values::Unsigned(values) => {
                let signed = values.into_iter().map(|value| value.map(u64::cast_signed)).collect();
                write::<Int64Type>(&mut group, nullable, signed)?;
            }
            Values::Real(values) => write::<DoubleType>(&mut group, nullable, values)?,
        }
    }
    group.close()?;
    writer.into_inner()
}

/// Parquet stores only the values that exist, and for each row a level that tells whether its value exists.
fn write<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    nullable: bool,
    values: Vec<Option<T::T>>,
) -> Result<()> {
    let Some(mut column) = group.next_column()? else { return Ok(()) };
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let there: Vec<T::T> = values.into_iter().flatten().collect();
    column.typed::<T>().write_batch(&there, nullable.then_some(&levels), None)?;
    column.close()
}

/// Reads a column of numbers by its name; fails when it is missing or of another type.
pub fn read(file: &SerializedFileReader<Bytes>, name: &str) -> Result<Values> {
    let columns = file.metadata().file_metadata().schema_descr().columns();
    let index = columns.iter().position(|column| column.name() == name).ok_or_else(|| wrong(name))?;
    let (mut whole, mut real) = (Vec::new(), Vec::new());
    for group in 0..file.num_row_groups() {
        match file.get_row_group(group)?.get_column_reader(index)? {
            ColumnReader::Int64ColumnReader(column) => whole.extend(values(column)?),
            ColumnReader::DoubleColumnReader(column) => real.extend(values(column)?),
            _ => return Err(wrong(name)),
        }
    }
    Ok(if whole.is_empty() { Values::Real(real) } else { Values::Whole(whole) })
}

/// The error of a column that is not as it was written.
pub fn wrong(name: &str) -> ParquetError {
    ParquetError::General(format!("the column '{name}' is missing or has the wrong type"))
}

fn values<T: DataType>(mut column: ColumnReaderImpl<T>) -> Result<Vec<Option<T::T>>> {
    let (mut levels, mut there) = (Vec::new(), Vec::new());
    column.read_records(usize::MAX, Some(&mut levels), None, &mut there)?;
    let mut there = there.into_iter();
    // A column that is never null has no levels.
    if levels.is_empty() {
        return Ok(there.map(Some).collect());
    }
    Ok(levels.into_iter().map(|level| if level > 0 { there.next() } else { None }).collect())
}
