#!/usr/bin/env bash
# Send what schemathesis derives from the OpenAPI document to a server: no 5xx, no answer of another form than documented.
# Arguments: the commands manylabel and schemathesis.
set -e
log=$(mktemp)
"$1" serve --demo --port 0 2> "$log" &
server=$!
trap 'kill $server; wait $server || true; rm -f "$log"' EXIT
for _ in $(seq 300); do
    address=$(grep -oE "http://127.0.0.1:[0-9]+" "$log" | head -1) && break
    sleep 0.1
done
"$2" run "$address/v1/openapi.json" --workers 1 --request-timeout 10 --max-examples "${EXAMPLES:-100}" \
    --checks not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,response_headers_conformance
