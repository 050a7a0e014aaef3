"""A graph of ONNX that is written down like formulas of NumPy.

Every number is in double precision; whole numbers are places, and truth values come of comparisons.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: The set of operators that graphs are written in: old enough for the runtimes that people have.
OPSET = 18
#: The version of the file format that goes with it.
IR_VERSION = 8
#: Name of the rows that a model takes.
INPUT = "X"
#: A product with a single number.
SCALED = "scaled"
#: What a file of the format can hold.
MOST_BYTES = 2**31 - 1


def onnx_module() -> Any:
    """The package that writes the format, or a sentence that says how to get it."""
    try:
        import onnx
    except ImportError as error:
        raise ImportError("to_onnx needs the package onnx: python -m pip install onnx.") from error
    return onnx


class Graph:
    """Nodes and constants, in the order in which formulas make them."""

    def __init__(self) -> None:
        self.onnx = onnx_module()
        self.nodes: list[Any] = []
        self._constants: dict[tuple[str, tuple[int, ...], bytes], str] = {}
        self.initializers: list[Any] = []
        self.n_bytes = 0
        self._operators: dict[str, str] = {}
        self._single: set[str] = set()

    def input(self) -> Tensor:
        """The rows that the model takes."""
        return Tensor(self, INPUT)

    def constant(self, value: Any) -> Tensor:
        """Numbers in double precision, whole numbers, truth values or text; equal ones once."""
        array = np.asarray(value)
        if array.dtype.kind == "f":
            array = array.astype(np.float64)
        array = np.ascontiguousarray(array).reshape(array.shape)
        text = array.dtype.kind in "UO"
        content = "\0".join(map(str, array.ravel())).encode() if text else array.tobytes()
        key = (array.dtype.str, array.shape, content)
        if key not in self._constants:
            name = f"c{len(self._constants)}"
            whole = array.astype(object) if text else array
            self.initializers.append(self.onnx.numpy_helper.from_array(whole, name))
            self._constants[key] = name
            self.n_bytes += len(content)
            if array.size == 1:
                self._single.add(name)
        return Tensor(self, self._constants[key])

    def apply(self, operator: str, *inputs: Any, **attributes: Any) -> Tensor:
        """The value of an operator of ONNX; arrays and numbers among its inputs are constants."""
        names = [self._tensor(one).name for one in inputs]
        if operator in ("Mul", "Div") and not self._single.isdisjoint(names):
            names = [self._kept_apart(name, "MatMul") for name in names]
        elif operator == "MatMul":
            names = [self._kept_apart(name, SCALED) for name in names]
        out = f"n{len(self.nodes)}"
        scaled = operator in ("Mul", "Div") and not self._single.isdisjoint(names)
        self._operators[out] = SCALED if scaled else operator
        self.nodes.append(self.onnx.helper.make_node(operator, names, [out], **attributes))
        return Tensor(self, out)

    def _kept_apart(self, name: str, operator: str) -> str:
        """The same value behind a step that changes nothing, if it comes from this operator.

        onnxruntime joins a product of matrices and one with a number, which it then has in single
        precision.
        """
        if self._operators.get(name) != operator:
            return name
        return self.apply("Max", Tensor(self, name), -np.inf).name

    def concatenated(self, parts: list[Tensor]) -> Tensor:
        """Columns of several tensors side by side."""
        return parts[0] if len(parts) == 1 else self.apply("Concat", *parts, axis=1)

    def total(self, parts: list[Tensor]) -> Tensor:
        """The sum of tensors of one shape."""
        return parts[0] if len(parts) == 1 else self.apply("Sum", *parts)

    def _tensor(self, value: Any) -> Tensor:
        if isinstance(value, Tensor):
            return value
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = float(value)
        return self.constant(value)

    def model(
        self, outputs: list[tuple[str, Tensor, Any, list[int | None]]], n_columns: int
    ) -> Any:
        """The whole model, checked.

        Parameters
        ----------
        outputs : list of (name, tensor, element type, shape)
        n_columns : int
            Columns of the rows that it takes.
        """
        helper, double = self.onnx.helper, self.onnx.TensorProto.DOUBLE
        if self.n_bytes > MOST_BYTES:
            raise ValueError(
                f"The arrays of this model take {self.n_bytes / 1e9:.1f} GB, and ONNX files hold "
                "2 GB; fit a model with fewer centres, or to fewer rows."
            )
        infos = []
        for name, tensor, kind, shape in outputs:
            self.nodes.append(helper.make_node("Identity", [tensor.name], [name]))
            infos.append(helper.make_tensor_value_info(name, kind, shape))
        graph = helper.make_graph(
            self.nodes,
            "kernlens",
            [helper.make_tensor_value_info(INPUT, double, [None, n_columns])],
            infos,
            self.initializers,
        )
        opsets = [helper.make_opsetid("", OPSET)]
        model = helper.make_model(
            graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="kernlens"
        )
        self.onnx.checker.check_model(model)
        return model


class Tensor:
    """A value in a graph, with the operators of Python and some functions of NumPy."""

    #: Products with an array on the left are ours.
    __array_ufunc__ = None

    def __init__(self, graph: Graph, name: str) -> None:
        self.graph, self.name = graph, name

    def __add__(self, other: Any) -> Tensor:
        return self.graph.apply("Add", self, other)

    def __radd__(self, other: Any) -> Tensor:
        return self.graph.apply("Add", other, self)

    def __sub__(self, other: Any) -> Tensor:
        return self.graph.apply("Sub", self, other)

    def __rsub__(self, other: Any) -> Tensor:
        return self.graph.apply("Sub", other, self)

    def __mul__(self, other: Any) -> Tensor:
        return self.graph.apply("Mul", self, other)

    def __rmul__(self, other: Any) -> Tensor:
        return self.graph.apply("Mul", other, self)

    def __truediv__(self, other: Any) -> Tensor:
        return self.graph.apply("Div", self, other)

    def __rtruediv__(self, other: Any) -> Tensor:
        return self.graph.apply("Div", other, self)

    def __matmul__(self, other: Any) -> Tensor:
        return self.graph.apply("MatMul", self, other)

    def __rmatmul__(self, other: Any) -> Tensor:
        return self.graph.apply("MatMul", other, self)

    def __pow__(self, exponent: float) -> Tensor:
        return self.graph.apply("Pow", self, float(exponent))

    def __neg__(self) -> Tensor:
        return self.graph.apply("Neg", self)

    def __gt__(self, other: Any) -> Tensor:
        return self.graph.apply("Greater", self, other)

    def exp(self) -> Tensor:
        """Exponential."""
        return self.graph.apply("Exp", self)

    def log(self) -> Tensor:
        """Natural logarithm."""
        return self.graph.apply("Log", self)

    def sqrt(self) -> Tensor:
        """Square root."""
        return self.graph.apply("Sqrt", self)

    def cos(self) -> Tensor:
        """Cosine."""
        return self.graph.apply("Cos", self)

    def abs(self) -> Tensor:
        """Size."""
        return self.graph.apply("Abs", self)

    def sign(self) -> Tensor:
        """-1, 0 or 1."""
        return self.graph.apply("Sign", self)

    def square(self) -> Tensor:
        """Product with itself."""
        return self * self

    def at_least(self, low: Any) -> Tensor:
        """The larger of two."""
        return self.graph.apply("Max", self, low)

    def at_most(self, high: Any) -> Tensor:
        """The smaller of two."""
        return self.graph.apply("Min", self, high)

    def clip(self, low: Any, high: Any) -> Tensor:
        """Within bounds."""
        return self.at_least(low).at_most(high)

    def where(self, yes: Any, no: Any) -> Tensor:
        """One or the other, by these truth values."""
        return self.graph.apply("Where", self, yes, no)

    def sum(self, axis: int = 1, keep: bool = True) -> Tensor:
        """Sum along an axis, which stays with the length 1 if it is kept."""
        axes = np.array([axis], dtype=np.int64)
        return self.graph.apply("ReduceSum", self, axes, keepdims=int(keep))

    def columns(self, places: NDArray[np.integer]) -> Tensor:
        """Some of the columns."""
        return self.graph.apply("Gather", self, np.asarray(places, dtype=np.int64), axis=1)

    def column(self, place: int) -> Tensor:
        """One column, (n, 1)."""
        return self.columns(np.array([place]))

    def row(self, place: int) -> Tensor:
        """One row, (1, n)."""
        return self.graph.apply("Gather", self, np.array([place], dtype=np.int64), axis=0)

    def with_axis(self, axis: int) -> Tensor:
        """The same numbers with one more axis of the length 1."""
        return self.graph.apply("Unsqueeze", self, np.array([axis], dtype=np.int64))
