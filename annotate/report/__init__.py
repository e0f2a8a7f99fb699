"""Reports: one module for each output format, each a function from report to text."""
