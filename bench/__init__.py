"""Measures the product: `make bench`, or `python -m bench --help`."""
