"""A real broker of Kafka on this machine."""
