#include "analyzer/query/nodes/advice.h"

typedef struct Advice {
    const char *text;
    guint32 classes; /* bits 1 << WorkClass */
    Role role;       /* ROLE_COUNT: any */
} Advice;

#define FOR(class) (1u << WORK_##class)
#define DATANODES                                                                                                      \
    (FOR(DISK_READ) | FOR(DISK_WRITE) | FOR(TRANSFER) | FOR(NETWORK) | FOR(SENDING) | FOR(DELIVERY) | FOR(PROCESSOR) | \
     FOR(STANDSTILL) | FOR(QUEUE))

static const Advice all[] = {
    {"See whether its process lives and answers: ps (state T: stopped, kill -CONT continues it), jstack, ping; hdfs "
     "dfsadmin -report says since when the NameNode has not heard of it.",
     FOR(SILENT), ROLE_DATANODE},
    {"Clients find out sooner with a shorter dfs.client.socket-timeout (60000 ms); readers do not wait with hedged "
     "reads (dfs.client.hedged.read.threadpool.size=20).",
     FOR(SILENT), ROLE_DATANODE},
    {"Nobody is sent to it once it is stale: dfs.namenode.avoid.read.stale.datanode=true, "
     "dfs.namenode.avoid.write.stale.datanode=true.",
     FOR(SILENT), ROLE_DATANODE},
    {"Look at the disk: dmesg, smartctl -a, iostat -x 1; dfs.datanode.data.dir says which disks it has.",
     FOR(DISK_READ) | FOR(DISK_WRITE) | FOR(TRANSFER), ROLE_DATANODE},
    {"Look at its link: ethtool (speed, errors), ip -s link, the switch's port.",
     FOR(NETWORK) | FOR(SENDING) | FOR(DELIVERY) | FOR(TRANSFER), ROLE_DATANODE},
    {"Look at what else runs there: top, the JVM's garbage collection log, limits of its control group.",
     FOR(PROCESSOR) | FOR(STANDSTILL) | FOR(QUEUE), ROLE_DATANODE},
    {"New blocks can avoid it: dfs.namenode.block-placement-policy.exclude-slow-nodes.enabled=true, with "
     "dfs.datanode.peer.stats.enabled=true.",
     FOR(DISK_WRITE) | FOR(NETWORK) | FOR(PROCESSOR) | FOR(STANDSTILL), ROLE_DATANODE},
    {"Readers can avoid it: hedged reads (dfs.client.hedged.read.threadpool.size=20, "
     "dfs.client.hedged.read.threshold.millis=500).",
     FOR(DISK_READ) | FOR(TRANSFER) | FOR(NETWORK) | FOR(SENDING) | FOR(DELIVERY) | FOR(PROCESSOR), ROLE_DATANODE},
    {"Take it out while it is repaired: a line with \"adminState\": \"IN_MAINTENANCE\" in the file of dfs.hosts, then "
     "hdfs dfsadmin -refreshNodes.",
     DATANODES, ROLE_DATANODE},
    {"Look for what holds the lock: plumb functions --role namenode --sort self; dfs.namenode.read-lock-reporting-"
     "threshold-ms and dfs.namenode.write-lock-reporting-threshold-ms log who held it for long.",
     FOR(LOCK) | FOR(QUEUE), ROLE_NAMENODE},
    {"Give the edit log a disk of its own (dfs.namenode.edits.dir), and look at the JournalNodes' disks.",
     FOR(EDIT_LOG), ROLE_NAMENODE},
    {"Fewer calls at once: fair call queue (ipc.8020.callqueue.impl=org.apache.hadoop.ipc.FairCallQueue), more "
     "handlers "
     "(dfs.namenode.handler.count).",
     FOR(QUEUE) | FOR(PROCESSOR), ROLE_NAMENODE},
    {"Look at the JournalNode's disk: iostat -x 1, dmesg, smartctl -a; put dfs.journalnode.edits.dir on a disk of its "
     "own.",
     FOR(JOURNAL), ROLE_JOURNALNODE},
    {"Each sync waits for a majority of the JournalNodes: for this one, since others are slow, too, or do not answer. "
     "Look at all of them: plumb nodes HOST, the NameNode's log (\"Took ... ms to send a batch\").",
     FOR(JOURNAL), ROLE_JOURNALNODE},
    {"Look at what else runs on the JournalNode's host: top, the JVM's garbage collection log.", FOR(PROCESSOR),
     ROLE_JOURNALNODE},
    {"Look at this client's host: its link (ethtool, ip -s link) and what else runs there (top).",
     FOR(CLIENT) | FOR(CLIENT_NETWORK) | FOR(DISK_READ), ROLE_CLIENT},
    {"Keep tasks away from it: spark.excludeOnFailure.enabled=true, or stop its worker; spark.speculation=true runs "
     "slow "
     "tasks again elsewhere.",
     FOR(SPARK) | FOR(CLIENT_NETWORK), ROLE_COUNT},
};

json_t *advice_json(WorkClass class, Role role) {
    json_t *list = json_array();
    for (gsize i = 0; i < G_N_ELEMENTS(all); i++) {
        if (!(all[i].classes & 1u << class) || (all[i].role != ROLE_COUNT && all[i].role != role)) continue;
        json_array_append_new(list, json_string(all[i].text));
    }
    return list;
}

const char *advice_of_link(void) {
    return "Look first at what lies between the two: switches, cables and routes (tracepath, iperf3 both ways), limits "
           "for that peer (tc -s qdisc, tc filter show). What follows is about the host, should all be well there.";
}
