"""Reads OTLP JSON with OpenTelemetry's own protobuf package, run by the Python of script/opentelemetry:
otlp_read.py JSON PROTOBUF. Writes the same as protobuf, and prints what it has understood, as JSON."""

import base64
import json
import sys
from pathlib import Path

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

IDS = {"traceId", "spanId", "parentSpanId"}


def with_bytes(value):
    """Ids are hexadecimal in OTLP's JSON, where protobuf's own has base64."""
    if isinstance(value, list):
        return [with_bytes(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: base64.b64encode(bytes.fromhex(one)).decode() if key in IDS else with_bytes(one)
        for key, one in value.items()
    }


source, target = map(Path, sys.argv[1:])
request = json_format.ParseDict(with_bytes(json.loads(source.read_text())), ExportTraceServiceRequest())
target.write_bytes(request.SerializeToString())
json.dump(
    [
        {
            "service": {one.key: one.value.string_value for one in resource.resource.attributes}["service.name"],
            "trace": span.trace_id.hex(),
            "span": span.span_id.hex(),
            "parent": span.parent_span_id.hex(),
            "name": span.name,
            "kind": span.kind,
            "begin": span.start_time_unix_nano,
            "end": span.end_time_unix_nano,
            "status": span.status.code,
            "events": len(span.events),
            "links": [link.trace_id.hex() for link in span.links],
        }
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ],
    sys.stdout,
)
