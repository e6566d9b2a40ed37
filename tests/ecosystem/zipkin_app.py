"""A shop whose spans go out by OpenTelemetry's exporter for Zipkin, run by the Python of script/opentelemetry:
zipkin_app.py URL. Prints what it sent, as JSON."""

import json
import sys

from opentelemetry.exporter.zipkin.json import ZipkinExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult
from opentelemetry.trace import SpanKind

results, sent = [], []


class Exporter(ZipkinExporter):
    def export(self, spans):
        results.append(super().export(spans))
        sent.extend(spans)
        return results[-1]


provider = TracerProvider(resource=Resource.create({"service.name": "shop/web"}))
provider.add_span_processor(BatchSpanProcessor(Exporter(endpoint=sys.argv[1], local_node_ipv4="10.0.0.7")))
tracer = provider.get_tracer("shop.pages")
with tracer.start_as_current_span("GET /order", kind=SpanKind.SERVER) as page:
    page.set_attribute("order", 7)
    page.add_event("looked up", {"rows": 3})
    with tracer.start_as_current_span("render"):
        pass
provider.shutdown()

json.dump(
    {
        "good": all(result is SpanExportResult.SUCCESS for result in results),
        "spans": [
            {
                "trace": f"{span.context.trace_id:032x}",
                "span": f"{span.context.span_id:016x}",
                "name": span.name,
                "begin": span.start_time,
                "end": span.end_time,
            }
            for span in sent
        ],
    },
    sys.stdout,
)
