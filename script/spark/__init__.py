"""A real Spark on this machine, hosts of their own for it, faults, and what is true of its jobs."""
