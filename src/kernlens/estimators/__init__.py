"""Estimators, one folder or file per family; a family never imports another."""
