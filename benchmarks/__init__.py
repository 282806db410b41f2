"""Side-by-side benchmarks: each module with a `main()` is one; `python -m benchmarks` runs all."""
