"""The footer of Parquet files says the same in Python as in pyarrow."""

import io

import pyarrow
import pyarrow.parquet
import pytest

from manylabel.data.parquet import column_parts


@pytest.mark.parametrize("rows", [0, 1, 1000])
@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_figures_of_columns_are_those_of_pyarrow(rows: int, compression: str) -> None:
    columns = {
        "text": [f"word {n}" for n in range(rows)],
        "labels": [["a"] * (n % 40) for n in range(rows)],
        "flag": [n % 2 == 0 for n in range(rows)],
        "number": [n / 3 for n in range(rows)],
        **{f"column {n}": list(range(rows)) for n in range(20)},
    }
    types = [pyarrow.string(), pyarrow.list_(pyarrow.string()), pyarrow.bool_(), pyarrow.float64()]
    schema = pyarrow.schema(list(zip(columns, [*types, *[pyarrow.int64()] * 20], strict=True)))
    buffer = io.BytesIO()
    table = pyarrow.table(columns, schema=schema)
    pyarrow.parquet.write_table(table, buffer, compression=compression, row_group_size=300)
    metadata = pyarrow.parquet.ParquetFile(buffer).metadata
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    parts = [group.column(number) for group in groups for number in range(metadata.num_columns)]
    found = column_parts(buffer.getvalue())
    assert [part.values for part in found] == [part.num_values for part in parts]
    assert [part.unpacked for part in found] == [part.total_uncompressed_size for part in parts]
