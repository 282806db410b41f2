"""The vocabulary of a run: values, keys, tasks, results. Pure; knows only errors."""
