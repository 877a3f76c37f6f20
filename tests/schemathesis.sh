#!/usr/bin/env bash
# Send what schemathesis derives from the OpenAPI document to a server: no 5xx, no answer of another form than documented.
# Arguments: the commands manylabel and schemathesis. All addresses of a server without jobs are tried with the model that
# it serves, then those of jobs and data with a server that has a data directory; but for events, which last as long as a job.
set -e
folder=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; wait; rm -rf "$folder"' EXIT

# fuzz OPTIONS-OF-SERVE -- OPTIONS-OF-SCHEMATHESIS
fuzz() {
    local options=() address=
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    : > "$folder/log"
    $manylabel serve "${options[@]}" --port 0 2>> "$folder/log" &
    server=$!
    for _ in $(seq 600); do
        address=$(grep -oE -m1 "http://127.0.0.1:[0-9]+" "$folder/log" | head -1)
        [ -z "$address" ] || break
        sleep 0.1
    done
    $schemathesis run "$address/v1/openapi.json" --workers 1 --request-timeout 30 --max-examples "${EXAMPLES:-100}" --checks \
        not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,response_headers_conformance \
        "$@"
    kill "$server"
    wait "$server" || true
    server=
}

manylabel=$1 schemathesis=$2
fuzz --demo --
fuzz --data "$folder/data" --limit job_seconds=2 --limit queue=20 -- \
    --include-path-regex '^/v1/(jobs|data)' --exclude-path-regex 'events$'
