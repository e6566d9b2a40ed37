"""The model of the load, and how it was recorded."""
