"""The parts of perf/run: the Redis server, the figures, the table, the plots."""
