#include "analyzer/query/spark/tasks/operation_json.h"

#include "analyzer/query/spark/tasks/asked_app.h"

void json_add_operation(json_t *object, const StageOperation *operation) {
    if (operation->rdd >= 0) json_object_set_new(object, "rdd", json_integer(operation->rdd));
    json_add_text(object, "class", operation->class_name);
    json_add_text(object, "rdd_name", operation->name);
    json_add_text(object, "call_site", operation->call_site);
}
