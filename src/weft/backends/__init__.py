"""Where tasks run: one small contract (`contract`), and backends that fulfil it."""
