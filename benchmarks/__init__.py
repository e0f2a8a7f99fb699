"""Benchmarks: what annotate costs beside other tools that do part of the same.

    pip install ".[benchmark]"
    python -m benchmarks

fetches two public packages by hash into a temporary folder, runs every comparison in turn (A B A
B …) and prints one table; ``--write`` puts it into the documentation. `packages` and `corpus` are
the material, `projects` writes it for each tool, `extraction`, `verification`, `building` and
`fetching` are the four parts.
"""
