#include "analyzer/cli/load/executor.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/error.h"

struct Executor {
    GPtrArray *argv; /* char * */
};

/* Of the installation, or of the tree that plumb was built in. A new string; NULL when there is neither. */
static char *find_file(const char *installed, const char *built) {
    char exe[4096];
    const ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (n <= 0) return NULL;
    exe[n] = '\0';
    g_autofree char *folder = g_path_get_dirname(exe);
    g_autofree char *beside = g_build_filename(folder, "..", "share", "plumbline", installed, NULL);
    if (access(beside, R_OK) == 0) return g_steal_pointer(&beside);
    g_autofree char *in_tree = g_build_filename(folder, "..", "..", "..", built, NULL);
    return access(in_tree, R_OK) == 0 ? g_steal_pointer(&in_tree) : NULL;
}

static char *find_jar(const Invocation *invocation, const char *option, const char *installed, const char *built,
                      GError **error) {
    const char *given = option_text(invocation, option);
    if (given != NULL && access(given, R_OK) == 0) return g_strdup(given);
    if (given != NULL) {
        fail_errno(error, errno, "--%s %s", option, given);
        return NULL;
    }
    char *found = find_file(installed, built);
    if (found == NULL)
        fail(error, PLUMB_ERROR_NOT_FOUND, "%s is not there: install the package plumbline-agent, or name it with --%s",
             installed, option);
    return found;
}

/* $HADOOP_HOME/bin/hadoop, or the one in the path. */
static char *find_hadoop(void) {
    const char *home = g_getenv("HADOOP_HOME");
    g_autofree char *in_home = home != NULL ? g_build_filename(home, "bin", "hadoop", NULL) : NULL;
    if (in_home != NULL && access(in_home, X_OK) == 0) return g_steal_pointer(&in_home);
    return g_find_program_in_path("hadoop");
}

static char *hadoop_class_path(const Invocation *invocation, GError **error) {
    const char *given = option_text(invocation, "classpath");
    if (given != NULL) return g_strdup(given);
    g_autofree char *hadoop = find_hadoop();
    if (hadoop == NULL) {
        fail(error, PLUMB_ERROR_CONFIG,
             "there is no command 'hadoop' in the path or in $HADOOP_HOME: name the class path of Hadoop's client and "
             "its configuration, as --classpath '/etc/hadoop/conf:/opt/hadoop/share/hadoop/client/*'");
        return NULL;
    }

    char *argv[] = {hadoop, (char *)"classpath", NULL};
    g_autofree char *output = NULL, *said = NULL;
    gint status = 0;
    g_autoptr(GError) why = NULL;
    if (!g_spawn_sync(NULL, argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, &output, &said, &status, &why) ||
        !g_spawn_check_wait_status(status, &why)) {
        fail(error, PLUMB_ERROR_IO, "'%s classpath' failed: %s %s", hadoop, why->message, said != NULL ? said : "");
        return NULL;
    }
    return g_strdup(g_strstrip(output));
}

static char *find_java(GError **error) {
    const char *home = g_getenv("JAVA_HOME");
    g_autofree char *in_home = home != NULL ? g_build_filename(home, "bin", "java", NULL) : NULL;
    if (in_home != NULL && access(in_home, X_OK) == 0) return g_steal_pointer(&in_home);
    char *java = g_find_program_in_path("java");
    if (java == NULL) fail(error, PLUMB_ERROR_NOT_FOUND, "there is no java in $JAVA_HOME or in the path");
    return java;
}

static void add(Executor *executor, const char *word) { g_ptr_array_add(executor->argv, g_strdup(word)); }

static gboolean add_agent(Executor *executor, const Invocation *invocation, const char *receiver, GError **error) {
    g_autofree char *jar = find_jar(invocation, "agent-jar", "plumb-agent.jar",
                                    "tracer-patches/agent/target/plumb-agent-" PLUMB_VERSION ".jar", error);
    if (jar == NULL) return FALSE;
    g_autofree char *functions = find_file("plumb-load-functions.conf", "conf/plumb-load-functions.conf");
    if (functions == NULL)
        return fail(error, PLUMB_ERROR_NOT_FOUND,
                    "plumb-load-functions.conf is not there: install the package plumbline-agent");
    const char *sampling = option_text(invocation, "sampling");
    if (strchr(receiver, ',') != NULL || strchr(sampling, ',') != NULL)
        return fail(error, PLUMB_ERROR_CONFIG, "--trace takes one HOST:PORT, and --sampling has no comma in it");
    g_ptr_array_add(executor->argv, g_strdup_printf("-javaagent:%s=receivers=%s,sampling=%s,functions=%s", jar,
                                                    receiver, sampling, functions));
    return TRUE;
}

/* What Hadoop reaches into, and the JVM's own warnings to standard error: standard output has documents. Java 8 does
 * not know these options, and is told not to mind. */
static const char *const jvm_options[] = {"-XX:+IgnoreUnrecognizedVMOptions",
                                          "--add-opens=java.base/java.lang=ALL-UNNAMED",
                                          "--add-opens=java.base/java.nio=ALL-UNNAMED",
                                          "--add-opens=java.base/java.util=ALL-UNNAMED",
                                          "-Xlog:disable",
                                          "-Xlog:all=warning:stderr"};

static gboolean fill_in(Executor *executor, const Invocation *invocation, const char *what, GError **error) {
    const char *const *conf = option_list(invocation, "conf");
    for (guint i = 0; conf != NULL && conf[i] != NULL; i++)
        if (strchr(conf[i], '=') == NULL || conf[i][0] == '=')
            return fail(error, PLUMB_ERROR_CONFIG, "--conf %s: must be KEY=VALUE", conf[i]);
    g_autofree char *java = find_java(error);
    g_autofree char *jar = java != NULL ? find_jar(invocation, "jar", "plumb-load.jar",
                                                   "tracer-patches/load/target/plumb-load-" PLUMB_VERSION ".jar", error)
                                        : NULL;
    g_autofree char *class_path = jar != NULL ? hadoop_class_path(invocation, error) : NULL;
    if (class_path == NULL) return FALSE;

    add(executor, java);
    for (guint i = 0; i < G_N_ELEMENTS(jvm_options); i++) add(executor, jvm_options[i]);
    const char *const *java_options = option_list(invocation, "java-option");
    for (guint i = 0; java_options != NULL && java_options[i] != NULL; i++) add(executor, java_options[i]);
    const char *receiver = strcmp(what, "run") == 0 ? option_text(invocation, "trace") : NULL;
    if (receiver != NULL && !add_agent(executor, invocation, receiver, error)) return FALSE;

    add(executor, "-cp");
    g_ptr_array_add(executor->argv, g_strconcat(jar, ":", class_path, NULL));
    add(executor, "io.plumbline.load.Main");
    add(executor, what);
    executor_set(executor, "folder", option_text(invocation, "folder"));
    for (guint i = 0; conf != NULL && conf[i] != NULL; i++) executor_set(executor, "conf", conf[i]);
    return TRUE;
}

Executor *executor_new(const Invocation *invocation, const char *what, GError **error) {
    g_autoptr(Executor) executor = g_new0(Executor, 1);
    executor->argv = g_ptr_array_new_with_free_func(g_free);
    return fill_in(executor, invocation, what, error) ? g_steal_pointer(&executor) : NULL;
}

void executor_free(Executor *executor) {
    if (executor == NULL) return;
    g_ptr_array_unref(executor->argv);
    g_free(executor);
}

void executor_set(Executor *executor, const char *name, const char *value) {
    g_ptr_array_add(executor->argv, g_strconcat(name, "=", value, NULL));
}

static volatile sig_atomic_t child_pid;

static void pass_on(int number) {
    if (child_pid > 0) kill((pid_t)child_pid, number);
}

/* A terminal sends it to the child as well; a process sends it to this one alone. */
static void pass_on_interrupt(int number, siginfo_t *info, void *context) {
    (void)context;
    if (info->si_code <= 0) pass_on(number);
}

static void in_child(gpointer arg) {
    (void)arg;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
}

gboolean executor_run(Executor *executor, int *code, GError **error) {
    g_ptr_array_add(executor->argv, NULL);
    GPid pid;
    g_autoptr(GError) why = NULL;
    if (!g_spawn_async(NULL, (char **)executor->argv->pdata, NULL,
                       G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_CHILD_INHERITS_STDIN, in_child, NULL, &pid, &why))
        return fail(error, PLUMB_ERROR_IO, "%s", why->message);

    child_pid = pid;
    const struct sigaction pass = {.sa_handler = pass_on};
    const struct sigaction interrupt = {.sa_sigaction = pass_on_interrupt, .sa_flags = SA_SIGINFO};
    struct sigaction old_term, old_int;
    sigaction(SIGTERM, &pass, &old_term);
    sigaction(SIGINT, &interrupt, &old_int);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    child_pid = 0;
    sigaction(SIGTERM, &old_term, NULL);
    sigaction(SIGINT, &old_int, NULL);
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return TRUE;
}
