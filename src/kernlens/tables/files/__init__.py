"""Tables from files, whole or block by block: CSV, JSON lines, Parquet, Feather, gzip of them."""

from kernlens.tables.files.errors import TableFileError
from kernlens.tables.files.opening import opened_table
from kernlens.tables.files.table_file import TableFile

__all__ = ["TableFile", "TableFileError", "opened_table"]
