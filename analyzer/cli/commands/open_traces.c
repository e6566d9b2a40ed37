#include "analyzer/cli/commands/open_traces.h"

#include "analyzer/cli/format/units.h"

CliExit say_open_traces(const Invocation *invocation) {
    if (invocation->json || invocation->csv || invocation->source.store) return CLI_OK;
    g_autoptr(Source) source = source_open(&invocation->source, NULL);
    g_autoptr(Ask) ask = ask_new("status");
    json_auto_t *status = source ? source_ask(source, ask, NULL) : NULL;
    const json_t *receiver = status ? field_object(status, "receiver") : NULL;
    if (!receiver || field_int(receiver, "open_traces") <= 0) return CLI_OK;

    g_autofree char *traces = show_count(field_number(receiver, "open_traces"), "trace is", "traces are");
    g_autofree char *spans = show_count(field_number(receiver, "open_spans"), "span", "spans");
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_append_printf(
        text,
        "%s still open (%s), not counted and not found yet: each is when no span of it has come for a while "
        "(trace.idle)\n",
        traces, spans);
    return invocation_print_text(invocation, text);
}
