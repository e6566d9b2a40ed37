"""What script/, the tests and the measurements share: a real HDFS and a real Spark on this machine."""
