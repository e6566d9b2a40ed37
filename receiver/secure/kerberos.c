#include "receiver/secure/kerberos.h"

#include <gssapi/gssapi_ext.h>
#include <gssapi/gssapi_krb5.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/error.h"
#include "common/base/secret_file.h"
#include "common/wire/login.h"

#define NEGOTIATE       "Negotiate"
#define PRINCIPAL_BYTES 512u
/* The offer and the choice of a layer: a set of bits, and the largest message (24 bits) that is none of ours. */
#define LAYER_AUTH  1
#define LAYER_BYTES 4u

struct Kerberos {
    gatomicrefcount refs;
    gss_cred_id_t plain, negotiated; /* of all keys of the keytab: Kerberos alone, and by SPNEGO, too */
    GPtrArray *names;                /* gss_name_t: whose tickets are taken */
    GPtrArray *texts;                /* of them, as they are configured */
};

typedef enum { STAGE_ACCEPT, STAGE_OFFER, STAGE_CHOICE, STAGE_DONE } Stage;

struct KerberosLogin {
    Kerberos *kerberos;
    gss_ctx_id_t context;
    Stage stage;
    char *principal;
};

/* ---- errors ---- */

static gboolean refuse(OM_uint32 major, OM_uint32 minor, GError **error) {
    g_autofree char *why = wire_gss_failure(major, minor);
    return fail(error, PLUMB_ERROR_INPUT, "the ticket is refused: %s", why);
}

/* ---- names ---- */

/* As others know this machine. */
static char *host_name(void) {
    char name[256] = "localhost";
    struct addrinfo hints = {.ai_flags = AI_CANONNAME, .ai_socktype = SOCK_STREAM}, *found = NULL;
    gethostname(name, sizeof name - 1);
    char *host = NULL;
    if (getaddrinfo(name, NULL, &hints, &found) == 0 && found->ai_canonname != NULL)
        host = g_ascii_strdown(found->ai_canonname, -1);
    if (found != NULL) freeaddrinfo(found);
    return host != NULL ? host : g_ascii_strdown(name, -1);
}

static char *expand(const char *principal) {
    g_autofree char *host = host_name();
    g_auto(GStrv) parts = g_strsplit(principal, "_HOST", -1);
    return g_strjoinv(host, parts);
}

static void name_free(void *name) {
    OM_uint32 minor;
    gss_name_t one = name;
    gss_release_name(&minor, &one);
}

/* With its realm; a new string, NULL: it is none that can be written in a list. One with a '\' has an '@' or a '/' that
 * is part of a name, or of a realm that others trust: no pattern is to take it for the one that tells them apart. */
static char *text_of(gss_name_t name) {
    OM_uint32 minor;
    gss_buffer_desc text = GSS_C_EMPTY_BUFFER;
    if (GSS_ERROR(gss_display_name(&minor, name, &text, NULL))) return NULL;
    char *copy = g_strndup(text.value, text.length);
    gboolean good =
        text.length > 0 && text.length <= PRINCIPAL_BYTES && g_utf8_validate(copy, (gssize)text.length, NULL);
    for (const char *at = copy; *at != '\0'; at++) good = good && (guchar)*at > ' ' && *at != 0x7f && *at != '\\';
    gss_release_buffer(&minor, &text);
    if (good) return copy;
    g_free(copy);
    return NULL;
}

/* ---- the keytab ---- */

/* n: of the mechanisms, how many are wanted. */
static OM_uint32 acquire(const char *keytab, gss_name_t name, gsize n, gss_cred_id_t *credential, OM_uint32 *minor) {
    g_autofree char *file = g_strconcat("FILE:", keytab, NULL);
    gss_key_value_element_desc element = {"keytab", file};
    const gss_key_value_set_desc store = {1, &element};
    gss_OID_desc mechanisms[] = {*gss_mech_krb5, {6, "\x2b\x06\x01\x05\x05\x02"}}; /* and SPNEGO */
    gss_OID_set_desc wanted = {n, mechanisms};
    return gss_acquire_cred_from(minor, name, GSS_C_INDEFINITE, &wanted, GSS_C_ACCEPT, &store, credential, NULL, NULL);
}

/* The keytab is a secret, as other keys are. */
static gboolean check_file(const char *keytab, GError **error) {
    gsize size_bytes;
    char *content = secret_file_read(keytab, &size_bytes, error);
    if (content == NULL) {
        g_prefix_error(error, "kerberos.keytab: ");
        return FALSE;
    }
    secret_free(content, size_bytes);
    return TRUE;
}

static gboolean add_principal(Kerberos *kerberos, const char *keytab, const char *principal, GError **error) {
    OM_uint32 minor, ignored;
    char *text = expand(principal);
    g_ptr_array_add(kerberos->texts, text);
    gss_buffer_desc buffer = {strlen(text), text};
    gss_name_t name = GSS_C_NO_NAME;
    OM_uint32 major = gss_import_name(&minor, &buffer, GSS_KRB5_NT_PRINCIPAL_NAME, &name);
    if (!GSS_ERROR(major)) {
        g_ptr_array_add(kerberos->names, name);
        gss_cred_id_t credential = GSS_C_NO_CREDENTIAL;
        major = acquire(keytab, name, 1, &credential, &minor);
        gss_release_cred(&ignored, &credential);
    }
    if (!GSS_ERROR(major)) return TRUE;
    g_autofree char *why = wire_gss_failure(major, minor);
    return fail(error, PLUMB_ERROR_CONFIG,
                "kerberos.keytab: %s has no key of %s (%s): `klist -k %s` lists those that it has; kerberos.principals "
                "names those that are needed",
                keytab, text, why, keytab);
}

/* Of what SPNEGO could choose, Kerberos alone. */
static gboolean open_keytab(Kerberos *kerberos, const char *keytab, GError **error) {
    OM_uint32 minor;
    gss_OID_desc mechanism = *gss_mech_krb5;
    gss_OID_set_desc only = {1, &mechanism};
    OM_uint32 major = acquire(keytab, GSS_C_NO_NAME, 1, &kerberos->plain, &minor);
    if (!GSS_ERROR(major)) major = acquire(keytab, GSS_C_NO_NAME, 2, &kerberos->negotiated, &minor);
    if (!GSS_ERROR(major)) major = gss_set_neg_mechs(&minor, kerberos->negotiated, &only);
    if (!GSS_ERROR(major)) return TRUE;
    g_autofree char *why = wire_gss_failure(major, minor);
    return fail(error, PLUMB_ERROR_CONFIG, "kerberos.keytab: %s cannot be used: %s", keytab, why);
}

Kerberos *kerberos_new(const char *keytab, const char *const *principals, GError **error) {
    if (!check_file(keytab, error)) return NULL;
    g_autoptr(Kerberos) kerberos = g_new0(Kerberos, 1);
    g_atomic_ref_count_init(&kerberos->refs);
    kerberos->names = g_ptr_array_new_with_free_func(name_free);
    kerberos->texts = g_ptr_array_new_with_free_func(g_free);
    for (; principals != NULL && *principals != NULL; principals++)
        if (!add_principal(kerberos, keytab, *principals, error)) return NULL;
    return open_keytab(kerberos, keytab, error) ? g_steal_pointer(&kerberos) : NULL;
}

Kerberos *kerberos_ref(Kerberos *kerberos) {
    g_atomic_ref_count_inc(&kerberos->refs);
    return kerberos;
}

void kerberos_unref(Kerberos *kerberos) {
    OM_uint32 minor;
    if (kerberos == NULL || !g_atomic_ref_count_dec(&kerberos->refs)) return;
    gss_release_cred(&minor, &kerberos->plain);
    gss_release_cred(&minor, &kerberos->negotiated);
    g_ptr_array_unref(kerberos->names);
    g_ptr_array_unref(kerberos->texts);
    g_free(kerberos);
}

/* ---- a ticket ---- */

static gboolean is_for_http(const Kerberos *kerberos, guint i) {
    return g_str_has_prefix(g_ptr_array_index(kerberos->texts, i), KERBEROS_HTTP);
}

/* Is the ticket for the service that this port is? */
static gboolean check_target(const Kerberos *kerberos, gss_ctx_id_t context, gboolean http, GError **error) {
    OM_uint32 minor;
    gss_name_t target = GSS_C_NO_NAME;
    gboolean good = FALSE;
    if (GSS_ERROR(gss_inquire_context(&minor, context, NULL, &target, NULL, NULL, NULL, NULL, NULL)))
        return fail(error, PLUMB_ERROR_INPUT, "the ticket names no service");
    for (guint i = 0; i < kerberos->names->len && !good; i++) {
        int equal = 0;
        gss_compare_name(&minor, target, g_ptr_array_index(kerberos->names, i), &equal);
        good = equal != 0 && is_for_http(kerberos, i) == http;
    }
    gss_release_name(&minor, &target);
    return good || fail(error, PLUMB_ERROR_INPUT, "the ticket is for another service than those of this port");
}

static char *principal_of(gss_name_t client, OM_uint32 flags, GError **error) {
    g_autofree char *text = (flags & GSS_C_ANON_FLAG) == 0 ? text_of(client) : NULL;
    if (text != NULL) return g_strconcat("krb5:", text, NULL);
    fail(error, PLUMB_ERROR_INPUT, "the ticket is of nobody with a name");
    return NULL;
}

/* *principal: set once the context is whole. FALSE: INPUT. */
static gboolean accept_token(KerberosLogin *login, Bytes token, gboolean http, GByteArray *answer, GError **error) {
    OM_uint32 minor, ignored, flags = 0;
    gss_buffer_desc input = {token.size_bytes, (void *)token.data}, output = GSS_C_EMPTY_BUFFER;
    gss_name_t client = GSS_C_NO_NAME;
    gss_cred_id_t credential = http ? login->kerberos->negotiated : login->kerberos->plain;
    const OM_uint32 major =
        gss_accept_sec_context(&minor, &login->context, credential, &input, GSS_C_NO_CHANNEL_BINDINGS, &client, NULL,
                               &output, &flags, NULL, NULL);
    g_byte_array_append(answer, output.value, (guint)output.length);
    gss_release_buffer(&ignored, &output);

    gboolean good = !GSS_ERROR(major) || refuse(major, minor, error);
    if (good && major == GSS_S_COMPLETE) {
        good = check_target(login->kerberos, login->context, http, error);
        if (good) login->principal = principal_of(client, flags, error);
        good = login->principal != NULL;
    }
    gss_release_name(&ignored, &client);
    return good;
}

/* ---- SASL ---- */

KerberosLogin *kerberos_login_new(Kerberos *kerberos) {
    KerberosLogin *login = g_new0(KerberosLogin, 1);
    login->kerberos = kerberos_ref(kerberos);
    return login;
}

void kerberos_login_free(KerberosLogin *login) {
    OM_uint32 minor;
    if (!login) return;
    if (login->context != GSS_C_NO_CONTEXT) gss_delete_sec_context(&minor, &login->context, GSS_C_NO_BUFFER);
    kerberos_unref(login->kerberos);
    g_free(login->principal);
    g_free(login);
}

static gboolean offer(KerberosLogin *login, GByteArray *answer, GError **error) {
    OM_uint32 minor, ignored;
    guint8 layers[LAYER_BYTES] = {LAYER_AUTH, 0, 0, 0};
    gss_buffer_desc plain = {sizeof layers, layers}, wrapped = GSS_C_EMPTY_BUFFER;
    const OM_uint32 major = gss_wrap(&minor, login->context, 0, GSS_C_QOP_DEFAULT, &plain, NULL, &wrapped);
    if (GSS_ERROR(major)) return refuse(major, minor, error);
    g_byte_array_append(answer, wrapped.value, (guint)wrapped.length);
    gss_release_buffer(&ignored, &wrapped);
    return TRUE;
}

/* The layer, and whom the peer wants to be: only itself. */
static gboolean is_good_choice(const KerberosLogin *login, const gss_buffer_desc *choice) {
    const guint8 *bytes = choice->value;
    if (choice->length < LAYER_BYTES || bytes[0] != LAYER_AUTH) return FALSE;
    const char *self = login->principal + strlen("krb5:");
    const gsize length = choice->length - LAYER_BYTES;
    return length == 0 || (length == strlen(self) && memcmp(bytes + LAYER_BYTES, self, length) == 0);
}

static gboolean take_choice(KerberosLogin *login, Bytes message, GError **error) {
    OM_uint32 minor, ignored;
    gss_buffer_desc wrapped = {message.size_bytes, (void *)message.data}, plain = GSS_C_EMPTY_BUFFER;
    const OM_uint32 major = gss_unwrap(&minor, login->context, &wrapped, &plain, NULL, NULL);
    if (GSS_ERROR(major)) return refuse(major, minor, error);
    const gboolean good = is_good_choice(login, &plain);
    gss_release_buffer(&ignored, &plain);
    return good || fail(error, PLUMB_ERROR_INPUT,
                        "this receiver knows the quality of protection auth (TLS does the rest), and nobody may be "
                        "somebody else");
}

static gboolean step(KerberosLogin *login, Bytes message, GByteArray *answer, GError **error) {
    switch (login->stage) {
    case STAGE_ACCEPT:
        if (!accept_token(login, message, FALSE, answer, error)) return FALSE;
        if (login->principal == NULL) return TRUE;
        login->stage = STAGE_OFFER;
        if (answer->len > 0) return TRUE; /* what comes next is empty */
        login->stage = STAGE_CHOICE;
        return offer(login, answer, error);
    case STAGE_OFFER: login->stage = STAGE_CHOICE; return offer(login, answer, error);
    case STAGE_CHOICE: login->stage = STAGE_DONE; return take_choice(login, message, error);
    case STAGE_DONE: break;
    }
    return fail(error, PLUMB_ERROR_INPUT, "the login was over");
}

KerberosResult kerberos_login_step(KerberosLogin *login, Bytes message, GByteArray *answer, GError **error) {
    g_byte_array_set_size(answer, 0);
    if (!step(login, message, answer, error)) return KERBEROS_REFUSED;
    return login->stage == STAGE_DONE ? KERBEROS_DONE : KERBEROS_GOES_ON;
}

const char *kerberos_login_principal(const KerberosLogin *login) { return login->principal; }

/* ---- HTTP ---- */

gboolean kerberos_is_negotiate(const char *authorization) {
    return g_ascii_strncasecmp(authorization, NEGOTIATE " ", strlen(NEGOTIATE) + 1) == 0;
}

char *kerberos_negotiate(Kerberos *kerberos, const char *authorization, char **answer, GError **error) {
    g_autoptr(KerberosLogin) login = kerberos_login_new(kerberos);
    g_autoptr(GByteArray) output = g_byte_array_new();
    const char *coded = authorization + strlen(NEGOTIATE);
    gsize size_bytes = 0;
    while (*coded == ' ') coded++;
    g_autofree guchar *token = *coded != '\0' ? g_base64_decode(coded, &size_bytes) : NULL;
    *answer = NULL;
    if (size_bytes == 0) {
        fail(error, PLUMB_ERROR_INPUT, "there is no ticket in Authorization");
        return NULL;
    }
    if (!accept_token(login, (Bytes){token, size_bytes}, TRUE, output, error)) return NULL;
    if (login->principal == NULL) {
        fail(error, PLUMB_ERROR_INPUT, "a ticket must come whole, in one request");
        return NULL;
    }
    if (output->len > 0) *answer = g_base64_encode(output->data, output->len);
    return g_steal_pointer(&login->principal);
}
