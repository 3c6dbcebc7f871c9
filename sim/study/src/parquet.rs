//! Tables as Parquet files: columns of integers, reals, booleans or text. Each value may be null.
use crate::row::{PointTable, cell};
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
use serde_json::Value;
use std::sync::Arc;

/// Type of the values of a column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ColumnType {
    Whole,
    Number,
    Flag,
    Text,
}

impl ColumnType {
    /// Returns the narrowest kind that holds all `values`; text if there are no values.
    fn of<'v>(values: impl Iterator<Item = &'v Value>) -> Self {
        values.map(ColumnType::of_one).reduce(ColumnType::with).unwrap_or(ColumnType::Text)
    }

    fn of_one(value: &Value) -> Self {
        match value {
            Value::Bool(_) => ColumnType::Flag,
            Value::Number(number) if number.is_i64() => ColumnType::Whole,
            Value::Number(_) => ColumnType::Number,
            _ => ColumnType::Text,
        }
    }

    fn with(self, other: Self) -> Self {
        match (self, other) {
            (one, other) if one == other => one,
            (ColumnType::Whole | ColumnType::Number, ColumnType::Whole | ColumnType::Number) => {
                ColumnType::Number
            }
            _ => ColumnType::Text,
        }
    }

    /// Returns the schema of the column called `name`.
    fn column(self, name: &str) -> Result<Type, ParquetError> {
        let physical = match self {
            ColumnType::Whole => Physical::INT64,
            ColumnType::Number => Physical::DOUBLE,
            ColumnType::Flag => Physical::BOOLEAN,
            ColumnType::Text => Physical::BYTE_ARRAY,
        };
        let text = (self == ColumnType::Text).then_some(LogicalType::String);
        let column = Type::primitive_type_builder(name, physical);
        column.with_repetition(Repetition::OPTIONAL).with_logical_type(text).build()
    }
}

impl PointTable {
    /// Returns the table as a Parquet file.
    ///
    /// # Errors
    /// Two columns have the same name.
    pub fn parquet(&self) -> Result<Vec<u8>, ParquetError> {
        let values = |at: usize| self.rows.iter().map(move |row| &row[at]).filter(|value| !value.is_null());
        let kinds: Vec<ColumnType> = (0..self.columns.len()).map(|at| ColumnType::of(values(at))).collect();
        let columns = self.columns.iter().zip(&kinds).map(|(name, kind)| kind.column(name).map(Arc::new));
        let fields = columns.collect::<Result<Vec<_>, _>>()?;
        let schema = Type::group_type_builder("results").with_fields(fields).build()?;
        let writer = concat!("selvedge ", env!("CARGO_PKG_VERSION"));
        let properties = WriterProperties::builder().set_created_by(writer.into()).build();
        let mut file = Vec::new();
        let mut to = SerializedFileWriter::new(&mut file, Arc::new(schema), Arc::new(properties))?;
        let mut group = to.next_row_group()?;
        let mut at = 0;
        while let Some(column) = group.next_column()? {
            let there: Vec<i16> = self.rows.iter().map(|row| i16::from(!row[at].is_null())).collect();
            let whole = |value: &Value| value.as_i64().unwrap_or_default();
            let number = |value: &Value| value.as_f64().unwrap_or_default();
            let flag = |value: &Value| value.as_bool().unwrap_or_default();
            let text = |value: &Value| ByteArray::from(cell(value).into_bytes());
            match kinds[at] {
                ColumnType::Whole => write::<Int64Type>(column, values(at).map(whole).collect(), &there),
                ColumnType::Number => write::<DoubleType>(column, values(at).map(number).collect(), &there),
                ColumnType::Flag => write::<BoolType>(column, values(at).map(flag).collect(), &there),
                ColumnType::Text => write::<ByteArrayType>(column, values(at).map(text).collect(), &there),
            }?;
            at += 1;
        }
        group.close()?;
        to.close()?;
        Ok(file)
    }
}

/// Writes the values of a column. `there` has an item for each row: 1 if the row has a value, else 0.
fn write<T: DataType>(
    mut column: SerializedColumnWriter,
    values: Vec<T::T>,
    there: &[i16],
) -> Result<(), ParquetError> {
    column.typed::<T>().write_batch(&values, Some(there), None)?;
    column.close()
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    /// Reads a table back, with each cell formatted as in CSV.
    fn read_back(file: Vec<u8>) -> Vec<Vec<String>> {
        let reader = SerializedFileReader::new(bytes::Bytes::from(file)).expect("a Parquet file");
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let mut rows = vec![schema.columns().iter().map(|column| column.name().to_owned()).collect()];
        for row in reader.get_row_iter(None).expect("rows") {
            let row = row.expect("a row");
            let cell = |field: &Field| match field {
                Field::Null => String::new(),
                Field::Str(text) => text.clone(),
                Field::Double(number) => Value::from(*number).to_string(),
                Field::Long(whole) => whole.to_string(),
                Field::Bool(flag) => flag.to_string(),
                other => panic!("{other:?}"),
            };
            rows.push(row.get_column_iter().map(|(_, field)| cell(field)).collect());
        }
        rows
    }

    #[test]
    fn what_is_read_back_is_what_csv_has() {
        let null = Value::Null;
        let table = PointTable {
            columns: ["workload", "totals.cycles", "totals.ipc", "alone", "mixed", "empty"]
                .map(String::from)
                .into(),
            rows: vec![
                vec!["bfs, a".into(), 7.into(), 0.1.into(), true.into(), 1.into(), null.clone()],
                vec![
                    "kmeans".into(),
                    null.clone(),
                    (1.0 / 3.0).into(),
                    false.into(),
                    "x".into(),
                    null.clone(),
                ],
                vec![null.clone(), u32::MAX.into(), null.clone(), null.clone(), null.clone(), null],
            ],
        };
        let text = table.csv();
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
        let expected: Vec<Vec<String>> =
            reader.records().map(|row| row.expect("a row").iter().map(String::from).collect()).collect();
        assert_eq!(read_back(table.parquet().expect("written")), expected);
    }

    #[test]
    fn a_table_without_rows_has_its_columns() {
        let table = PointTable { columns: vec!["a".into()], rows: Vec::new() };
        assert_eq!(read_back(table.parquet().expect("written")), [["a"]]);
    }
}
