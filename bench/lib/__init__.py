"""What the programs of bench/ are made of; run, soak, scale, faults and links are programs, started by the script of
that name."""
