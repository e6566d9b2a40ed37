"""What Hadoop's own search for slow DataNodes names: SlowPeer, by the time that packets take to the next DataNode of a
pipeline, and SlowDisk, by the disks of one DataNode against each other. The NameNode shows what both report, by JMX."""

import json

# By default they are off, report every half hour, and judge nothing below 10 DataNodes, 5 disks and 1,000 samples: a
# bed of four DataNodes with a disk each would never have a report. What is no setting stays: averages are of five
# minutes and of the last three hours, the least latency is 5 ms (of disks 20 ms).
SETTINGS = {
    "dfs.datanode.peer.stats.enabled": "true",
    "dfs.datanode.fileio.profiling.sampling.percentage": "100",
    "dfs.datanode.outliers.report.interval": "10s",
    "dfs.datanode.min.outlier.detection.nodes": "3",
    "dfs.datanode.min.outlier.detection.disks": "1",
    "dfs.datanode.peer.metrics.min.outlier.detection.samples": "20",
}
BEAN = "Hadoop:service=NameNode,name=NameNodeStatus"
# (attribute, what names the DataNode in an entry of its list)
REPORTS = {"SlowPeer": ("SlowPeersReport", "SlowNode"), "SlowDisk": ("SlowDisksReport", "SlowDiskID")}


def reported(bean, names):
    """{(host, "SlowPeer" or "SlowDisk")} of the NameNode's bean; names: of hosts, by address."""
    found = set()
    for which, (attribute, key) in REPORTS.items():
        for entry in json.loads(bean.get(attribute) or "[]"):
            address = entry[key].split(":")[0]
            found.add((names.get(address, address), which))
    return found


def ask(hdfs):
    """Of a Cluster; empty while its NameNode does not answer."""
    names = {hdfs.address(name): name for name in hdfs.http}
    return {pair for bean in hdfs.jmx("namenode", BEAN) for pair in reported(bean, names)}
