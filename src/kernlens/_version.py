"""The version of the package, for itself and for the files it writes."""

__version__ = "0.1.0"
