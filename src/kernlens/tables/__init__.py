"""From any table to the numbers that estimators want."""

from kernlens.tables.preprocessor import TablePreprocessor
from kernlens.tables.report import ColumnReport

__all__ = ["ColumnReport", "TablePreprocessor"]
