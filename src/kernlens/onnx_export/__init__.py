"""Predictions as graphs of ONNX: one file per family, all written with :mod:`.graph`.

The package onnx is imported when a model is exported, and by nothing else.
"""

from kernlens.onnx_export.export import to_onnx

__all__ = ["to_onnx"]
