/* Names that peers bring: the first byte chooses a certificate in DER, one whose alternative names or common name are
 * the input, and the id of a process, which may be a server's. Who shows what is no name has none; a name is one word
 * that no list of rules takes for two. */
#include <openssl/x509v3.h>
#include <string.h>

#include "fuzz/target.h"
#include "receiver/secure/name_owners.h"
#include "receiver/secure/tls.h"

#define NAME_MAX_BYTES 255u

/* of_uri: its name may be a URI, which alone has a ':'. */
static void look_at_certificate(const X509 *certificate, gboolean of_uri) {
    g_autofree char *principal = tls_certificate_principal(certificate);
    if (principal == NULL) return;
    const char *name = principal + strlen("cert:");
    g_assert_true(g_str_has_prefix(principal, "cert:") && name[0] != '\0');
    g_assert_cmpuint(strlen(name), <=, NAME_MAX_BYTES);
    g_assert_true(of_uri || strchr(name, ':') == NULL);
    for (; *name != '\0'; name++) g_assert_true(g_ascii_isgraph(*name) && *name != '*' && *name != ';');
}

static void look_at_der(const guint8 *der, gsize size) {
    X509 *certificate = d2i_X509(NULL, &der, (long)size);
    if (certificate != NULL) look_at_certificate(certificate, TRUE);
    X509_free(certificate);
}

/* The extension's value, as it comes. */
static void look_at_alternatives(const guint8 *der, gsize size) {
    X509 *certificate = X509_new();
    ASN1_OCTET_STRING *value = ASN1_OCTET_STRING_new();
    ASN1_OCTET_STRING_set(value, der, (int)size);
    X509_EXTENSION *extension = X509_EXTENSION_create_by_NID(NULL, NID_subject_alt_name, 0, value);
    X509_add_ext(certificate, extension, -1);
    look_at_certificate(certificate, TRUE);
    X509_EXTENSION_free(extension);
    ASN1_OCTET_STRING_free(value);
    X509_free(certificate);
}

static void look_at_common_name(const guint8 *name, gsize size) {
    X509 *certificate = X509_new();
    X509_NAME *subject = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_NID(subject, NID_commonName, V_ASN1_UTF8STRING, name, (int)size, -1, 0);
    look_at_certificate(certificate, FALSE);
    X509_free(certificate);
}

static void look_at_process(const char *tracer) {
    g_autoptr(NameOwners) owners = name_owners_new(NAMES_STRICT, NULL);
    const SpanSource first = {"cert:a", "::1", "thrift"}, second = {"cert:b", "::2", "http"};
    const char *owner = name_owners_claim(owners, tracer, &first);
    g_assert_true(owner == NULL || strcmp(owner, first.principal) == 0);
    g_assert_true(name_owners_claim(owners, tracer, &second) == owner);
    g_autofree char *name = name_owners_name(tracer);
    g_assert_true(g_str_has_prefix(tracer, name));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0 || size > 100000) return 0;
    g_autofree char *text = g_strndup((const char *)data + 1, size - 1);
    switch (data[0]) {
    case 'd': look_at_der(data + 1, size - 1); break;
    case 'a': look_at_alternatives(data + 1, size - 1); break;
    case 'c': look_at_common_name(data + 1, size - 1); break;
    default: look_at_process(text); break;
    }
    return 0;
}
