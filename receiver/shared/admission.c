#include "receiver/shared/admission.h"

#include <pthread.h>
#include <stdatomic.h>

struct Admission {
    pthread_mutex_t lock;
    atomic_uint shut; /* bits by reason; written under the lock */
    guint holders[ADMISSION_REASONS];
    char *why[ADMISSION_REASONS];
};

Admission *admission_new(void) {
    Admission *admission = g_new0(Admission, 1);
    pthread_mutex_init(&admission->lock, NULL);
    return admission;
}

void admission_free(Admission *admission) {
    if (!admission) return;
    for (int i = 0; i < ADMISSION_REASONS; i++) g_free(admission->why[i]);
    pthread_mutex_destroy(&admission->lock);
    g_free(admission);
}

void admission_shut(Admission *admission, AdmissionReason reason, const char *why) {
    pthread_mutex_lock(&admission->lock);
    admission->holders[reason]++;
    g_free(admission->why[reason]);
    admission->why[reason] = g_strdup(why);
    atomic_fetch_or(&admission->shut, 1u << reason);
    pthread_mutex_unlock(&admission->lock);
}

void admission_explain(Admission *admission, AdmissionReason reason, const char *why) {
    pthread_mutex_lock(&admission->lock);
    g_free(admission->why[reason]);
    admission->why[reason] = g_strdup(why);
    pthread_mutex_unlock(&admission->lock);
}

void admission_open(Admission *admission, AdmissionReason reason) {
    pthread_mutex_lock(&admission->lock);
    g_assert(admission->holders[reason] > 0);
    if (--admission->holders[reason] == 0) atomic_fetch_and(&admission->shut, ~(1u << reason));
    pthread_mutex_unlock(&admission->lock);
}

gboolean admission_set(Admission *admission, AdmissionReason reason, const char *why) {
    pthread_mutex_lock(&admission->lock);
    gboolean changed = (admission->holders[reason] > 0) != (why != NULL);
    admission->holders[reason] = why ? 1 : 0;
    if (why) {
        g_free(admission->why[reason]);
        admission->why[reason] = g_strdup(why);
        atomic_fetch_or(&admission->shut, 1u << reason);
    } else {
        atomic_fetch_and(&admission->shut, ~(1u << reason));
    }
    pthread_mutex_unlock(&admission->lock);
    return changed;
}

gboolean admission_is_open(Admission *admission) { return atomic_load(&admission->shut) == 0; }

gboolean admission_is_shut_for(Admission *admission, AdmissionReason reason) {
    return (atomic_load(&admission->shut) & (1u << reason)) != 0;
}

char *admission_describe(Admission *admission) {
    GString *text = NULL;
    pthread_mutex_lock(&admission->lock);
    for (int i = 0; i < ADMISSION_REASONS; i++) {
        if (admission->holders[i] == 0) continue;
        if (!text)
            text = g_string_new(admission->why[i]);
        else
            g_string_append_printf(text, "; %s", admission->why[i]);
    }
    pthread_mutex_unlock(&admission->lock);
    return text ? g_string_free(text, FALSE) : NULL;
}
