"""Explicit feature maps and how they are chosen."""
