#include "receiver/secure/security.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "receiver/secure/tokens.h"

#define FILES 6u

struct Security {
    pthread_mutex_t reloading; /* held while files are read; taken first, and needed to change 'settings' */
    pthread_mutex_t lock;      /* of what is in force */
    const SecuritySettings *settings;
    struct ssl_ctx_st *tls; /* NULL: none */
    Tokens *tokens;         /* NULL: none */
    Kerberos *kerberos;     /* NULL: none */
    gint64 looked_s;        /* when was last seen which tokens have ended */
    struct stat files[FILES];
    atomic_uint generation;
};

static gint64 wall_s(void) { return clock_wall_ns(clock_system()) / NS_PER_SEC; }

/* ---- files ---- */

static void note_files(const SecuritySettings *settings, struct stat files[FILES]) {
    const TlsFiles *tls = &settings->tls;
    const char *const paths[FILES] = {tls->certificate, tls->key,         tls->clients,
                                      tls->crl,         settings->tokens, settings->keytab};
    for (guint i = 0; i < FILES; i++)
        if (paths[i][0] == '\0' || stat(paths[i], &files[i]) != 0) files[i] = (struct stat){0};
}

static gboolean same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

gboolean security_is_outdated(Security *security) {
    struct stat files[FILES];
    gboolean changed = FALSE;
    pthread_mutex_lock(&security->reloading); /* not the other one, for which all wait: a disk may hang */
    note_files(security->settings, files);
    pthread_mutex_lock(&security->lock);
    for (guint i = 0; i < FILES; i++) {
        changed |= !same_file(&files[i], &security->files[i]);
        security->files[i] = files[i];
    }
    const gint64 now_s = wall_s();
    if (security->tokens != NULL) changed |= tokens_ended(security->tokens, security->looked_s, now_s);
    security->looked_s = now_s;
    pthread_mutex_unlock(&security->lock);
    pthread_mutex_unlock(&security->reloading);
    return changed;
}

/* ---- what is in force ---- */

static gboolean check_tls(const TlsFiles *tls, GError **error) {
    const gboolean certificate = tls->certificate[0] != '\0', key = tls->key[0] != '\0';
    if (certificate != key)
        return fail(error, PLUMB_ERROR_CONFIG, "tls.certificate and tls.key: TLS needs both, or none");
    if (!certificate && (tls->clients[0] != '\0' || tls->crl[0] != '\0'))
        return fail(error, PLUMB_ERROR_CONFIG, "tls.clients and tls.crl need tls.certificate and tls.key");
    if (tls->clients[0] == '\0' && (tls->require_certificate || tls->crl[0] != '\0'))
        return fail(error, PLUMB_ERROR_CONFIG,
                    "tls.require-certificate and tls.crl need tls.clients: who signs the certificates of clients");
    return TRUE;
}

/* What is read from files. */
typedef struct Fresh {
    struct ssl_ctx_st *tls;
    Tokens *tokens;
    Kerberos *kerberos;
} Fresh;

static gboolean read_all(const SecuritySettings *settings, Fresh *fresh, GError **error) {
    if (!check_tls(&settings->tls, error)) return FALSE;
    g_autoptr(Tokens) tokens = settings->tokens[0] != '\0' ? tokens_read(settings->tokens, error) : NULL;
    if (settings->tokens[0] != '\0' && tokens == NULL) return FALSE;
    g_autoptr(Kerberos) kerberos =
        settings->keytab[0] != '\0' ? kerberos_new(settings->keytab, settings->principals, error) : NULL;
    if (settings->keytab[0] != '\0' && kerberos == NULL) return FALSE;
    if (settings->tls.certificate[0] != '\0') {
        fresh->tls = tls_context_new(&settings->tls, error);
        if (fresh->tls == NULL) return FALSE;
    }
    fresh->tokens = g_steal_pointer(&tokens);
    fresh->kerberos = g_steal_pointer(&kerberos);
    return TRUE;
}

static void swap(Security *security, const SecuritySettings *settings, const Fresh *fresh,
                 const struct stat files[FILES]) {
    pthread_mutex_lock(&security->lock);
    const Fresh old = {security->tls, security->tokens, security->kerberos};
    security->tls = fresh->tls;
    security->tokens = fresh->tokens;
    security->kerberos = fresh->kerberos;
    security->looked_s = wall_s();
    security->settings = settings;
    memcpy(security->files, files, sizeof security->files);
    atomic_fetch_add(&security->generation, 1);
    pthread_mutex_unlock(&security->lock);
    tls_context_unref(old.tls);
    tokens_free(old.tokens);
    kerberos_unref(old.kerberos);
}

gboolean security_reload(Security *security, const SecuritySettings *settings, GError **error) {
    struct stat files[FILES];
    Fresh fresh = {NULL, NULL, NULL};
    pthread_mutex_lock(&security->reloading);
    if (settings == NULL) settings = security->settings;
    note_files(settings, files); /* before: what changes meanwhile is read again */
    const gboolean good = read_all(settings, &fresh, error);
    if (good) swap(security, settings, &fresh, files);
    pthread_mutex_unlock(&security->reloading);
    return good;
}

Security *security_new(const SecuritySettings *settings, GError **error) {
    g_autoptr(Security) security = g_new0(Security, 1);
    pthread_mutex_init(&security->reloading, NULL);
    pthread_mutex_init(&security->lock, NULL);
    return security_reload(security, settings, error) ? g_steal_pointer(&security) : NULL;
}

void security_free(Security *security) {
    if (!security) return;
    tls_context_unref(security->tls);
    tokens_free(security->tokens);
    kerberos_unref(security->kerberos);
    pthread_mutex_destroy(&security->lock);
    pthread_mutex_destroy(&security->reloading);
    g_free(security);
}

/* ---- questions ---- */

guint security_generation(const Security *security) { return atomic_load(&security->generation); }

void security_judge_again(Security *security) { atomic_fetch_add(&security->generation, 1); }

struct ssl_ctx_st *security_tls(Security *security) {
    pthread_mutex_lock(&security->lock);
    struct ssl_ctx_st *tls = security->tls != NULL ? tls_context_ref(security->tls) : NULL;
    pthread_mutex_unlock(&security->lock);
    return tls;
}

Kerberos *security_kerberos(Security *security) {
    pthread_mutex_lock(&security->lock);
    Kerberos *kerberos = security->kerberos != NULL ? kerberos_ref(security->kerberos) : NULL;
    pthread_mutex_unlock(&security->lock);
    return kerberos;
}

gint64 security_ends_s(Security *security) {
    struct ssl_ctx_st *tls = security_tls(security);
    const gint64 ends_s = tls != NULL ? tls_context_ends_s(tls) : 0;
    tls_context_unref(tls);
    return ends_s;
}

char *security_token(Security *security, const char *user, const char *token, TokenMark *mark) {
    pthread_mutex_lock(&security->lock);
    const char *found = security->tokens != NULL ? tokens_find(security->tokens, user, token, wall_s(), mark) : NULL;
    char *principal = g_strdup(found);
    pthread_mutex_unlock(&security->lock);
    return principal;
}

static gboolean is_token(const char *principal) { return g_str_has_prefix(principal, "token:"); }

/* With the lock held: what the token brings by which it has logged in; 0: it is none any more. */
static guint roles_of_token(const Security *security, const char *principal, TokenMark mark) {
    return security->tokens != NULL ? tokens_roles(security->tokens, principal, mark, wall_s()) : 0;
}

gboolean security_knows(Security *security, const char *principal, TokenMark mark) {
    if (!is_token(principal)) return TRUE;
    pthread_mutex_lock(&security->lock);
    const gboolean known = roles_of_token(security, principal, mark) != 0;
    pthread_mutex_unlock(&security->lock);
    return known;
}

guint security_roles(Security *security, const char *principal, TokenMark mark, gboolean open) {
    guint own = 0;
    pthread_mutex_lock(&security->lock);
    if (principal != NULL && is_token(principal)) own = roles_of_token(security, principal, mark);
    if (principal == NULL || (is_token(principal) && own == 0)) principal = ACCESS_ANONYMOUS;
    const guint roles = access_rules_roles(&security->settings->rules, principal, open);
    pthread_mutex_unlock(&security->lock);
    return roles | own;
}
