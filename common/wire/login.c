#include "common/wire/login.h"

#include <gssapi/gssapi_krb5.h>
#include <string.h>

#include "common/base/error.h"
#include "common/base/secret_file.h"

#define START 1
/* What may be done about the one that is found most often. By its text: SPNEGO has codes of its own. */
#define SKEW        "Clock skew too great"
#define SKEW_REMEDY " (set both clocks, by NTP: Kerberos allows five minutes between them)"
#define SERVICE     "plumb"
/* The offer and the choice of a layer: a set of bits, and the largest message (24 bits) that is none of ours. */
#define LAYER_AUTH  1
#define LAYER_BYTES 4u

typedef enum { STAGE_BEGIN, STAGE_CONTEXT, STAGE_LAYER, STAGE_OVER } Stage;

struct WireLogin {
    const WireSecurity *security;
    char *host;
    char *by;
    Stage stage;
    gss_name_t receiver;
    gss_ctx_id_t context;
};

gboolean wire_login_is_set(const WireSecurity *security) {
    return security != NULL && (security->negotiate || security->token_file != NULL);
}

WireLogin *wire_login_new(const WireSecurity *security, const char *host) {
    WireLogin *login = g_new0(WireLogin, 1);
    login->security = security;
    login->host = g_strdup(host);
    login->receiver = GSS_C_NO_NAME;
    login->context = GSS_C_NO_CONTEXT;
    login->by =
        security->negotiate ? g_strdup("your ticket") : g_strdup_printf("the token of %s", security->token_file);
    return login;
}

void wire_login_free(WireLogin *login) {
    OM_uint32 minor;
    if (login == NULL) return;
    if (login->context != GSS_C_NO_CONTEXT) gss_delete_sec_context(&minor, &login->context, GSS_C_NO_BUFFER);
    gss_release_name(&minor, &login->receiver);
    g_free(login->host);
    g_free(login->by);
    g_free(login);
}

gboolean wire_login_is_over(const WireLogin *login) { return login->stage == STAGE_OVER; }

const char *wire_login_by(const WireLogin *login) { return login->by; }

static void append_message(GByteArray *out, guint8 status, const void *payload, gsize size) {
    const guint8 head[WIRE_LOGIN_HEAD_BYTES] = {status, (guint8)(size >> 24), (guint8)(size >> 16), (guint8)(size >> 8),
                                                (guint8)size};
    g_byte_array_append(out, head, sizeof head);
    if (size > 0) g_byte_array_append(out, payload, (guint)size);
}

/* ---- a token ---- */

static gboolean show_token(WireLogin *login, GByteArray *out, GError **error) {
    static const char user[] = "\0token"; /* and the zero byte behind it */
    char *token = wire_token_read(login->security->token_file, error);
    if (token == NULL) return FALSE;
    const gsize size = strlen(token);
    g_autoptr(GByteArray) secret = g_byte_array_new();
    g_byte_array_append(secret, (const guint8 *)user, sizeof user);
    g_byte_array_append(secret, (const guint8 *)token, (guint)size);
    append_message(out, START, "PLAIN", 5);
    append_message(out, WIRE_LOGIN_COMPLETE, secret->data, secret->len);
    explicit_bzero(secret->data, secret->len);
    secret_free(token, size);
    login->stage = STAGE_OVER;
    return TRUE;
}

/* ---- a ticket ---- */

static void append_status(GString *text, OM_uint32 code, int type) {
    OM_uint32 minor, more = 0;
    do {
        gss_buffer_desc message = GSS_C_EMPTY_BUFFER;
        if (GSS_ERROR(gss_display_status(&minor, code, type, GSS_C_NO_OID, &more, &message))) return;
        g_string_append_printf(text, "%s%.*s", text->len > 0 ? ": " : "", (int)message.length,
                               (const char *)message.value);
        gss_release_buffer(&minor, &message);
    } while (more != 0);
}

/* What Kerberos says is in the minor code; of GSSAPI itself, "unspecified failure" helps nobody. */
char *wire_gss_failure(guint32 major, guint32 minor) {
    GString *text = g_string_new(NULL);
    if (GSS_ROUTINE_ERROR(major) != GSS_S_FAILURE || minor == 0) append_status(text, major, GSS_C_GSS_CODE);
    if (minor != 0) append_status(text, minor, GSS_C_MECH_CODE);
    if (strstr(text->str, SKEW) != NULL) g_string_append(text, SKEW_REMEDY);
    return g_string_free(text, FALSE);
}

static gboolean no_ticket(const WireLogin *login, OM_uint32 major, OM_uint32 minor, GError **error) {
    g_autofree char *why = wire_gss_failure(major, minor);
    return fail(error, PLUMB_ERROR_CONFIG, "no login by Kerberos to " SERVICE "/%s: %s; check `klist`, and the name",
                login->host, why);
}

static gboolean name_receiver(WireLogin *login, GError **error) {
    OM_uint32 minor;
    g_autofree char *text = g_strconcat(SERVICE "@", login->host, NULL);
    gss_buffer_desc name = {strlen(text), text};
    const OM_uint32 major = gss_import_name(&minor, &name, GSS_C_NT_HOSTBASED_SERVICE, &login->receiver);
    return !GSS_ERROR(major) || no_ticket(login, major, minor, error);
}

/* The ticket, and then that the receiver shows that it has its key. */
static gboolean go_on(WireLogin *login, Bytes said, GByteArray *out, GError **error) {
    OM_uint32 minor, ignored;
    const gboolean first = login->stage == STAGE_BEGIN;
    gss_buffer_desc input = {said.size_bytes, (void *)said.data}, token = GSS_C_EMPTY_BUFFER;
    const OM_uint32 major =
        gss_init_sec_context(&minor, GSS_C_NO_CREDENTIAL, &login->context, login->receiver, (gss_OID)gss_mech_krb5,
                             GSS_C_MUTUAL_FLAG | GSS_C_INTEG_FLAG | GSS_C_SEQUENCE_FLAG, 0, GSS_C_NO_CHANNEL_BINDINGS,
                             &input, NULL, &token, NULL, NULL);
    if (GSS_ERROR(major)) return no_ticket(login, major, minor, error);

    if (first) append_message(out, START, "GSSAPI", 6);
    append_message(out, WIRE_LOGIN_OK, token.value, token.length);
    gss_release_buffer(&ignored, &token);
    login->stage = major == GSS_S_COMPLETE ? STAGE_LAYER : STAGE_CONTEXT;
    return TRUE;
}

static gboolean choose_layer(WireLogin *login, Bytes said, GByteArray *out, GError **error) {
    OM_uint32 minor, ignored;
    guint8 choice[LAYER_BYTES] = {LAYER_AUTH, 0, 0, 0};
    gss_buffer_desc wrapped = {said.size_bytes, (void *)said.data}, offer = GSS_C_EMPTY_BUFFER;
    gss_buffer_desc plain = {sizeof choice, choice}, answer = GSS_C_EMPTY_BUFFER;
    OM_uint32 major = gss_unwrap(&minor, login->context, &wrapped, &offer, NULL, NULL);
    if (GSS_ERROR(major)) return no_ticket(login, major, minor, error);
    const gboolean offered = offer.length == LAYER_BYTES && (*(const guint8 *)offer.value & LAYER_AUTH) != 0;
    gss_release_buffer(&ignored, &offer);
    if (!offered) return fail(error, PLUMB_ERROR_CONFIG, "the receiver wants another quality of protection than auth");

    major = gss_wrap(&minor, login->context, 0, GSS_C_QOP_DEFAULT, &plain, NULL, &answer);
    if (GSS_ERROR(major)) return no_ticket(login, major, minor, error);
    append_message(out, WIRE_LOGIN_COMPLETE, answer.value, answer.length);
    gss_release_buffer(&ignored, &answer);
    login->stage = STAGE_OVER;
    return TRUE;
}

gboolean wire_login_step(WireLogin *login, Bytes said, GByteArray *out, GError **error) {
    g_byte_array_set_size(out, 0);
    switch (login->stage) {
    case STAGE_BEGIN:
        if (!login->security->negotiate) return show_token(login, out, error);
        return name_receiver(login, error) && go_on(login, said, out, error);
    case STAGE_CONTEXT: return go_on(login, said, out, error);
    case STAGE_LAYER: return choose_layer(login, said, out, error);
    case STAGE_OVER: break;
    }
    return fail(error, PLUMB_ERROR_CONFIG, "the receiver goes on after the end of the login");
}
