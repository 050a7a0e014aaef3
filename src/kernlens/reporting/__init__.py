"""A fitted model as a plain summary, and the summary as a page."""
