"""A real HDFS on this machine, of any Hadoop from 2.10 to 3.5."""
