"""Measurements. Their programs are run by the scripts beside this file."""
