/* Starts the Java program that executes plans (tracer-patches/load), on the site's own Hadoop client. */
#pragma once

#include "analyzer/cli/options/invocation.h"

typedef struct Executor Executor;

/* Finds Java, our jar and Hadoop's class path by the options --classpath, --jar, --java-option, --trace, --agent-jar
 * and --conf of the invocation. what: "run" or "clean". Errors: CONFIG, NOT_FOUND, IO. */
Executor *executor_new(const Invocation *invocation, const char *what, GError **error);
void executor_free(Executor *executor);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Executor, executor_free)
/* What the program is told. */
void executor_set(Executor *executor, const char *name, const char *value);
/* Runs it to its end. It gets SIGINT as part of the terminal's group, and SIGTERM from us; it ends with us. *code: its
 * exit code, 128 and the number of the signal when one killed it. */
gboolean executor_run(Executor *executor, int *code, GError **error);

/* The options that executor_new() looks at. */
#define OPTIONS_EXECUTOR                                                                                               \
    {"folder", OPTION_TEXT, "URI", NULL, "the folder of HDFS to work in", "/tmp/plumb-load"},                          \
        {"classpath", OPTION_TEXT, "PATH", NULL, "of Hadoop's client and configuration (default: hadoop classpath)",   \
         NULL},                                                                                                        \
        {"conf", OPTION_LIST, "KEY=VALUE", NULL, "a property of Hadoop's configuration", NULL},                        \
        {"java-option", OPTION_LIST, "OPTION", NULL, "an option of the JVM, as -Xmx8g", NULL}, {                       \
        "jar", OPTION_TEXT, "FILE", NULL, "plumb-load.jar (default: where it is installed, or was built)", NULL        \
    }
