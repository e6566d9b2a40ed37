"""A shop under OpenTelemetry's SDK, run by the Python of script/opentelemetry: otel_app.py URL gzip|none ORDERS.

Two services in one trace, as a web server and its database would be. Prints what it sent, as JSON."""

import json
import sys

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult
from opentelemetry.trace import Link, SpanKind, Status, StatusCode

url, compression, orders = sys.argv[1], sys.argv[2], int(sys.argv[3])
results, sent = [], []


class Exporter(OTLPSpanExporter):
    def export(self, spans):
        results.append(super().export(spans))
        sent.extend(spans)
        return results[-1]


def provider(**resource):
    made = TracerProvider(
        resource=Resource.create({name.replace("__", "."): value for name, value in resource.items()})
    )
    exporter = Exporter(
        endpoint=url, compression=Compression.Gzip if compression == "gzip" else Compression.NoCompression
    )
    made.add_span_processor(BatchSpanProcessor(exporter, max_export_batch_size=512))
    return made


web = provider(service__name="shop/web", host__name="web-1", process__pid=4711, deployment__environment="testing")
database = provider(service__name="items")
pages, queries = web.get_tracer("shop.pages", "1.2"), database.get_tracer("shop.queries")

other = trace.SpanContext(0x5B8EFFF798038103D269B633813FC60C, 0xEEE19B7EC3C1B174, is_remote=True)
for order in range(orders):
    with pages.start_as_current_span("GET /order", kind=SpanKind.SERVER, links=[Link(other, {"why": "asked"})]) as page:
        page.set_attributes({"order": order, "big": 2**53 + 1, "share": 0.25, "good": True, "list": ["a", 'b"c']})
        page.set_attribute("café", "naïve ☕")
        page.add_event("looked up", {"rows": 3})
        with queries.start_as_current_span("SELECT items", kind=SpanKind.CLIENT) as query:
            query.set_attribute("bytes", 4096)
            if order == 0:
                query.record_exception(ValueError("no such item"))
                query.set_status(Status(StatusCode.ERROR, "no such item"))
web.shutdown()
database.shutdown()

json.dump(
    {
        "good": all(result is SpanExportResult.SUCCESS for result in results),
        "spans": [
            {
                "trace": f"{span.context.trace_id:032x}",
                "span": f"{span.context.span_id:016x}",
                "parent": f"{span.parent.span_id:016x}" if span.parent else None,
                "name": span.name,
                "begin": span.start_time,
                "end": span.end_time,
                "event_times": [event.timestamp for event in span.events],
            }
            for span in sent
        ],
    },
    sys.stdout,
)
