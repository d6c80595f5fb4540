"""Prints an ops.parquet as JSON with a Parquet reader that is not ours: first
the reader's name, then [name, type, nullable] of each column, then each row."""

import json
import sys


def columns_and_rows(path):
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        import duckdb

        table = duckdb.read_parquet(path)
        words = {"BIGINT": "int64", "INTEGER": "int32", "VARCHAR": "string"}
        schema = duckdb.execute("select name, repetition_type from parquet_schema(?)", [path])
        nulls = {name: repetition == "OPTIONAL" for name, repetition in schema.fetchall()}
        columns = [[c, words[str(t)], nulls[c]] for c, t in zip(table.columns, table.types)]
        return "duckdb " + duckdb.__version__, columns, table.fetchall()
    table = pyarrow.parquet.read_table(path)
    columns = [[f.name, str(f.type), f.nullable] for f in table.schema]
    rows = zip(*(table.column(i).to_pylist() for i in range(table.num_columns)))
    return "pyarrow " + pyarrow.__version__, columns, rows


reader, columns, rows = columns_and_rows(sys.argv[1])
print(json.dumps(reader))
print(json.dumps(columns))
for row in rows:
    print(json.dumps(row))
