#include "receiver/runner.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/base/thread.h"
#include "receiver/background/memory.h"
#include "receiver/daemon.h"

/* From the lifecycle thread to main: done. */
#define SIGNAL_DONE SIGUSR1
/* The exit code that asks for a new start (EX_TEMPFAIL of sysexits.h). */
#define EXIT_RESTART 75

typedef enum { PHASE_STARTING, PHASE_RUNNING, PHASE_STOPPING, PHASE_STOPPED } Phase;

typedef struct Runner {
    Config *config;
    GPtrArray *settings; /* all that were in force: parts of the daemon may still look at earlier ones */
    Daemon *daemon;
    Phase phase;
    pthread_t main_thread, lifecycle;
    gboolean stop_asked;
    gboolean start_good, stop_good; /* of the lifecycle thread; read after it was joined */
    GError *error;
} Runner;

/* ---- the lifecycle thread ---- */

static void *run_start(void *arg) {
    Runner *runner = arg;
    runner->start_good = daemon_start(runner->daemon, &runner->error);
    pthread_kill(runner->main_thread, SIGNAL_DONE);
    return NULL;
}

static void *run_stop(void *arg) {
    Runner *runner = arg;
    runner->stop_good = daemon_stop(runner->daemon, &runner->error);
    pthread_kill(runner->main_thread, SIGNAL_DONE);
    return NULL;
}

static void begin(Runner *runner, void *(*what)(void *)) {
    thread_start(&runner->lifecycle, "lifecycle", what, runner);
}

/* ---- main ---- */

/* A page of a mapped file (common/base/mapped.h) that the disk does not give: the process ends, but says why. */
static void on_unreadable_page(int number) {
    static const char text[] =
        "plumbd error: the disk of store.path does not give back a page of a table that lies there in a file without a "
        "name: see to the disk. The next start makes the table anew from the store; nothing acknowledged is lost\n";
    (void)number;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
}

/* It then happens again, without us. */
static void say_why_on_unreadable_page(void) {
    const struct sigaction action = {.sa_handler = on_unreadable_page, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGBUS, &action, NULL);
}

static void begin_stop(Runner *runner) {
    runner->phase = PHASE_STOPPING;
    sd_notify(0, "STOPPING=1");
    log_message(LOG_LEVEL_NOTICE, "stopping: open traces are being stored");
    begin(runner, run_stop);
}

static void on_started(Runner *runner) {
    if (!runner->start_good) {
        log_message(LOG_LEVEL_ERROR, "%s", runner->error->message);
        begin_stop(runner);
        return;
    }
    runner->phase = PHASE_RUNNING;
    const Settings *settings = g_ptr_array_index(runner->settings, runner->settings->len - 1);
    const char *thrift = daemon_thrift(runner->daemon), *http = daemon_http(runner->daemon);
    const char *hrpc = daemon_hrpc(runner->daemon);
    printf("plumbd ready thrift=%s http=%s%s%s store=%s\n", thrift, http, hrpc ? " hrpc=" : "", hrpc ? hrpc : "",
           settings->store_path);
    fflush(stdout);
    sd_notifyf(0, "READY=1\nSTATUS=thrift %s, http %s%s%s", thrift, http, hrpc ? ", hrpc " : "", hrpc ? hrpc : "");
    if (runner->stop_asked) begin_stop(runner);
}

static void on_stopped(Runner *runner) {
    runner->phase = PHASE_STOPPED;
    if (runner->error) log_message(LOG_LEVEL_ERROR, "%s", runner->error->message);
}

static void on_done(Runner *runner) {
    pthread_join(runner->lifecycle, NULL);
    if (runner->phase == PHASE_STARTING)
        on_started(runner);
    else
        on_stopped(runner);
}

static void on_stop_signal(Runner *runner, int signal) {
    if (runner->stop_asked) {
        log_message(LOG_LEVEL_NOTICE, "stopping already: a second signal %d changes nothing", signal);
        return;
    }
    runner->stop_asked = TRUE;
    if (runner->phase == PHASE_RUNNING) begin_stop(runner);
}

static char *join(const GPtrArray *names) {
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < names->len; i++)
        g_string_append_printf(text, "%s%s", i > 0 ? ", " : "", (const char *)g_ptr_array_index(names, i));
    return g_string_free(text, FALSE);
}

static void reload(Runner *runner) {
    g_autoptr(GPtrArray) changed = g_ptr_array_new(), need_restart = g_ptr_array_new();
    g_autoptr(GError) error = NULL;
    Settings *settings = NULL;
    if (!config_reload(runner->config, changed, need_restart, &error) ||
        !(settings = settings_new(runner->config, &error))) {
        log_message(LOG_LEVEL_ERROR, "reload: %s; everything stays as it was", error->message);
        daemon_refuse_reload(runner->daemon, error->message);
        return;
    }
    g_ptr_array_add(runner->settings, settings);
    daemon_reload(runner->daemon, settings);
    g_autofree char *taken = join(changed), *waiting = join(need_restart);
    log_message(LOG_LEVEL_NOTICE, "reload: %s%s%s%s", changed->len > 0 ? "changed " : "nothing changed", taken,
                need_restart->len > 0 ? "; only a restart changes " : "", waiting);
}

static void on_reload(Runner *runner) {
    if (runner->phase != PHASE_RUNNING) {
        log_message(LOG_LEVEL_NOTICE, "reload: not while plumbd starts or stops");
        return;
    }
    sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" G_GINT64_FORMAT, clock_monotonic_ns(clock_system()) / NS_PER_US);
    reload(runner);
    sd_notify(0, "READY=1");
}

/* As kill -9 would: a store that fails may keep an orderly stop waiting, and the journal has what it lacks. */
static void end_for_restart(const Runner *runner) {
    if (runner->phase == PHASE_STOPPING) return; /* which has a time limit of its own, and says what is left */
    sd_notify(0, "STATUS=the store failed and did not recover: ended to be started anew");
    _exit(EXIT_RESTART);
}

static void loop(Runner *runner, const sigset_t *signals) {
    while (runner->phase != PHASE_STOPPED) {
        int signal = 0;
        if (sigwait(signals, &signal) != 0) continue;
        switch (signal) {
        case SIGNAL_DONE: on_done(runner); break;
        case SIGHUP: on_reload(runner); break;
        case DAEMON_RESTART_SIGNAL: end_for_restart(runner); break;
        default: on_stop_signal(runner, signal); break;
        }
    }
}

int runner_run(Config *config) {
    g_autoptr(GError) error = NULL;
    /* GLib makes what it needs for errors with the first one: while there is one thread, ThreadSanitizer can follow. */
    error = g_error_new_literal(PLUMB_ERROR, PLUMB_ERROR_INPUT, "the first");
    g_clear_error(&error);
    memory_init();
    Settings *settings = settings_new(config, &error);
    if (!settings) {
        log_message(LOG_LEVEL_ERROR, "%s", error->message);
        return 2;
    }
    log_set_level(settings->log_level);
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGNAL_DONE);
    sigaddset(&signals, DAEMON_RESTART_SIGNAL);
    pthread_sigmask(SIG_BLOCK, &signals, NULL); /* before any thread starts: all inherit it */
    signal(SIGPIPE, SIG_IGN);
    say_why_on_unreadable_page();

    Runner runner = {.config = config, .main_thread = pthread_self()};
    runner.settings = g_ptr_array_new_with_free_func((GDestroyNotify)settings_free);
    g_ptr_array_add(runner.settings, settings);
    runner.daemon = daemon_open(settings, &error);
    if (runner.daemon) {
        begin(&runner, run_start);
        loop(&runner, &signals);
        daemon_free(runner.daemon);
    } else {
        log_message(LOG_LEVEL_ERROR, "%s", error->message);
    }
    gboolean good = runner.start_good && runner.stop_good;
    g_clear_error(&runner.error);
    g_ptr_array_unref(runner.settings);
    return good ? 0 : 1;
}
