"""The vocabulary of a run: values, keys, tasks, results. Pure; knows nothing below it but errors."""
