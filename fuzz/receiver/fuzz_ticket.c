/* What comes in place of a ticket: over the span port by messages of SASL, over HTTP in a header. The keytab has a key
 * that nobody else knows, so nothing may be let in. */
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/target.h"
#include "receiver/secure/kerberos.h"
#include "receiver/secure/sasl.h"

#define CONFIG "[libdefaults]\n default_realm = R\n dns_lookup_kdc = false\n dns_canonicalize_hostname = false\n"

/* plumb/h@R and HTTP/h@R with a key each of aes256-cts, as MIT's keytabs have it. */
static void append_key(GByteArray *keytab, const char *service) {
    static const guint8 rest[] = {0, 1, 'h', 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 18, 0, 32};
    const guint8 length = (guint8)strlen(service), key[32] = {length, 1, 2, 3};
    const guint8 head[] = {0,   0, 0,     (guint8)(2 + 3 + 2 + length + sizeof rest + sizeof key), 0, 2, 0, 1,
                           'R', 0, length};
    g_byte_array_append(keytab, head, sizeof head);
    g_byte_array_append(keytab, (const guint8 *)service, length);
    g_byte_array_append(keytab, rest, sizeof rest);
    g_byte_array_append(keytab, key, sizeof key);
}

/* Both are read again with each ticket, so they stay until the end. */
static char *keytab_path, *config_path;

static void remove_files(void) {
    g_unlink(keytab_path);
    g_unlink(config_path);
}

static char *file_of(const void *content, gsize size) {
    char *path = NULL;
    const int fd = g_file_open_tmp("fuzz_ticket-XXXXXX", &path, NULL);
    g_assert_cmpint(write(fd, content, size), ==, (gssize)size);
    close(fd);
    return path;
}

static Kerberos *open_once(void) {
    static const char *const principals[] = {"plumb/h@R", "HTTP/h@R", NULL};
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_autoptr(GError) error = NULL;
    g_byte_array_append(bytes, (const guint8[]){5, 2}, 2);
    append_key(bytes, "plumb");
    append_key(bytes, "HTTP");
    keytab_path = file_of(bytes->data, bytes->len);
    config_path = file_of(CONFIG, strlen(CONFIG));
    atexit(remove_files);
    g_setenv("KRB5_CONFIG", config_path, TRUE);
    g_setenv("KRB5RCACHENAME", "none:", TRUE);
    Kerberos *kerberos = kerberos_new(keytab_path, principals, &error);
    g_assert_no_error(error);
    return kerberos;
}

static void look_at_messages(Kerberos *kerberos, Bytes stream) {
    g_autoptr(KerberosLogin) login = kerberos_login_new(kerberos);
    g_autoptr(GByteArray) answer = g_byte_array_new();
    SaslMessage message;
    while (sasl_cut(stream, TRUE, &message) == SASL_WHOLE) {
        g_autoptr(GError) error = NULL;
        const KerberosResult result = kerberos_login_step(login, message.payload, answer, &error);
        g_assert_true(result != KERBEROS_DONE && (result == KERBEROS_REFUSED) == (error != NULL));
        if (result == KERBEROS_REFUSED) return;
        stream = (Bytes){(const guint8 *)stream.data + message.needed_bytes, stream.size_bytes - message.needed_bytes};
    }
    g_assert_null(kerberos_login_principal(login));
}

static void look_at_header(Kerberos *kerberos, const char *authorization) {
    g_autoptr(GError) error = NULL;
    char *answer = NULL;
    if (!kerberos_is_negotiate(authorization)) return;
    g_assert_null(kerberos_negotiate(kerberos, authorization, &answer, &error));
    g_assert_nonnull(error);
    g_assert_null(answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static Kerberos *kerberos;
    if (kerberos == NULL) kerberos = open_once();
    if (size == 0) return 0;
    g_autofree char *text = g_strndup((const char *)data + 1, size - 1);
    g_autofree char *coded = g_base64_encode(data + 1, size - 1), *header = g_strconcat("Negotiate ", coded, NULL);
    switch (data[0]) {
    case 's': look_at_messages(kerberos, (Bytes){data + 1, size - 1}); break;
    case 't': look_at_header(kerberos, header); break;
    default: look_at_header(kerberos, text); break;
    }
    return 0;
}
