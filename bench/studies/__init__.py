"""The thesis' claims measured again: bench/study (docs/studies.md). report.py says what a study leaves, main.py which
studies there are."""
