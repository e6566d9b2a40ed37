#include "analyzer/query/spark/tasks/facts_json.h"

json_t *waited_json(Archive *archive, const HdfsShare *share) {
    json_t *object = json_object();
    if (share->tracer) {
        const Lookup *lookup = archive_lookup(archive);
        Role role;
        guint32 host;
        lookup->process(lookup->arg, share->tracer, &role, &host);
        json_object_set_new(object, "process", json_name(archive, share->tracer));
        json_object_set_new(object, "host", json_name(archive, host));
        json_object_set_new(object, "role", json_string(role_name(role)));
    }
    json_object_set_new(object, "resource", json_string(hdfs_resource_name(share->resource)));
    json_object_set_new(object, "function", json_name(archive, share->name));
    json_object_set_new(object, "time_ns", json_integer(share->ns));
    return object;
}

json_t *share_json(Archive *archive, const HdfsShare *share) {
    json_t *object = waited_json(archive, share);
    json_object_set_new(object, "calls", json_count(share->calls));
    return object;
}

void json_add_facts(json_t *object, Archive *archive, const HdfsFacts *facts) {
    json_t *resources = json_object(), *shares = json_array();

    json_object_set_new(object, "time_ns", json_integer(facts->hdfs_ns));
    json_object_set_new(object, "datanode_ns", json_integer(facts->datanode_ns));
    json_object_set_new(object, "namenode_ns", json_integer(facts->namenode_ns));
    json_object_set_new(object, "slowest_datanode_ns", json_integer(facts->slowest_ns));
    if (facts->slowest) json_object_set_new(object, "slowest_datanode", json_name(archive, facts->slowest));
    json_object_set_new(object, "calls", json_count(facts->top_calls));
    json_object_set_new(object, "failures", json_count(facts->failures));
    json_object_set_new(object, "files", json_count(facts->files));
    json_object_set_new(object, "bytes", json_integer(facts->bytes));
    json_object_set_new(object, "remote_bytes", json_integer(facts->remote_bytes));
    json_object_set_new(object, "local_bytes", json_integer(facts->local_bytes));

    for (guint i = 0; i < HDFS_RESOURCE_COUNT; i++)
        json_object_set_new(resources, hdfs_resource_name((HdfsResource)i), json_integer(facts->of[i]));
    json_object_set_new(object, "resources_ns", resources);

    for (guint i = 0; i < facts->shares->len && i < SHARES_SHOWN; i++)
        json_array_append_new(shares, share_json(archive, &g_array_index(facts->shares, HdfsShare, i)));
    json_object_set_new(object, "shares", shares);
}
