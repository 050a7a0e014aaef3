"""A fitted model as a plain summary, and the summary as a page."""

from kernlens._public import expose
from kernlens.reporting.page import render
from kernlens.reporting.summary import summarize
from kernlens.reporting.writing import report

__all__ = ["render", "report", "summarize"]

expose(__name__, __all__, globals())
